"""Records half precision in a training loop: forward passes in float16, scaled losses, and clipped scaled gradients.

>>> record = PrecisionRecord()
>>> record.note_forward()
>>> record.half_passes
0
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

__all__ = ["PrecisionRecord", "scaler_wrappers"]

PASSES_READ = 50
"""First forward passes whose precision is read."""
AUTOCAST_DEVICES = ("cpu", "cuda")
"""Devices with automatic mixed precision."""


@dataclass(slots=True, eq=False)
class PrecisionRecord:
    """Counts forward passes in float16, losses that a `GradScaler` scaled, and what used gradients that still were
    scaled.
    """

    passes: int = 0
    half_passes: int = 0
    scaled: int = 0
    clipped_scaled: int = 0
    stepped_scaled: int = 0
    gradients_scaled: bool = field(default=False)
    inside_scaler: bool = field(default=False)

    def note_forward(self) -> None:
        """Records the precision of a forward pass that just ended."""
        if self.passes >= PASSES_READ:
            return
        self.passes += 1
        self.half_passes += any(
            torch.is_autocast_enabled(device) and torch.get_autocast_dtype(device) == torch.float16
            for device in AUTOCAST_DEVICES
        )

    def note_scale(self, scaler: Any) -> None:
        """Records that a scaler multiplied a loss."""
        if scaler.is_enabled():
            self.scaled += 1
            self.gradients_scaled = True

    def note_unscale(self, scaler: Any) -> None:
        """Records that a scaler divided the gradients again."""
        self.gradients_scaled = False

    def note_clip(self) -> None:
        """Records a call of clipping."""
        self.clipped_scaled += self.gradients_scaled

    def note_step(self) -> None:
        """Records an optimizer step."""
        self.stepped_scaled += self.gradients_scaled and not self.inside_scaler
        self.gradients_scaled = False


def scaler_wrappers(record: PrecisionRecord, safely: Callable[..., None]) -> dict[str, Callable[[Any], Any]]:
    """Returns a wrapper for each method of `GradScaler` that is recorded, by the name of the method.

    >>> sorted(scaler_wrappers(PrecisionRecord(), print))
    ['scale', 'step', 'unscale_']
    """

    def make_scale(original: Any) -> Any:
        def scale(scaler: Any, outputs: Any) -> Any:
            safely("scaler", record.note_scale, scaler)
            return original(scaler, outputs)

        return scale

    def make_unscale(original: Any) -> Any:
        def unscale_(scaler: Any, optimizer: Any) -> Any:
            safely("scaler", record.note_unscale, scaler)
            return original(scaler, optimizer)

        return unscale_

    def make_step(original: Any) -> Any:
        def step(scaler: Any, optimizer: Any, *arguments: Any, **options: Any) -> Any:
            record.inside_scaler = True
            try:
                return original(scaler, optimizer, *arguments, **options)
            finally:
                record.inside_scaler = record.gradients_scaled = False

        return step

    return {"scale": make_scale, "unscale_": make_unscale, "step": make_step}
