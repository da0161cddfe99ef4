"""Measures which share of the energy of scattering coefficients belongs to each order (number of wavelets)."""

from dataclasses import dataclass
from typing import Any

import torch

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.scattering.images import Scattering2d
from gnomon.scattering.signals import Scattering1d

__all__ = ["EnergyByOrder", "energy_by_order"]


@dataclass(frozen=True, slots=True)
class EnergyByOrder(Result):
    """Result: the fraction of the scattering coefficients' squared norm in orders 0, 1 and 2.

    >>> print(EnergyByOrder((0.75, 0.2, 0.05)).verdict)
    Order 2 holds 5.00% of the energy (sum of squares) of all scattering coefficients.
    """

    shares: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """States which share of the energy the highest order of scattering coefficients holds."""
        share = f"{self.shares[-1]:.2%} of the energy (sum of squares)"
        return f"Order {len(self.shares) - 1} holds {share} of all scattering coefficients."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the share of the scattering coefficients' energy in each order as a bar."""
        names = [f"order {k}" for k in range(len(self.shares))]
        return (
            Plot(
                "Energy by order",
                (Bars("share", names, self.shares),),
                Axis("share of the energy"),
                caption=self.verdict,
            ),
        )


@add_call_to_errors
def energy_by_order(scattering: Scattering1d | Scattering2d, x: Any) -> EnergyByOrder:
    """Computes the fraction of the energy of scattering coefficients in each order.

        share_m = sum_{paths of order m} |S[path] x|^2 / |S x|^2                                               (1)

    Hypotheses: none. Reference: [bruna2013invariant], Section 2.3.
    Cost: one transform of x.

    >>> [round(share, 6) for share in energy_by_order(Scattering2d(1, (8, 8)), torch.ones(8, 8)).shares]
    [1.0, 0.0]
    """
    coefficients = scattering(x).detach().double()
    dims = len(scattering.shape)
    energy = coefficients.square().sum(tuple(range(-dims, 0))).reshape(-1, len(scattering.paths())).sum(0)
    orders = torch.tensor([path.order for path in scattering.paths()])
    sums = [float(energy[orders == m].sum()) for m in range(int(orders.max()) + 1)]
    total = sum(sums) or 1.0
    return EnergyByOrder(tuple(part / total for part in sums))  # (1)
