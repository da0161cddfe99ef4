"""Wraps a module that returns a distribution, such as a zuko flow, as a generative model of this package.

    q = module(),    log p(x) = q.log_prob(x),    samples = q.sample((n,))                                 (1)

so `fit` can train it, and every instrument accepts it.

Hypotheses: the distribution's events have the shape of an example. Reference: [rezende2015variational].
"""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module, check_seed
from gnomon.core.modules.preserve import random_state
from gnomon.generative.model import AbstractGenerative

__all__ = ["DistributionModel"]


class DistributionModel(AbstractGenerative):
    """A generative model from a module that returns a torch distribution when called without arguments.

    See equation (1) of the module docstring.

    >>> import torch
    >>> class Shifted(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.mean = nn.Parameter(torch.zeros(2))
    ...     def forward(self):
    ...         return torch.distributions.Independent(torch.distributions.Normal(self.mean, 1.0), 1)
    >>> model = DistributionModel(Shifted(), shape=(2,))
    >>> model.sample(3).shape, round(float(model.log_prob(torch.zeros(1, 2)).detach()), 4)             # -log(2 pi)
    (torch.Size([3, 2]), -1.8379)
    """

    likelihood = "exact"

    @add_call_to_errors
    def __init__(self, module: nn.Module, *, shape: tuple[int, ...]) -> None:
        super().__init__()
        check_module(module)
        self.module, self.shape = module, tuple(shape)

    @add_call_to_errors("DistributionModel(module)")
    def distribution(self) -> Any:
        """Returns the torch distribution that the wrapped module returns at its current parameters."""
        made = self.module()
        if not hasattr(made, "log_prob") or tuple(made.event_shape) != self.shape:
            events = tuple(made.event_shape) if hasattr(made, "event_shape") else "no events"
            found = f"the module returned a {type(made).__name__} with {events}; examples have shape {self.shape}"
            fix = "Return a distribution over one example, such as Independent(Normal(mean, std), 1)"
            raise InputError(found, accepted="a distribution of examples", fix=fix)
        return made

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        return self.distribution().log_prob(self.points(x))

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        return -self.distribution().log_prob(x)  # (1)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:
        """Returns n new examples of the wrapped distribution; torch's random state is restored."""
        count = check_integer("n", n, least=0)
        with self.at_rest(), random_state(check_seed(seed)):
            return self.distribution().sample((count,))
