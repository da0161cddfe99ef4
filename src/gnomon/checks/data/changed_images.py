"""Finds test images that are transposed, mirrored, upside down, or have their channels in another order.

The mean images of train and test differ at each pixel by chance only, if both are prepared in the same way:

    z = root mean square over pixels of (mean of test - mean of train) / sqrt(var / n + var / m)               (1)

is about 1. A change that brings a large z down to chance is the one that was made.

Hypotheses: independent images.

>>> import torch
>>> x = torch.rand(200, 1, 6, 6) * torch.linspace(0, 1, 6)
>>> changed_image_findings(x[:100], x[100:].transpose(2, 3))[0].values["change"]
'transposed'
>>> changed_image_findings(x[:100], x[100:])
()
"""

from collections.abc import Callable

from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["changed_image_findings"]

CHANGES: tuple[tuple[str, str, Callable[[Tensor], Tensor]], ...] = (
    ("transposed", "x.transpose(2, 3)", lambda x: x.transpose(2, 3)),
    ("mirrored", "x.flip(3)", lambda x: x.flip(3)),
    ("upside down", "x.flip(2)", lambda x: x.flip(2)),
    ("rotated by 180 degrees", "x.flip(2, 3)", lambda x: x.flip(2, 3)),
    ("in the opposite order of channels", "x.flip(1)", lambda x: x.flip(1)),
    ("inverted", "1 - x", lambda x: 1 - x),
)
"""Changes by name, the code that undoes them, and the function."""
MIN_EXAMPLES = 30
"""Fewest images in each set."""
MIN_Z = 5.0
"""Difference (1) of the images as they are from which a change is looked for."""
MAX_Z = 1.7
"""Difference (1) after the change that counts as chance."""


def changed_image_findings(train: Inputs, test: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if transposing, mirroring or reordering the channels of test images makes them resemble
    training images.

    See equation (1) of the module docstring.
    Cost: two moments of all images for each of six changes.

    >>> changed_image_findings(Tensor(9, 4), Tensor(9, 4))              # tables
    ()
    """
    if not isinstance(train, Tensor) or not isinstance(test, Tensor) or train.dim() != 4 or test.dim() != 4:
        return ()
    if min(len(train), len(test)) < MIN_EXAMPLES or not train.is_floating_point():
        return ()
    before = _difference(train, test)
    if before < MIN_Z:
        return ()
    tried = [(_difference(train, change(test)), name, code) for name, code, change in CHANGES
             if change(test).shape[1:] == train.shape[1:]]  # fmt: skip
    after, name, code = min(tried, default=(before, "", ""))
    if after > MAX_Z:
        return ()
    evidence = (Value("difference of the mean images (z)", before), Value("after the change", after))
    return (Finding(kinds.CHANGED_IMAGES, "test", {"change": name, "code": code}, evidence),)


def _difference(train: Tensor, test: Tensor) -> float:
    if train.shape[1:] != test.shape[1:]:
        return 0.0
    a, b = train.double(), test.double()
    spread = a.var(0) / len(a) + b.var(0) / len(b)
    varies = spread > 1e-12
    if not bool(varies.any()):
        return 0.0
    return float(((a.mean(0) - b.mean(0)).square() / spread.clamp(min=1e-12))[varies].mean().sqrt())  # (1)
