"""Measures how much a representation changes if its input is deformed, depending on the input's frequency."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results import Line, Plot, Result
from gnomon.core.results.plot import Axis

__all__ = ["DeformationSensitivity", "deformation_sensitivity", "fourier_modulus"]


@dataclass(frozen=True, slots=True)
class DeformationSensitivity(Result):
    """Result: how much a representation changes if its input is dilated, a table (input frequencies, dilation
    strengths).

    ``growth`` is the exponent with which it grows with frequency: 0 for a stable representation, 1 for the modulus of
    the Fourier transform.

    >>> f, s = torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0.01])
    >>> found = DeformationSensitivity(f, s, 10 * f[:, None], growth=1.0)
    >>> round(found.spread, 3)
    4.0
    >>> print(found.verdict)
    The features are unstable: their change under the same deformation grows as frequency^1.
    """

    frequencies: Tensor
    warps: Tensor
    sensitivity: Tensor
    growth: float

    @property
    def spread(self) -> float:
        """The largest sensitivity to dilation over input frequencies divided by the smallest, for the weakest
        dilation.
        """
        return float(self.sensitivity[:, 0].max() / self.sensitivity[:, 0].min())

    @property
    def verdict(self) -> str:
        """States whether the representation is as stable to deformations for fine details as for coarse ones."""
        if self.growth < 0.25:
            return (
                f"The features are stable to deformations: fine details change no more than coarse ones (within "
                f"{self.spread:.2g}-fold)."
            )
        return (
            f"The features are unstable: their change under the same deformation grows as frequency^{self.growth:.2g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the sensitivity to dilation over the input's frequency, one line for each strength of the dilation."""
        lines = tuple(
            Line(f"warp {float(warp):.3g}", self.frequencies, self.sensitivity[:, k])
            for k, warp in enumerate(self.warps)
        )
        x, y = Axis("cycles per sample", log=True), Axis("change / (warp |x|)", log=True)
        return (Plot("Sensitivity to deformations", lines, x, y, self.verdict),)


@add_call_to_errors
def deformation_sensitivity(
    representation: Callable[[Tensor], Tensor],
    length: int,
    *,
    frequencies: Sequence[float],
    warps: Sequence[float] = (0.01, 0.02, 0.04),
    width: float | None = None,
) -> DeformationSensitivity:
    """Measures how much a representation of signals changes under dilations, for wave packets of several frequencies.

        |Phi(L x) - Phi(x)| / (s |x|),    L x(t) = x((1 - s) t),    x(t) = e^{-t^2 / 2 width^2} cos(2 pi f t)       (1)

    s is the size |tau'| of the deformation. A representation is stable where (1) is bounded for all frequencies; for
    the modulus of the Fourier transform it grows as f, since the spectrum moves by s f and keeps its width.

    Args:
        representation: from signals (n, length) to anything with n rows: a scattering transform, or a model of yours.
        length: of the signals.
        frequencies: in cycles per sample, below 1/2.
        warps: the sizes s.
        width: of the wave packets; an eighth of the length if it is None.

    Hypotheses: packets die out within the length; for growth as f they also move by less than the width of their
    spectrum, 2 pi s f width < 1.
    Reference: [mallat2012group], Theorem 2.12; [bruna2013invariant].
    Cost: one call on as many signals as there are pairs of frequencies and warps.

    >>> found = deformation_sensitivity(fourier_modulus, 1024, frequencies=(0.05, 0.1, 0.2), warps=(0.002,))
    >>> 0.9 < found.growth < 1.1
    True
    """
    length = check_integer("length", length, least=8)
    width = length / 8 if width is None else check_number("width", width, above=0)
    f, s = (torch.as_tensor(values, dtype=torch.float64) for values in (frequencies, warps))
    if not len(f) or not len(s) or not bool((f > 0).all() and (f < 0.5).all() and (s > 0).all()):
        found = f"frequencies are {tuple(frequencies)} and warps {tuple(warps)}"
        fix = "Pass frequencies between 0 and 0.5 cycles per sample, and positive warps"
        raise InputError(found, accepted="frequencies that samples can carry", fix=fix)
    t = torch.arange(length, dtype=torch.float64) - length // 2

    def packets(scale: Tensor) -> Tensor:
        at = (1 - scale)[None, :, None] * t
        return torch.exp(-((at / width) ** 2) / 2) * torch.cos(2 * torch.pi * f[:, None, None] * at)

    before, after = packets(torch.zeros(1, dtype=torch.float64)), packets(s)
    there = _rows(representation, after.flatten(0, 1)).unflatten(0, (len(f), len(s)))
    here = _rows(representation, before.flatten(0, 1))[:, None]
    sensitivity = (there - here).norm(dim=-1) / (s * before.norm(dim=-1))  # (1)
    growth = _slope(f.log(), sensitivity[:, 0].log()) if len(f) > 1 else 0.0
    return DeformationSensitivity(f, s, sensitivity, growth)


@add_call_to_errors
def fourier_modulus(x: Tensor) -> Tensor:
    """Returns the modulus of the Fourier transform of signals: invariant to shifts, but unstable to dilations.

        |x^(w)| = |sum_t x(t) e^{-2 pi i w t / n}| / sqrt(n)                                                   (1)

    Hypotheses: none. Reference: [mallat2012group], Section 1.
    Cost: one Fourier transform.

    >>> float(fourier_modulus(torch.ones(4))[0])
    2.0
    """
    return torch.fft.fft(x, norm="ortho").abs()  # (1)


def _rows(representation: Any, x: Tensor) -> Tensor:
    """Returns the representation of inputs x as rows in float64; float32 modules receive float32 inputs."""
    parameter = next(iter(representation.parameters()), None) if isinstance(representation, torch.nn.Module) else None
    with torch.no_grad():
        out = representation(x if parameter is None else x.to(parameter.dtype))
    return out.detach().double().flatten(1)


def _slope(x: Tensor, y: Tensor) -> float:
    centered = x - x.mean()
    return float((centered * y).sum() / centered.square().sum())
