"""Describes how test inputs differ from training inputs: in mean, in standard deviation, or in roughness.

For each example

    mean value,   standard deviation,   roughness = mean |x_{t+1} - x_t| / standard deviation                  (1)

with neighbors along one axis. The quantity that distinguishes the two sets best is named. If a quantity depends on the
class in train but not in test, the network can learn the class from it.

Hypotheses: independent examples with at least 8 numbers along the last axis.
Reference: [geirhos2020shortcut].

>>> import torch
>>> x = torch.linspace(0, 1, 16).repeat(200, 1) + 0.1 * torch.randn(200, 16)
>>> describe_shift(x[:100] + torch.randn(100, 16), x[100:]).name
'roughness'
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.core.results.record import Record
from gnomon.findings import data as kinds

__all__ = ["ShiftDescription", "class_cue_findings", "describe_shift"]

MIN_EXAMPLES = 40
"""Fewest examples in each set."""
MIN_LENGTH = 8
"""Fewest numbers along the last axis."""
MIN_SEPARATION = 0.75
"""Pairs of a training and a test example that a quantity must order, as a share; 0.5 by chance."""
MIN_EXCESS = 0.3
"""Smallest difference of the explained variance in train and in test for a cue that the classes have only in train."""
DEVIATIONS_OF_CHANCE = 4.0
"""Standard deviations that are added to `MIN_EXCESS`."""
HINTS = {
    "roughness": "noise was added to one of them, or its values are in another order",
    "standard deviation": "their scale or contrast differs",
    "mean value": "their brightness or offset differs",
}
"""What a difference in each quantity usually means; the first of equally clear differences is named."""


@dataclass(frozen=True, slots=True)
class ShiftDescription(Record):
    """The statistic of the inputs (such as the mean) that differs most between train and test, with its values and a
    usual reason.
    """

    name: str
    train: float
    test: float
    hint: str


def describe_shift(train: Inputs, test: Inputs) -> ShiftDescription | None:
    """Finds the statistic of the inputs that differs most between train and test; None if none differs clearly.

    See equation (1) of the module docstring.
    Cost: a few moments of all examples.

    >>> x = torch.rand(200, 16)
    >>> describe_shift(x[:100] + 1, x[100:]).name
    'mean value'
    """
    found = _quantities(train, test)
    if found is None:
        return None
    apart = {name: _separation(a, b) for name, (a, b) in found.items()}
    name = max(apart, key=apart.__getitem__)
    if apart[name] < MIN_SEPARATION:
        return None
    a, b = found[name]
    return ShiftDescription(name, float(a.mean()), float(b.mean()), HINTS[name])


def class_cue_findings(train: Inputs, y: Tensor, test: Inputs, y_test: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if a statistic of the inputs, such as brightness, depends on the class in train but not in
    test.

    See equation (1) of the module docstring.
    The shares of its variance that classes explain differ by `MIN_EXCESS` and four standard deviations, which are
    sqrt(2 (k - 1)) / (n - 1) for k classes and n examples without any cue. False alarms: none of 100 data sets.
    Cost: a few moments of all examples.

    >>> import torch
    >>> x, y = torch.rand(200, 1, 8, 8), torch.arange(200) % 2
    >>> bright = x + 0.5 * y[:, None, None, None]
    >>> class_cue_findings(bright[:100], y[:100], x[100:], y[100:])[0].values["name"]
    'mean value'
    """
    found = _quantities(train, test)
    if found is None or min(len(y), len(y_test)) < MIN_EXAMPLES:
        return ()
    shares = {name: (_share_between_classes(a, y), _share_between_classes(b, y_test)) for name, (a, b) in found.items()}
    name = max(shares, key=lambda one: shares[one][0] - shares[one][1])
    own, other = shares[name]
    classes = len(torch.cat([y.cpu().flatten(), y_test.cpu().flatten()]).unique())
    chance = sum((2 * (classes - 1)) ** 0.5 / (len(part) - 1) for part in (y, y_test))
    if own - other < MIN_EXCESS + DEVIATIONS_OF_CHANCE * chance:
        return ()
    values = {"name": name, "own": own, "other": other, "examples": len(y)}
    evidence = (Value("explained by classes in train", own), Value("explained by classes in test", other))
    return (Finding(kinds.CLASS_CUE, "inputs", values, evidence, 1e-3),)


def _quantities(train: Inputs, test: Inputs) -> dict[str, tuple[Tensor, Tensor]] | None:
    if not isinstance(train, Tensor) or not isinstance(test, Tensor) or not train.is_floating_point():
        return None
    if train.dim() < 2 or train.shape[1:] != test.shape[1:] or min(len(train), len(test)) < MIN_EXAMPLES:
        return None
    # Chooses the time axis of inputs of shape (n, time, channels), or the last axis of an image or a series.
    axis = 1 if train.dim() == 3 else train.dim() - 1
    if train.shape[axis] < MIN_LENGTH:
        return None
    pairs = [_of(x.double().movedim(axis, -1)) for x in (train, test)]
    return {name: (pairs[0][name], pairs[1][name]) for name in HINTS}


def _of(x: Tensor) -> dict[str, Float[Tensor, " n"]]:
    flat = x.reshape(len(x), -1)
    contrast = flat.std(1, correction=0)
    steps = x.diff(dim=-1).abs().reshape(len(x), -1).mean(1)
    rough = steps / contrast.clamp(min=1e-12)
    return {"roughness": rough, "standard deviation": contrast, "mean value": flat.mean(1)}  # (1)


def _separation(a: Tensor, b: Tensor) -> float:
    """Returns how well a number separates two groups (AUC): 0.5 for no separation, 1 for perfect separation."""
    ordered = b.sort().values
    below = torch.searchsorted(ordered, a).double().mean() / len(b)
    above = torch.searchsorted(ordered, a, right=True).double().mean() / len(b)
    share = float(below + above) / 2
    return max(share, 1 - share)


def _share_between_classes(values: Tensor, y: Tensor) -> float:
    """Returns the fraction of a number's variance that the classes explain, corrected for chance."""
    kinds_, code = y.cpu().flatten().unique(return_inverse=True)
    n, k = len(values), len(kinds_)
    values = values.cpu()
    total = float((values - values.mean()).square().sum())
    if total <= 0 or n <= k:
        return 0.0
    means = values.new_zeros(k).index_add(0, code, values) / code.bincount(minlength=k)
    within = float((values - means[code]).square().sum())
    return max(0.0, 1 - within / (n - k) / (total / (n - 1)))
