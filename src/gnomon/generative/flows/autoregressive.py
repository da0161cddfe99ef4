"""Autoregressive maps: each coordinate is scaled and moved by what the coordinates before it say.

    z_i = m_i(x_1 ... x_{i-1}) + exp(-s_i(x_1 ... x_{i-1})) x_i,    log |det dx/dz| = sum_i s_i            (1)

The Jacobian is triangular. From x all z are computed at once, from z the x one after another: fast densities, slow
samples (masked autoregressive flow). ``Inverse(Autoregressive(...))`` has it the other way round (inverse
autoregressive flow).

Hypotheses: the network keeps the order, which `MaskedNetwork` does by masks on its weights.
References: [papamakarios2017masked], [kingma2016improved] for the inverse, [germain2015made] for the masks.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from gnomon.core.checks import integer
from gnomon.generative.flows.base import AbstractTransform

__all__ = ["Autoregressive", "MaskedNetwork"]

LIMIT = 7.0
"""|s| stays below it, so that one coordinate is scaled by 1,000 at most."""


class MaskedNetwork(nn.Module):
    """A network from (n, d) to (n, d, outputs) whose outputs for coordinate i depend on coordinates before i alone.

    >>> network = MaskedNetwork(3, 2)
    >>> slopes = torch.func.jacrev(lambda x: network(x[None])[0, :, 0])(torch.randn(3))
    >>> bool((slopes.triu() == 0).all())
    True
    """

    def __init__(self, features: int, outputs: int, *, hidden: int = 64, layers: int = 2) -> None:
        super().__init__()
        d, self.outputs = integer("features", features, call="MaskedNetwork(features, outputs)"), outputs
        degrees = [torch.arange(d)] + [torch.arange(hidden) % max(1, d - 1)] * layers
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for i, (a, b) in enumerate(zip(degrees, degrees[1:], strict=False)):
            layer = nn.Linear(len(a), len(b))
            self.weights.append(layer.weight)
            self.biases.append(layer.bias)
            self.register_buffer(f"mask{i}", (b[:, None] >= a[None, :]).float())
        self.weights.append(nn.Parameter(torch.zeros(d * outputs, hidden)))
        self.biases.append(nn.Parameter(torch.zeros(d * outputs)))
        last = torch.arange(d).repeat_interleave(outputs)
        self.register_buffer(f"mask{layers}", (last[:, None] > degrees[-1][None, :]).float())

    def forward(self, x: Tensor) -> Tensor:
        """The outputs for each coordinate."""
        n, d = x.shape
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = linear(x, weight * getattr(self, f"mask{i}"), bias)
            if i < len(self.weights) - 1:
                x = nn.functional.relu(x)
        return x.reshape(n, d, self.outputs)


class Autoregressive(AbstractTransform):
    """The affine autoregressive map (1) of points (n, d); ``reverse`` lets the last coordinate come first.

    >>> layer = Autoregressive(MaskedNetwork(2, 2))
    >>> layer(torch.ones(1, 2))[0].tolist()                                  # a new network's last layer is zero
    [[1.0, 1.0]]
    """

    def __init__(self, network: nn.Module, *, reverse: bool = False) -> None:
        super().__init__()
        self.network, self.reverse = network, reverse

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        z = self._turned(z)
        x = torch.zeros_like(z)
        for i in range(z.shape[1]):
            s, m = self._both(x)
            x = torch.cat([x[:, :i], ((z - m) * s.exp())[:, i : i + 1], x[:, i + 1 :]], 1)  # (1)
        return self._turned(x), self._both(x)[0].sum(1)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        x = self._turned(x)
        s, m = self._both(x)
        return self._turned(m + (-s).exp() * x), -s.sum(1)  # (1)

    def _both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        options = self.network(x)
        s = options[..., 0]
        return s / (1 + s.abs() / LIMIT), options[..., 1]

    def _turned(self, x: Tensor) -> Tensor:
        return x.flip(1) if self.reverse else x
