"""Draws the attribution maps of several examples side by side over their images."""

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gnomon.core.results import Image

__all__ = ["tile_attribution_maps"]

PIXELS_BETWEEN = 1
"""Number of empty pixels between two maps."""


def tile_attribution_maps(values: Tensor, inputs: Tensor | None, count: int) -> Image:
    """Returns the first attribution maps side by side as one picture, drawn over gray images if the inputs are images.

    ``values`` is (n, h, w) or (n, channels, h, w), which is summed over channels; ``inputs`` is (n, channels, h, w).

    >>> picture = tile_attribution_maps(torch.ones(3, 2, 2), None, 2)
    >>> len(picture.values), len(picture.values[0]), picture.centered
    (2, 5, True)
    """
    maps = (values.sum(1) if values.dim() == 4 else values)[:count].detach().double().cpu()
    under: list[Tensor] = []
    if inputs is not None and inputs.dim() == 4 and len(inputs) >= len(maps):
        seen = inputs[: len(maps)].detach().double().cpu().mean(1)
        maps = interpolate(maps[:, None], seen.shape[1:], mode="nearest")[:, 0]
        low, high = seen.amin((1, 2), keepdim=True), seen.amax((1, 2), keepdim=True)
        under = list((seen - low) / (high - low).clamp(min=1e-30))
    names = [f"#{i}" for i in range(len(maps))]
    width = maps.shape[2]
    columns = [name if at == width // 2 else "" for name in names for at in range(width + PIXELS_BETWEEN)]
    rows = [""] * maps.shape[1]
    end = len(maps) * (width + PIXELS_BETWEEN) - PIXELS_BETWEEN
    return Image(
        "attribution", _in_a_row(list(maps)), rows, columns[:end], centered=True,
        under=_in_a_row(under) if under else (),
    )  # fmt: skip


def _in_a_row(pictures: list[Tensor]) -> Tensor:
    """Joins pictures side by side with an empty gap between them."""
    gap = torch.full((len(pictures[0]), PIXELS_BETWEEN), torch.nan, dtype=pictures[0].dtype)
    return torch.cat([part for picture in pictures for part in (picture, gap)][:-1], 1)
