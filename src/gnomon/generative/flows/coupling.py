"""Coupling maps, a kind of invertible map: part of the coordinates stay fixed and decide how the others change.

    x_A = z_A,    x_B = z_B exp(s(z_A)) + t(z_A),    log |det| = sum s                                     (1)

Any network can compute s and t, because the inverse needs only its forward pass.

Hypotheses: none. Reference: [dinh2017density].
"""

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.generative.flows.base import AbstractTransform

__all__ = ["AbstractCoupling", "Coupling", "alternating_mask", "coupling_network"]

MAX_LOG_SCALE = 3.0
"""Largest |s|: one map scales by at most e^3, so that no training step can overflow."""


@add_call_to_errors
def alternating_mask(features: int, layer: int) -> Tensor:
    """Returns the mask of coordinates that coupling layer number ``layer`` keeps fixed: every other one, alternating.

    >>> alternating_mask(4, 0).tolist(), alternating_mask(4, 1).tolist()
    ([True, False, True, False], [False, True, False, True])
    """
    places = torch.arange(check_integer("features", features))
    return places % 2 == check_integer("layer", layer, least=0) % 2


@add_call_to_errors
def coupling_network(features: int, outputs: int, *, hidden: int = 64, layers: int = 2) -> nn.Sequential:
    """Returns a network for coupling maps whose last layer is zero, so that the map starts as the identity.

    Cost: its parameters, drawn from torch's random state.

    >>> coupling_network(2, 4)(torch.ones(1, 2)).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """
    widths = [check_integer("features", features), *[check_integer("hidden", hidden)] * layers]
    parts: list[nn.Module] = []
    for a, b in zip(widths, widths[1:], strict=False):
        parts += [nn.Linear(a, b), nn.ReLU()]
    last = nn.Linear(widths[-1], check_integer("outputs", outputs))
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*parts, last)


class AbstractCoupling(AbstractTransform):
    """Base class of invertible maps that keep some coordinates fixed and transform the others depending on the fixed
    ones.
    """

    stays: Tensor
    kept: Tensor
    changing: Tensor
    order: Tensor
    outputs: int
    """Number of outputs of the network for each coordinate that changes."""

    def __init__(self, network: nn.Module, stays: Tensor) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("stays", stays.bool())
        self.register_buffer("kept", stays.bool().nonzero()[:, 0])
        self.register_buffer("changing", (~stays.bool()).nonzero()[:, 0])
        self.register_buffer("order", torch.cat([self.kept, self.changing]).argsort())

    def options(self, kept: Tensor) -> Tensor:
        """Returns the parameters for the changing coordinates, which the network computes from the fixed
        coordinates.
        """
        changing = len(self.changing)
        given = self.network(kept)
        if given.shape != (len(kept), changing * self.outputs):
            found = (
                f"the network returned {tuple(given.shape)} for {len(kept)} points with {changing} changing coordinates"
            )
            fix = f"Let it return ({len(kept)}, {changing * self.outputs})"
            raise InputError(found, accepted=f"{self.outputs} numbers for each changing coordinate", fix=fix)
        return given.reshape(len(kept), changing, self.outputs)

    def join_coordinates(self, kept: Tensor, changed: Tensor) -> Tensor:
        """Returns points whose fixed and changed coordinates are back in their original positions."""
        return torch.cat([kept, changed], 1)[:, self.order]


class Coupling(AbstractCoupling):
    """Invertible map that scales and shifts part of the coordinates by amounts computed from the others.

    See equation (1) of the module docstring.

    >>> layer = Coupling(coupling_network(1, 2), alternating_mask(2, 0))
    >>> layer(torch.tensor([[1.0, 2.0]]))[0].tolist()
    [[1.0, 2.0]]
    """

    outputs = 2

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        kept = z[:, self.kept]
        s, t = self._both(kept)
        return self.join_coordinates(kept, z[:, self.changing] * s.exp() + t), s.sum(1)  # (1)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        kept = x[:, self.kept]
        s, t = self._both(kept)
        return self.join_coordinates(kept, (x[:, self.changing] - t) * (-s).exp()), -s.sum(1)

    def _both(self, kept: Tensor) -> tuple[Tensor, Tensor]:
        options = self.options(kept)
        return MAX_LOG_SCALE * options[..., 0].tanh(), options[..., 1]
