"""Autoregressive maps between noise and examples: earlier coordinates decide how the next coordinate is transformed.

    z_i = m_i(x_1 ... x_{i-1}) + exp(-s_i(x_1 ... x_{i-1})) x_i,    log |det dx/dz| = sum_i s_i            (1)
    z_i = spline(x_i; options_i(x_1 ... x_{i-1})),    log |det dz/dx| = sum_i log spline'(x_i)             (2)

The Jacobian is triangular. All z follow from x in one pass, but the x follow from z one after another: densities are
fast, samples slow (masked autoregressive flow). ``Inverse(Autoregressive(...))`` is the opposite (inverse
autoregressive flow).

Hypotheses: the network respects the order, which `MaskedNetwork` ensures by masks on its weights.
References: [papamakarios2017masked], [durkan2019neural] for (2), [kingma2016improved] for the inverse,
[germain2015made] for the masks.
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.generative.flows.base import AbstractTransform
from gnomon.generative.flows.spline import spline, spline_inverse

__all__ = ["AbstractAutoregressive", "Autoregressive", "MaskedNetwork", "SplineAutoregressive"]

MAX_LOG_SCALE = 7.0
"""Upper limit of |s|, so that one coordinate is scaled by at most a factor of 1,000."""
MAX_EFFECTIVE_INPUTS = 64
"""A unit with more inputs than this is initialized and trained as if it had this number."""
SLOWDOWN_DIVISOR = 2.0
"""In d dimensions, weights on other coordinates learn sqrt(d) / 2 times more slowly. Chosen on held-out digits and
MNIST."""
MAX_BIAS_SPEEDUP = 8.0
"""Upper limit for the same speed-up factor of constants."""


class MaskedNetwork(nn.Module):
    """A network from (n, d) to (n, d, outputs) whose outputs for coordinate i depend only on coordinates before i.

    A hidden unit sees the coordinates up to its own position. The positions are spread evenly over all coordinates.
    With fewer units than coordinates, positions counted from the first would leave the later coordinates unseen.

    Adam moves every weight by the same amount, so a unit with more inputs moves more. Therefore weights are stored
    larger than they act, and constants of the last layer smaller. In many dimensions the distribution of each
    coordinate is then learned first, before the weights converge. In two dimensions this changes nothing.

    >>> network = MaskedNetwork(3, 2)
    >>> slopes = torch.func.jacrev(lambda x: network(x[None])[0, :, 0])(torch.randn(3))
    >>> bool((slopes.triu() == 0).all())
    True
    """

    @add_call_to_errors
    def __init__(self, features: int, outputs: int, *, hidden: int = 64, layers: int = 2) -> None:
        super().__init__()
        d, self.outputs = check_integer("features", features), outputs
        degrees = [torch.arange(d)] + [torch.arange(hidden) * (d - 1) // hidden] * layers
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        calm = max(1.0, d**0.5 / SLOWDOWN_DIVISOR)
        self.faster = [1.0] * layers + [min(calm, MAX_BIAS_SPEEDUP)]
        for i, (a, b) in enumerate(zip(degrees, degrees[1:], strict=False)):
            layer, seen = nn.Linear(len(a), len(b)), (b[:, None] >= a[None, :]).float()
            scale = (MAX_EFFECTIVE_INPUTS / seen.sum(1, keepdim=True).clamp(min=1)).clamp(max=1)
            self.weights.append(nn.Parameter(layer.weight.detach() / scale))
            self.biases.append(layer.bias)
            self.register_buffer(f"mask{i}", seen * scale)
        self.weights.append(nn.Parameter(torch.zeros(d * outputs, hidden)))
        self.biases.append(nn.Parameter(torch.zeros(d * outputs)))
        last = torch.arange(d).repeat_interleave(outputs)
        self.register_buffer(f"mask{layers}", (last[:, None] > degrees[-1][None, :]).float() / calm)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the network's outputs for each coordinate of a point, computed only from the coordinates
        before it.
        """
        n, d = x.shape
        for i, (weight, bias, faster) in enumerate(zip(self.weights, self.biases, self.faster, strict=True)):
            x = linear(x, weight * getattr(self, f"mask{i}"), faster * bias)
            if i < len(self.weights) - 1:
                x = nn.functional.relu(x)
        return x.reshape(n, d, self.outputs)


