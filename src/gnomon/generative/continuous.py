"""Continuous flows: a differential equation maps noise to examples, and the density follows from it.

    dx/dt = v(x, t),  x(0) ~ N(0, I),    log p(x(1)) = log N(x(0); 0, I) - int_0^1 tr dv/dx dt             (1)

A trace is cheaper than a determinant, and any network gives an invertible map, because the equation also runs backward.
Flow matching learns the same field without solving the equation, from straight lines between noise and examples:

    loss = E |v((1 - t) e + t x, t) - (x - e)|^2,    e ~ N(0, I), t ~ U[0, 1]                              (2)

Both are integrated by the classical Runge-Kutta method, whose error falls with the fourth power of the step.

Hypotheses: v is Lipschitz in x and smooth in t. References: [chen2018neural], [grathwohl2019ffjord] for (1),
[lipman2023flow], [liu2023flow] for (2).
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.generative.divergence import AbstractTraceEstimator, ExactTrace
from gnomon.generative.model import AbstractGenerative, standard_normal
from gnomon.generative.vectors import check_vectors, finite_points

__all__ = ["ContinuousFlow", "FlowMatching", "TimeConditionedNetwork", "integrate_flow"]

Moving = Callable[[Tensor, float], tuple[Tensor, Tensor]]
"""From points and a time to their velocities and the divergence there."""


class TimeConditionedNetwork(nn.Module):
    """A network that computes a vector at each point (n, d) and time (n,), with times encoded as sines and cosines.

    >>> TimeConditionedNetwork(2)(torch.zeros(3, 2), torch.zeros(3)).shape
    torch.Size([3, 2])
    """

    rates: Tensor

    def __init__(self, features: int, *, hidden: int = 64, layers: int = 2, waves: int = 4) -> None:
        super().__init__()
        widths = [features + 1 + 2 * waves] + [hidden] * layers
        parts: list[nn.Module] = []
        for a, b in zip(widths, widths[1:], strict=False):
            parts += [nn.Linear(a, b), nn.SiLU()]
        self.body = nn.Sequential(*parts, nn.Linear(widths[-1], features))
        self.register_buffer("rates", torch.pi * 2.0 ** torch.arange(waves))

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the vector that the network computes for each point at its time."""
        waves = t[:, None].to(x) * self.rates.to(x)
        return self.body(torch.cat([x.flatten(1), t[:, None].to(x), waves.sin(), waves.cos()], 1)).reshape(x.shape)


@add_call_to_errors
def integrate_flow(
    moving: Moving, x: Tensor, start: float, end: float, *, steps: int
) -> tuple[Tensor, Float[Tensor, " n"]]:
    """Moves points along a vector field from one time to another, and integrates its divergence along the paths.

        dx/dt = v(x, t),    a = int tr dv/dx dt                                                            (1)

    Args:
        moving: a function from points and a time to velocities and divergences.
        x: the points at time ``start``.
        start: start time, before or after ``end``.
        end: end time.
        steps: number of steps of the classical Runge-Kutta method.

    Hypotheses: a smooth field. Reference: [hairer1993solving], Section II.1.
    Cost: four evaluations for each step.

    >>> x, a = integrate_flow(lambda x, t: (x, torch.ones(len(x))), torch.ones(1, 1), 0.0, 1.0, steps=10)
    >>> round(x.item(), 4), round(a.item(), 4)                                                          # e, and 1
    (2.7183, 1.0)
    """
    return transport_checked(moving, finite_points(x, "x"), start, end, steps)


def transport_checked(
    moving: Moving, x: Tensor, start: float, end: float, steps: int
) -> tuple[Tensor, Float[Tensor, " n"]]:
    """Moves points along a vector field by numerical integration, for points that are already validated."""
    h, area = (end - start) / check_integer("steps", steps), x.new_zeros(len(x))
    for i in range(steps):
        t = start + i * h
        v1, a1 = moving(x, t)
        check_vectors(v1, x)
        v2, a2 = moving(x + h / 2 * v1, t + h / 2)
        v3, a3 = moving(x + h / 2 * v2, t + h / 2)
        v4, a4 = moving(x + h * v3, t + h)
        x = x + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)  # (1)
        area = area + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return x, area


class ContinuousFlow(AbstractGenerative):
    """A generative model that moves noise along a vector field v(x, t) to examples, trained by maximum likelihood.

    See equation (1) of the module docstring.
    ``trace`` is `ExactTrace()` or `Hutchinson(k)`; with the latter ``log_prob`` is right on average over directions.

    >>> class Still(nn.Module):
    ...     def forward(self, x, t):
    ...         return 0 * x
    >>> flow = ContinuousFlow(Still(), shape=(2,))
    >>> torch.allclose(flow.log_prob(torch.ones(1, 2)), standard_normal(torch.ones(1, 2)))
    True
    """

    likelihood = "exact"

    @add_call_to_errors
    def __init__(
        self,
        field: nn.Module,
        *,
        shape: tuple[int, ...],
        trace: AbstractTraceEstimator | None = None,
        integration_steps: int = 20,
    ) -> None:
        super().__init__()
        self.field, self.shape = field, tuple(shape)
        self.trace = ExactTrace() if trace is None else trace
        self.integration_steps = check_integer("integration_steps", integration_steps)

    @add_call_to_errors
    def velocity(self, x: Tensor, t: float) -> Tensor:
        """Returns the vectors of the flow's vector field at the given points and one time."""
        v = self.field(x, torch.full((len(x),), t, dtype=x.dtype, device=x.device))
        check_vectors(v, x)
        return v

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        return self._density(self.points(x))

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        return -self._density(x)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:  # noqa: D102
        with self.at_rest():
            return self.forward(self.noise(n, self.shape, self.generator(seed)))

    def forward(self, z: Tensor) -> Tensor:
        """Maps noise to examples by following the vector field from time 0 to time 1."""
        none = z.new_zeros(len(z))
        return transport_checked(lambda x, t: (self.velocity(x, t), none), z, 0.0, 1.0, self.integration_steps)[0]

    def inverse(self, x: Tensor) -> Tensor:
        """Maps examples to noise by following the vector field backward from time 1 to time 0."""
        none = x.new_zeros(len(x))
        return transport_checked(lambda x, t: (self.velocity(x, t), none), x, 1.0, 0.0, self.integration_steps)[0]

    def _density(self, x: Tensor) -> Tensor:
        directions = self.trace.directions(x)

        def moving(x: Tensor, t: float) -> tuple[Tensor, Tensor]:
            return self.trace(lambda y: self.velocity(y, t), x, directions)

        z, area = transport_checked(moving, x, 1.0, 0.0, self.integration_steps)
        return standard_normal(z) + area  # Time runs backward from 1 to 0, so the integral has the opposite sign.


class FlowMatching(ContinuousFlow):
    """A generative model that moves noise along a learned vector field, trained without numerical integration.

    See equation (2) of the module docstring.

    >>> model = FlowMatching(TimeConditionedNetwork(2), shape=(2,))
    >>> model.losses(torch.zeros(4, 2)).shape
    torch.Size([4])
    """

    @add_call_to_errors("FlowMatching(field)")
    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        noise, t = torch.randn_like(x), torch.rand(len(x), dtype=x.dtype, device=x.device)
        place = t.reshape(-1, *[1] * (x.dim() - 1))
        v = self.field((1 - place) * noise + place * x, t)
        check_vectors(v, x)  # Without this check, a wrong shape of the velocity would silently broadcast.
        return (v - (x - noise)).flatten(1).square().sum(1)  # (2)
