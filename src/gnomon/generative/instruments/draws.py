"""Draws samples and evaluates densities of any model: a gnomon model, a torch or zuko distribution, or a function."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs
from gnomon.core.modules.preserve import random_state
from gnomon.generative.model import AbstractGenerative

__all__ = ["log_density_of", "draw_samples", "as_points"]


def draw_samples(model: Any, n: int, *, seed: int = 0) -> Tensor:
    """Returns n examples of a model as a tensor, from ``sample`` or a call; torch's random state is restored.

    Cost: one call of the model.

    >>> draw_samples(torch.distributions.Normal(torch.zeros(2), torch.ones(2)), 5).shape
    torch.Size([5, 2])
    """
    with random_state(seed), torch.no_grad():
        if isinstance(model, AbstractGenerative) or _is_mixture(model):
            return model.sample(n, seed=seed).detach()
        made = distribution_of(model)
        if made is not None:
            return made.sample((n,)).detach()
        if callable(model):
            return as_points(model(n), "the samples")
    return as_points(model, "the samples")


def log_density_of(model: Any) -> Callable[[Tensor], Tensor]:
    """Returns a model's log density as a function of points, or raises an error if the model has no density.

    >>> p = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> log_density_of(p)(torch.zeros(1, 2)).shape
    torch.Size([1])
    """
    made = model if isinstance(model, AbstractGenerative) else distribution_of(model) or model
    if not hasattr(made, "log_prob"):
        fix = "Pass a model or a distribution with log_prob(x)"
        raise InputError(f"a {type(model).__name__} has no log_prob", accepted="a density", fix=fix)

    def log_prob(x: Tensor) -> Tensor:
        with torch.no_grad():
            return made.log_prob(x).detach()

    return log_prob


def as_points(x: Any, name: str, *, least: int = 2) -> Tensor:
    """Returns examples as a table of finite float64 numbers, one row per example.

    Cost: a copy.

    >>> as_points([[1, 2], [3, 4]], "x").dtype
    torch.float64
    """
    given = as_numbers(x, name).detach()
    if given.dim() == 0 or len(given) < least:
        found = f"{name} contains {len(given) if given.dim() else 0} example" + ("" if given.dim() == 0 else "s")
        raise InputError(
            found.replace("1 examples", "1 example"), accepted=f"at least {least}", fix="Pass more examples"
        )
    flat = given.reshape(len(given), -1).cpu().double()
    check_finite_inputs(flat)
    return flat


def alike(x: Tensor, y: Tensor) -> None:
    """Raises an error if the examples of the two sets have different numbers of entries."""
    if x.shape[1] != y.shape[1]:
        found = f"an example has {x.shape[1]} numbers in the first set and {y.shape[1]} in the second"
        raise InputError(found, accepted="examples of one shape", fix="Pass both in the same shape")


def distribution_of(model: Any) -> Any:
    """Returns the model as a torch distribution if possible; calls modules that return one, such as zuko flows."""
    if isinstance(model, torch.distributions.Distribution):
        return model
    if isinstance(model, nn.Module) and not hasattr(model, "log_prob"):
        try:
            made = model()
        except TypeError:
            return None
        return made if hasattr(made, "log_prob") and hasattr(made, "sample") else None
    return None


def _is_mixture(model: Any) -> bool:
    return hasattr(model, "noised") and hasattr(model, "sample")
