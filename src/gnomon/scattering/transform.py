"""Base class of the scattering transforms of signals and images: checks inputs and runs the transform."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_real
from gnomon.scattering.band import BandPlan
from gnomon.scattering.cascade import cascade, has_values
from gnomon.scattering.padding import MODES, pad
from gnomon.scattering.path import ScatteringPath

__all__ = ["AbstractScattering"]


class AbstractScattering(nn.Module, ABC):
    """Base class of scattering transforms, which have no parameters and accept signals of one shape."""

    shape: tuple[int, ...]
    padding: str
    widths: tuple[tuple[int, int], ...]
    plan: BandPlan

    @abstractmethod
    def paths(self) -> tuple[ScatteringPath, ...]:
        """Describes each output coefficient by the wavelets that produce it, in the order of the output."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Returns the arguments with which the transform was created."""

    @property
    def call(self) -> str:
        """Returns the call of the transform, as error messages show it."""
        return f"{type(self).__name__}(x)"

    @add_call_to_errors
    def forward(self, x: Any) -> Tensor:
        """Returns the scattering coefficients (..., paths, *output) of signals (..., *shape)."""
        signals, batch = self._check_signals(x)
        padded = self._pad_signals(signals)
        plane = padded if len(self.shape) == 2 else padded[:, None]
        out = cascade(self.plan.cast(plane.dtype, plane.device), plane)
        out = out if len(self.shape) == 2 else out[:, :, 0]
        return out.reshape(*batch, *out.shape[1:])

    def _pad_signals(self, signals: Tensor) -> Tensor:
        for axis, (before, after) in enumerate(self.widths):
            signals = pad(signals, before, after, axis - len(self.widths), self.padding)
        return signals

    def _check_signals(self, x: Any) -> tuple[Tensor, tuple[int, ...]]:
        """Returns signals as (count, *shape) in float32 or float64, and the shape of their batch."""
        given = check_real(as_numbers(x, "x"), "x")
        dims = len(self.shape)
        if given.dim() < dims or tuple(given.shape[given.dim() - dims :]) != self.shape:
            found = f"x has shape {tuple(given.shape)} and the transform was made for {self.shape} at the end"
            fix = f"Make the transform with shape={tuple(given.shape[-dims:])}, or resize x"
            raise InputError(found, accepted="signals of one shape", fix=fix)
        dtype = given.dtype if given.dtype in (torch.float32, torch.float64) else torch.get_default_dtype()
        signals = given.to(dtype).reshape(-1, *self.shape)
        if has_values(signals) and signals.numel():
            check_finite_inputs(signals.detach())
        return signals, tuple(given.shape[: given.dim() - dims])

    def get_extra_state(self) -> dict[str, Any]:
        """Returns the transform's arguments, so that a saved state cannot be loaded into a transform with other
        arguments.
        """
        return self.options()

    @add_call_to_errors("load_state_dict(state)")
    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Raises an error for a state that was saved with other arguments of the transform."""
        if dict(state) != self.options():
            found = f"the state is of {dict(state)} and the transform of {self.options()}"
            fix = "Make the transform with the options of the state"
            raise InputError(found, accepted="the same transform", fix=fix)

    def extra_repr(self) -> str:
        """Returns the arguments of the transform, shown by ``repr``."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options().items())


def check_padding(padding: Any) -> str:
    """Checks that numpy has a padding mode of this name."""
    if padding not in MODES:
        raise out_of_range_error("padding", f"one of {', '.join(MODES)}", padding)
    return str(padding)