class AbstractAutoregressive(AbstractTransform):
    """Base class of invertible maps in which a network computes from earlier coordinates how to transform the next one.

    ``network`` maps (n, d) to (n, d, outputs) and respects the order; ``reverse`` starts with the last coordinate.
    """

    outputs: int
    """Numbers that the network returns for each coordinate."""

    def __init__(self, network: nn.Module, *, reverse: bool = False) -> None:
        super().__init__()
        self.network, self.reverse = network, reverse

    @abstractmethod
    def to_example(self, z: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:
        """Maps each noise coordinate to an example coordinate; also returns the log of the map's derivative."""

    @abstractmethod
    def to_noise(self, x: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:
        """Maps each example coordinate to a noise coordinate; also returns the log of the map's derivative."""

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        z = self._reorder(z)
        x, total = torch.zeros_like(z), z.new_zeros(len(z))
        for i in range(z.shape[1]):
            here = slice(i, i + 1)
            new, log_slope = self.to_example(z[:, here], self.options(x)[:, here])
            x, total = torch.cat([x[:, :i], new, x[:, i + 1 :]], 1), total + log_slope[:, 0]
        return self._reorder(x), total

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        x = self._reorder(x)
        z, log_slope = self.to_noise(x, self.options(x))
        return self._reorder(z), log_slope.sum(1)

    def options(self, x: Tensor) -> Tensor:
        """Returns the parameters of the map for each coordinate, which the network computes as a tensor (n, d,
        outputs).
        """
        given = self.network(x)
        if given.shape != (*x.shape, self.outputs):
            found = f"the network returned {tuple(given.shape)} for points {tuple(x.shape)}"
            fix = f"Let it return {(*x.shape, self.outputs)}, as MaskedNetwork({x.shape[1]}, {self.outputs}) does"
            raise InputError(found, accepted=f"{self.outputs} numbers for each coordinate", fix=fix)
        return given

    def _reorder(self, x: Tensor) -> Tensor:
        return x.flip(1) if self.reverse else x


class Autoregressive(AbstractAutoregressive):
    """Invertible map that scales and shifts each coordinate by amounts computed from the coordinates before it.

    See equation (1) of the module docstring.

    >>> layer = Autoregressive(MaskedNetwork(2, 2))
    >>> layer(torch.ones(1, 2))[0].tolist()                                  # a new network's last layer is zero
    [[1.0, 1.0]]
    """

    outputs = 2

    def to_example(self, z: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        s, m = _both(options)
        return (z - m) * s.exp(), s  # (1)

    def to_noise(self, x: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        s, m = _both(options)
        return m + (-s).exp() * x, -s  # (1)


def _both(options: Tensor) -> tuple[Tensor, Tensor]:
    s = options[..., 0]
    return s / (1 + s.abs() / MAX_LOG_SCALE), options[..., 1]


class SplineAutoregressive(AbstractAutoregressive):
    """Invertible map that transforms each coordinate by a spline computed from the coordinates before it.

    See equation (2) of the module docstring.
    The network returns 3 bins - 1 numbers for each coordinate: `rational_spline` says what they mean.

    >>> layer = SplineAutoregressive(MaskedNetwork(2, 3 * 8 - 1))
    >>> torch.allclose(layer(torch.ones(1, 2))[0], torch.ones(1, 2), atol=1e-4)
    True
    """

    @add_call_to_errors
    def __init__(self, network: nn.Module, *, reverse: bool = False, bins: int = 8, bound: float = 5.0) -> None:
        super().__init__(network, reverse=reverse)
        self.outputs = 3 * check_integer("bins", bins, least=2) - 1
        self.bound = check_number("bound", bound, above=0)

    def to_example(self, z: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return spline_inverse(z, options, bound=self.bound)  # (2)

    def to_noise(self, x: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return spline(x, options, bound=self.bound)  # (2)
