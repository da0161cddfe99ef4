"""Measures how much shifts by one pixel and mirroring change the outputs of a network.

    |f(g x) - f(x)| / |f(x)|    over all images x, for each motion g                                  (1)

If outputs stand for classes, the share of images whose decision changes is counted as well.

>>> import torch
>>> mean = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
>>> round(invariance(mean, torch.rand(4, 2, 3, 3)).motions[-1].change, 6)     # a mean does not see a mirror
0.0
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.metrics import binomial_interval, predicted_classes, relative_change
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Interval, Plot, Result
from gnomon.core.results.record import Record

__all__ = ["ImageInvariance", "ImageMotion", "invariance"]


NAMES = {
    "pixel-right": "one pixel right", "pixel-left": "one pixel left", "pixel-down": "one pixel down",
    "mirror-horizontal": "mirror, left to right", "mirror-vertical": "mirror, top to bottom",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImageMotion(Record):
    """Effect of one image shift or reflection: relative change of the outputs, and the fraction of changed predictions.

    >>> ImageMotion("one pixel right", 0.2, 0.5, Interval(0.4, 0.6, 0.95)).name
    'one pixel right'
    """

    name: str
    change: float
    decisions: float
    interval: Interval
    id: str = ""


@dataclass(frozen=True, slots=True)
class ImageInvariance(Result):
    """Result: the effect of each shift and reflection on the outputs, and the number of images."""

    motions: tuple[ImageMotion, ...]
    examples: int

    @property
    def verdict(self) -> str:
        """States in one sentence which shift or reflection changes the outputs least and most."""
        least, most = (f(self.motions, key=lambda motion: motion.change) for f in (min, max))
        return (
            f"Outputs change least for '{least.name}' ({least.change:.1%}) and most for '{most.name}' "
            f"({most.change:.1%})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the change of the outputs and the share of changed decisions, for each shift and reflection."""
        names = [motion.name for motion in self.motions]
        words = "Short bars mean that the outputs hardly change if the image is shifted or mirrored."
        change = Plot(
            "Outputs of shifted and mirrored images", (Bars("change", names, [m.change for m in self.motions]),),
            Axis("relative change of the outputs"), caption=words, id="motion-changes-outputs",
        )  # fmt: skip
        words = "Short bars mean that the answer stays the same if the image is shifted or mirrored."
        decisions = Plot(
            "Decisions on shifted and mirrored images",
            (Bars("decisions", names, [m.decisions for m in self.motions]),),
            Axis("share of changed decisions"), caption=words, id="motion-changes-decisions",
        )  # fmt: skip
        return change, decisions


@add_call_to_errors
def invariance(module: nn.Module, data: Any) -> ImageInvariance:
    """Measures how much a network's outputs change if all images are shifted by one pixel or mirrored.

    See equation (1) of the module docstring.
    The decision is the class of the largest output, or the sign of a single one; its share has a 95 % interval.

    Hypotheses: images as (n, channels, height, width).
    Reference: [azulay2019deep].
    Cost: six forward passes.

    >>> invariance(nn.Flatten(), torch.ones(2, 1, 2, 2)).motions[0].change          # half of the pixels become zero
    0.7071...
    """
    check_module_is_callable(module)
    images = all_inputs(data, module)
    if not isinstance(images, Tensor) or images.dim() != 4:
        shape = tuple(images.shape) if isinstance(images, Tensor) else type(images).__name__
        raise out_of_range_error("data", "a tensor of images (n, channels, height, width)", shape)
    before = outputs_in_eval_mode(module, images)
    decided, n = predicted_classes(before), len(before)
    rows = []
    for id, moved in motions(images).items():
        after = outputs_in_eval_mode(module, moved)
        change = relative_change(before, after)  # (1)
        changed = int((predicted_classes(after) != decided).sum())
        rows.append(ImageMotion(NAMES[id], change, changed / n, binomial_interval(changed, n), id))
    return ImageInvariance(tuple(rows), n)


def motions(x: Float[Tensor, "n c h w"]) -> dict[str, Float[Tensor, "n c h w"]]:
    """Returns images shifted by one pixel (filled with zeros) and mirrored images, by the name of the change."""
    moved = {}
    for id, axis, by in (("pixel-right", 3, 1), ("pixel-left", 3, -1), ("pixel-down", 2, 1)):
        shifted = torch.roll(x, by, axis)
        edge = [slice(None)] * 4
        edge[axis] = slice(0, 1) if by > 0 else slice(-1, None)
        shifted[tuple(edge)] = 0
        moved[id] = shifted
    return {**moved, "mirror-horizontal": x.flip(3), "mirror-vertical": x.flip(2)}
