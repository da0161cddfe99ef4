"""What transforms of signals and of images share: their input, its checks, and the way through the plan."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, names_call, out_of_range
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, real
from gnomon.scattering.band import BandPlan
from gnomon.scattering.cascade import cascade, has_values
from gnomon.scattering.padding import MODES, pad
from gnomon.scattering.path import Path

__all__ = ["AbstractScattering"]


class AbstractScattering(nn.Module, ABC):
    """A scattering transform of signals of one shape. It has no parameters; it works where its input is."""

    shape: tuple[int, ...]
    padding: str
    widths: tuple[tuple[int, int], ...]
    plan: BandPlan

    @abstractmethod
    def paths(self) -> tuple[Path, ...]:
        """What each coefficient is, in their order."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The arguments that the transform was made with."""

    @property
    def call(self) -> str:
        """How messages name the transform."""
        return f"{type(self).__name__}(x)"

    @names_call
    def forward(self, x: Any) -> Tensor:
        """The coefficients (..., paths, *output) of signals (..., *shape)."""
        signals, batch = self._checked(x)
        padded = self._padded(signals)
        plane = padded if len(self.shape) == 2 else padded[:, None]
        out = cascade(self.plan.cast(plane.dtype, plane.device), plane)
        out = out if len(self.shape) == 2 else out[:, :, 0]
        return out.reshape(*batch, *out.shape[1:])

    def _padded(self, signals: Tensor) -> Tensor:
        for axis, (before, after) in enumerate(self.widths):
            signals = pad(signals, before, after, axis - len(self.widths), self.padding)
        return signals

    def _checked(self, x: Any) -> tuple[Tensor, tuple[int, ...]]:
        """Signals as (count, *shape) of float32 or float64, and the shape of their batch."""
        given = real(as_numbers(x, "x"), "x")
        dims = len(self.shape)
        if given.dim() < dims or tuple(given.shape[given.dim() - dims :]) != self.shape:
            found = f"x has shape {tuple(given.shape)} and the transform was made for {self.shape} at the end"
            cure = f"Make the transform with shape={tuple(given.shape[-dims:])}, or resize x"
            raise InputError(found, accepted="signals of one shape", fix=cure)
        dtype = given.dtype if given.dtype in (torch.float32, torch.float64) else torch.get_default_dtype()
        signals = given.to(dtype).reshape(-1, *self.shape)
        if has_values(signals) and signals.numel():
            check_finite_inputs(signals.detach())
        return signals, tuple(given.shape[: given.dim() - dims])

    def get_extra_state(self) -> dict[str, Any]:
        """The options, so that coefficients of one transform are not taken for those of another."""
        return self.options()

    @names_call("load_state_dict(state)")
    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Refuse a state that belongs to other options."""
        if dict(state) != self.options():
            found = f"the state is of {dict(state)} and the transform of {self.options()}"
            cure = "Make the transform with the options of the state"
            raise InputError(found, accepted="the same transform", fix=cure)

    def extra_repr(self) -> str:
        """The options."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options().items())


def check_padding(padding: Any) -> str:
    """The mode of padding, refused where numpy has none of this name."""
    if padding not in MODES:
        raise out_of_range("padding", f"one of {', '.join(MODES)}", padding)
    return str(padding)
