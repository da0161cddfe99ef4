"""Implements recurrent layers that are linear in their state (minGRU and LRU), so that all times are computed in
parallel.
"""

from math import pi

import torch
from torch import Tensor, nn

from gnomon.models.scan import linear_scan

__all__ = ["LinearRecurrentUnit", "MinGRU"]


class MinGRU(nn.Module):
    """A minimal GRU (minGRU): a recurrent layer whose gates do not depend on the state.

        z_t = sigmoid(G x_t),   h_t = (1 - z_t) h_{t-1} + z_t (V x_t)                                      (1)

    Inputs are (batch, times, inputs), outputs all states (batch, times, units).
    Hypotheses: none; any length.
    Reference: [feng2024were].
    Cost: two affine maps and a scan: O(T) work in O(log T) rounds.

    >>> import torch
    >>> layer, x = MinGRU(3, 5), torch.randn(2, 7, 3)
    >>> torch.allclose(layer(x)[:, :4], layer(x[:, :4]), atol=1e-6)  # a state sees its past alone
    True
    """

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.gate, self.candidate = nn.Linear(inputs, units), nn.Linear(inputs, units)

    def forward(self, x: Tensor, start: Tensor | None = None) -> Tensor:
        """Returns the states of the minimal GRU at all times, (batch, times, units)."""
        z = torch.sigmoid(self.gate(x))
        return linear_scan(1 - z, z * self.candidate(x), start)  # (1)


class LinearRecurrentUnit(nn.Module):
    """A linear recurrent unit (LRU): a recurrent layer without nonlinearity that is stable for all parameter values.

        s_t = lambda s_{t-1} + gamma B x_t,   y_t = Re(C s_t) + D x_t                                      (1)
        lambda = exp(-exp(nu) + i exp(theta)),   gamma = sqrt(1 - |lambda|^2)                              (2)

    |lambda| = exp(-exp(nu)) < 1 for every real nu. At the start |lambda|^2 is uniform in the squares of ``radius``.
    Hypotheses: none; any length. Almost every linear system is diagonal in some basis.
    Reference: [orvieto2023resurrecting].
    Cost: three maps and a complex scan: O(T) work in O(log T) rounds.

    >>> import torch
    >>> layer = LinearRecurrentUnit(2, 8, 1)
    >>> bool((layer.eigenvalues().abs() < 1).all())
    True
    """

    def __init__(self, inputs: int, units: int, outputs: int, *, radius: tuple[float, float] = (0.0, 0.99)) -> None:
        super().__init__()
        low, high = radius
        size = (torch.rand(units) * (high**2 - low**2) + low**2).clamp(min=1e-6)
        self.nu = nn.Parameter(torch.log(-0.5 * torch.log(size)))
        self.theta = nn.Parameter(torch.log(2 * pi * torch.rand(units).clamp(min=1e-6)))
        self.into = nn.Parameter(torch.randn(units, inputs, 2) / (2 * inputs) ** 0.5)
        self.out = nn.Parameter(torch.randn(outputs, units, 2) / units**0.5)
        self.direct = nn.Linear(inputs, outputs, bias=False)

    def eigenvalues(self) -> Tensor:
        """Returns the complex factors by which the state of the linear recurrent unit is multiplied in each step."""
        return torch.exp(torch.complex(-torch.exp(self.nu), torch.exp(self.theta)))  # (2)

    def forward(self, x: Tensor) -> Tensor:
        """Runs the linear recurrent unit on sequences (batch, times, inputs); returns outputs (batch, times,
        outputs).
        """
        factor = self.eigenvalues()
        gamma = (1 - factor.abs() ** 2).sqrt()
        driven = gamma * (x.to(factor.dtype) @ torch.view_as_complex(self.into).T)
        states = linear_scan(factor.expand_as(driven), driven)
        return (states @ torch.view_as_complex(self.out).T).real + self.direct(x)  # (1)
