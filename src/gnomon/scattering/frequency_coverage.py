"""Measures how completely the filters of a layer, fitted by Gabor functions, cover all image frequencies.

    S(w) = sum_k (G_k(w - xi_k) + G_k(w + xi_k)) / sqrt(det D_k),    G_k(v) = e^{-v^T D_k^-1 v / 2}               (1)
    coverage = min S / max S    over the band of |w| from the 10 % to the 90 % quantile of |xi_k|                (2)

(1) is the Littlewood-Paley sum of the functions, each scaled to one norm, up to a constant: |transform|^2 of
e^{-u^T D u} cos(xi . u + p) without the product of its two halves. A dictionary of wavelets has a coverage near 1;
holes in the plane, which no filter sees, make it small.
Hypotheses: waves with more than about one cycle under their window, so that the two halves of (1) do not overlap.
Reference: [olshausen1996emergence]; [mallat2012group] for Littlewood-Paley sums.
Cost: filters times frequencies.

>>> one = GaborFit(torch.tensor([[0.0, 1.5]]), torch.eye(2)[None] / 8, torch.zeros(1, 2), torch.ones(1),
...                torch.zeros(1), torch.ones(1))
>>> cover = frequency_coverage(one)
>>> bool(cover.coverage < 1e-3), cover.band                                        # one direction of all
(True, (1.5, 1.5))
"""

from dataclasses import dataclass, field
from math import pi

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_type
from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.scattering.gabor import GaborFit

__all__ = ["FrequencyCoverage", "frequency_coverage"]

RADIUS_COUNT = 9
"""Radii in frequency at which (2) is evaluated."""
ANGLE_COUNT = 64
"""Angles at which (2) is evaluated; S(w) = S(-w), so that half of the circle is enough."""
MIN_COVERAGE = 0.01
"""Coverage at which a band counts as covered: a factor of ten in amplitude between its best and worst covered wave."""


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyCoverage(Result):
    """Result: the energy that fitted filters pass at each frequency, the band of the filters, and the coverage.

    >>> FrequencyCoverage(torch.ones(2, 2), (0.5, 1.0), 0.3).verdict
    'Spatial frequencies from 0.5 to 1 radians per pixel are covered in all directions: the weakest response is 0.3 of
    the strongest.'
    """

    plane: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    band: tuple[float, float]
    coverage: float

    @property
    def verdict(self) -> str:
        """States which image frequencies the filters cover, and with which gaps."""
        waves = f"Spatial frequencies from {self.band[0]:.3g} to {self.band[1]:.3g} radians per pixel"
        if self.coverage >= MIN_COVERAGE:
            told = f"{self.coverage:.2g} of the strongest"
            return f"{waves} are covered in all directions: the weakest response is {told}."
        less = 1 / max(self.coverage, 1e-300)
        return f"{waves} are covered with gaps: the response to some is {less:.0e} times weaker than to others."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the energy that the filters pass at each frequency, with frequency zero in the middle."""
        shown = Image("Littlewood-Paley sum", self.plane / self.plane.max().clamp(min=1e-300))
        return (Plot("What the filters see of all waves", (shown,), Axis("across"), Axis("down"), self.verdict),)


@add_call_to_errors
def frequency_coverage(fit: GaborFit, *, points: int = 64) -> FrequencyCoverage:
    """Computes how well the Gabor functions fitted to filters cover all image frequencies.

    See equations (1) and (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [olshausen1996emergence].
    Cost: filters times points squared.

    >>> angles = torch.arange(8) * pi / 8
    >>> xi = torch.stack([angles.sin(), angles.cos()], 1)
    >>> windows, ones = torch.eye(2).expand(8, 2, 2) / 8, torch.ones(8)
    >>> eight = GaborFit(xi, windows, torch.zeros(8, 2), ones, torch.zeros(8), ones)
    >>> bool(frequency_coverage(eight).coverage > 0.9)                                # all directions
    True
    """
    check_type("fit", fit, GaborFit, fix="Pass what gnomon.scattering.gabor_fit(layer) returns")
    axis = (torch.arange(check_integer("points", points, least=2), dtype=torch.float64) / points - 0.5) * 2 * pi
    plane = _sum(fit, torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1))
    sizes = fit.frequency.double().norm(dim=1)
    low, high = float(sizes.quantile(0.1)), float(sizes.quantile(0.9))
    radii = torch.linspace(low, high, RADIUS_COUNT, dtype=torch.float64)
    angles = torch.arange(ANGLE_COUNT, dtype=torch.float64) * pi / ANGLE_COUNT
    ring = _sum(fit, radii[:, None, None] * torch.stack([angles.sin(), angles.cos()], -1))
    return FrequencyCoverage(plane, (low, high), float(ring.min() / ring.max().clamp(min=1e-300)))  # (2)


def _sum(fit: GaborFit, w: Tensor) -> Tensor:
    """Returns the energy that the fitted filters pass (Littlewood-Paley sum) at frequencies w of shape (..., 2)."""
    spread, xi = torch.linalg.inv(fit.precision.double()), fit.frequency.double()
    scale = torch.linalg.det(spread).clamp(min=0).sqrt()
    total = torch.zeros(w.shape[:-1], dtype=torch.float64)
    for sign in (1, -1):
        apart = w[..., None, :] - sign * xi
        total += (torch.exp(-torch.einsum("...fi,fij,...fj->...f", apart, spread, apart) / 2) * scale).sum(-1)  # (1)
    return total
