"""Computes eigenvalues of recurrent weight matrices: how long each part of the state lasts, and how it oscillates.

    z_{t+1} = A z_t + ...,   A = P diag(lambda) P^-1:   |mode_j| ~ |lambda_j|^t,  time scale -1 / log |lambda_j|   (1)

Modes with |lambda| > 1 grow without bound in a linear recurrence; in a tanh network, saturation limits them.
Reference: [orvieto2023resurrecting].
"""

from dataclasses import dataclass
from math import inf, log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Finding, Plot, Result, Scatter, Value
from gnomon.findings import structured as kinds

__all__ = ["StateSpectrum", "state_spectrum"]

UNIT_CIRCLE_TOLERANCE = 1e-6
"""Amount by which an eigenvalue may exceed one through rounding."""


@dataclass(frozen=True, slots=True)
class StateSpectrum(Result):
    """Result: the eigenvalues of every recurrent weight matrix as pairs (real, imaginary), largest first.

    ``linear`` says which recurrences have no activation.

    >>> round(StateSpectrum(("A",), (((0.5, 0.0),),), (True,)).scales[0][0] * log(2), 9)
    1.0
    """

    layers: tuple[str, ...]
    eigenvalues: tuple[tuple[tuple[float, float], ...], ...]
    linear: tuple[bool, ...]

    @property
    def scales(self) -> tuple[tuple[float, ...], ...]:
        """Returns for how many steps the state lasts along each eigenvector; infinite if it does not decay.

        See equation (1) of the module docstring.
        """
        return tuple(tuple(_scale(abs(complex(*v))) for v in row) for row in self.eigenvalues)

    @property
    def radius(self) -> tuple[float, ...]:
        """Returns the largest |eigenvalue| of each recurrent weight matrix."""
        return tuple(max(abs(complex(*v)) for v in row) for row in self.eigenvalues)

    @property
    def verdict(self) -> str:
        """States the largest eigenvalue of the recurrent weights, and for how many steps its part of the
        state lasts.
        """
        best = max(range(len(self.layers)), key=self.radius.__getitem__)
        scale = max(self.scales[best])
        lasts = "does not decay" if scale == inf else f"lasts {scale:.3g} steps"
        return f"The largest eigenvalue is {self.radius[best]:.4g} ('{self.layers[best]}'); its mode {lasts}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding for each linear recurrence whose state grows without bound."""
        return tuple(
            Finding(kinds.STATE_GROWS, name, {"factor": r}, (Value("largest eigenvalue", r),), 0.0)
            for name, r, linear in zip(self.layers, self.radius, self.linear, strict=True)
            if linear and r > 1 + UNIT_CIRCLE_TOLERANCE
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the eigenvalues of the recurrent weight matrices in the complex plane."""
        marks = tuple(
            Scatter(name, [v[0] for v in row], [v[1] for v in row])
            for name, row in zip(self.layers, self.eigenvalues, strict=True)
        )
        return (Plot("Eigenvalues of the state", marks, Axis("real part"), Axis("imaginary part")),)


@add_call_to_errors
def state_spectrum(module: Any) -> StateSpectrum:
    """Returns the eigenvalues of the recurrent weight matrices of a network.

    See equation (1) of the module docstring.

    Args:
        module: a square matrix, or a module with nn.RNN or parts that have ``eigenvalues()`` (linear recurrent units).
            The activation of nn.RNN has slope one at zero. Gated layers have no single matrix: see `gate_statistics`.

    Hypotheses: the recurrence (1); for nn.RNN, its linear part around the state zero.
    Reference: [orvieto2023resurrecting].
    Cost: units^3 for each matrix.

    >>> round(state_spectrum(torch.tensor([[0.0, -0.5], [0.5, 0.0]])).radius[0], 9)              # +-i / 2
    0.5
    """
    if isinstance(module, Tensor):
        if module.dim() != 2 or module.shape[0] != module.shape[1]:
            found = f"the matrix has shape {tuple(module.shape)}"
            raise InputError(found, accepted="a square matrix", fix="Pass a square matrix")
        return _record([("matrix", torch.linalg.eigvals(module.detach().to(torch.complex128)), True)])
    if not isinstance(module, nn.Module):
        raise InputError(
            f"the model is a {type(module).__name__}",
            accepted="a module or a matrix",
            fix="Pass a module with recurrent layers, or a square matrix",
        )
    rows = []
    for name, m in module.named_modules():
        if callable(getattr(m, "eigenvalues", None)):
            rows.append((name or type(m).__name__, m.eigenvalues().detach().to(torch.complex128), True))
        elif isinstance(m, nn.RNN):
            for key, p in m.named_parameters():
                if key.startswith("weight_hh"):
                    rows.append((f"{name}.{key}".strip("."), torch.linalg.eigvals(p.detach().double()), False))
    if not rows:
        found = f"{type(module).__name__} contains no recurrent matrix"
        fix = "Pass the matrix itself, or use gate_statistics for nn.LSTM and nn.GRU"
        raise InputError(found, accepted="nn.RNN, or submodules with a method eigenvalues()", fix=fix)
    return _record(rows)


def _record(rows: list[tuple[str, Tensor, bool]]) -> StateSpectrum:
    found = []
    for _, values, _ in rows:
        order = values.abs().argsort(descending=True)
        found.append(tuple((float(v.real), float(v.imag)) for v in values[order]))
    return StateSpectrum(tuple(r[0] for r in rows), tuple(found), tuple(r[2] for r in rows))


def _scale(size: float) -> float:
    return inf if size >= 1 else (-1 / log(size) if size > 0 else 0.0)  # (1)
