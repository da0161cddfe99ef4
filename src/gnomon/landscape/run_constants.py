"""Measures constants of convergence theory (smoothness, Polyak-Lojasiewicz) at the checkpoints of a run.

    smoothness        lambda_1(H),   along the step:  |g(w - lr g) - g(w)| / (lr |g|)                               (1)
    predictiveness    cosine(g(w - lr g), g(w)):  whether the gradient still points the same way                   (2)
    Polyak-Lojasiewicz  mu = |g|^2 / (2 (L - L*)),   its smallest value in the run                                   (3)
    predicted rate    1 - mu / smoothness: the share of L - L* that a step of lr = 1 / smoothness leaves at most    (4)

Hypotheses: full-batch gradients of a mean loss, in eval mode; L* is at most every loss of the run.
Reference: [nesterov2018lectures] for (1), [santurkar2018how] for (2), [karimi2016linear] for (3) and (4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.landscape.smoothness import try_gradient_steps
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import loss_gradient

__all__ = ["RunConstants", "keep_model", "run_constants"]


@dataclass(frozen=True, slots=True)
class RunConstants(Result):
    """For each checkpoint of a run: the loss, the constants of convergence theory, and how predictive the gradient is.

    See equations (1) and (2) and (3) of the module docstring.

    >>> found = RunConstants((2.0, 1.0), (4.0, 5.0), (4.0, 4.5), (1.0, 0.9), (0.5, 0.4), 0.1)
    >>> found.polyak, round(found.rate, 3)
    (0.4, 0.92)
    """

    losses: tuple[float, ...]
    smoothness: tuple[float, ...]
    smoothness_along: tuple[float, ...]
    cosines: tuple[float, ...]
    polyaks: tuple[float, ...]
    lr: float

    @property
    def polyak(self) -> float:
        """The smallest Polyak-Lojasiewicz constant over the run, which limits how fast gradient descent converges.

        See equation (3) of the module docstring.
        """
        return min((mu for mu in self.polyaks if mu == mu), default=nan)

    @property
    def rate(self) -> float:
        """The largest share of the excess loss that a gradient step can leave, according to the constants of the run.

        See equation (4) of the module docstring.
        """
        return max(0.0, 1 - self.polyak / max(self.smoothness))

    @property
    def verdict(self) -> str:
        """A sentence with the learning rates that are safe by convergence theory, and the constants measured along the
        run.
        """
        largest = max(self.smoothness)
        return (
            f"Along {len(self.losses)} models of the run the smoothness constant is at most {largest:.3g} (learning "
            f"rates below {2 / largest:.3g} are safe), the gradients before and after a step with learning rate "
            f"{self.lr:.3g} have a cosine of at least {min(self.cosines):.2f}, and the Polyak-Lojasiewicz constant is "
            f"at least {self.polyak:.2g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the constants of convergence theory and the gradient's cosine over the checkpoints."""
        order, axis = range(len(self.losses)), Axis("model of the run")
        known = [(i, mu) for i, mu in enumerate(self.polyaks) if mu == mu and mu > 0]
        curves = (Line("largest curvature", order, self.smoothness), Line("along the step", order,
                  self.smoothness_along), Line("Polyak-Lojasiewicz", [i for i, _ in known], [m for _, m in known]),
                  Reference("2 / lr", 2 / self.lr))  # fmt: skip
        cosine = Plot("Predictiveness of a step", (Line("cosine", order, self.cosines),), axis, Axis("cosine"))
        return Plot("Constants along a run", curves, axis, Axis("curvature", log=True), self.verdict), cosine


@add_call_to_errors
def keep_model(step: int, model: nn.Module, loss: float) -> nn.Module:
    """Returns a copy of the model, to store checkpoints during `gnomon.train` with ``watch={"model": keep_model}``.

    Cost: a copy of the parameters.

    >>> keep_model(0, nn.Linear(1, 1), 0.5)
    Linear(in_features=1, out_features=1, bias=True)
    """
    return copy_module(model)


@add_call_to_errors
def run_constants(
    models: Sequence[nn.Module],
    data: Any,
    *,
    lr: float,
    min_loss: float = 0.0,
    products: int | None = None,
    loss: Loss | None = None,
) -> RunConstants:
    """Measures smoothness, gradient predictiveness and the Polyak-Lojasiewicz constant at each checkpoint of a run.

    See equations (1) to (3) of the module docstring.

    Args:
        models: checkpoints, such as ``run.watched["model"]`` of `gnomon.train` with ``watch={"model": keep_model}``.
        data: as in `hessian`.
        lr: learning rate of the step along which the gradient is compared.
        min_loss: the smallest loss L*; zero if the network can fit all examples.
        products: number of Hessian products for the largest eigenvalue of each model; by default, until it converges.
        loss: as in `hessian`.

    Hypotheses: see the module. Reference: [karimi2016linear], [santurkar2018how].
    Cost: three gradients and about 25 Hessian-vector products for each model.

    >>> import torch
    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> found = run_constants([net], (torch.tensor([[2.0]]), torch.zeros(1)), lr=0.125)       # one curvature: 4
    >>> round(found.smoothness[0], 4), round(found.polyak, 4), found.cosines[0]
    (4.0, 4.0, 1.0)
    """
    rate, floor = check_number("lr", lr, above=0), check_number("min_loss", min_loss)
    if not models:
        fix = 'Train with watch={"model": keep_model} and pass run.watched["model"]'
        raise InputError("the list of models is empty", accepted="at least one model", fix=fix)
    rows = []
    for model in models:
        ahead = try_gradient_steps(model, data, lrs=(rate,), products=products, loss=loss)
        copy = copy_module(model)
        with preserve(copy):
            value, g = loss_gradient(copy, Objective.of(data, copy, loss))
        excess = value - floor
        mu = float(g.square().sum()) / (2 * excess) if excess > 1e-12 * max(abs(value), 1e-300) else nan  # (3)
        rows.append((value, ahead.local, ahead.smoothness[0], ahead.cosines[0], mu))
    losses, here, along, cosines, polyaks = (tuple(row[i] for row in rows) for i in range(5))
    return RunConstants(losses, here, along, cosines, polyaks, rate)
