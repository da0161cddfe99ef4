"""Measures how much the result of training depends on the random seed.

    mean over pairs of  |f_a - f_b| / sqrt(|f_a| |f_b|),  of outputs and of parameters                            (1)

Hypotheses: one architecture. Reference: [fort2020deep].

>>> SeedSensitivity(0.05, 1.2, (0.1, 0.1)).verdict[:29]
'2 seeds learn nearly the same'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import random_state
from gnomon.core.results import Result
from gnomon.training import train
from gnomon.training.evaluate import Loss
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["SeedSensitivity", "seed_sensitivity"]


@dataclass(frozen=True, slots=True)
class SeedSensitivity(Result):
    """How much networks trained from several seeds differ: mean relative distances of outputs and of parameters."""

    functions: float
    parameters: float
    losses: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """A sentence that says whether training from different seeds learns different functions."""
        same = "learn nearly the same function" if self.functions < 0.1 else "learn different functions"
        return (
            f"{len(self.losses)} seeds {same}: outputs differ by {self.functions:.1%} of their size, parameters by "
            f"{self.parameters:.1%}."
        )


@add_call_to_errors
def seed_sensitivity(
    build: Callable[[int], nn.Module],
    data: Any,
    *,
    seeds: Sequence[int] = (0, 1, 2, 3),
    steps: int = 300,
    optimizer: OptimizerChoice | None = None,
    loss: Loss | None = None,
) -> SeedSensitivity:
    """Trains networks from several seeds and measures how much their outputs and parameters differ.

    Args:
        build: a function of a seed that returns a network; torch's random numbers are seeded before each call.
        data: (inputs, targets) or other data; outputs are compared on them.
        seeds: at least two.
        steps: number of steps of training, full batch.
        optimizer: as in `gnomon.train`.
        loss: as in `gnomon.train`.

    Distances are |f_a - f_b| / sqrt(|f_a| |f_b|), averaged over pairs.
    Hypotheses: one architecture. Reference: [fort2020deep].
    Cost: a training run for each seed.

    >>> import torch
    >>> from gnomon.training import SGD
    >>> x = torch.eye(2)
    >>> pair, rule = (x, torch.ones(2)), SGD(1.0)
    >>> result = seed_sensitivity(lambda s: nn.Linear(2, 1), pair, seeds=(0, 1), steps=99, optimizer=rule)
    >>> result.functions < 0.05                                                 # a convex problem has one solution
    True
    """
    if len(seeds) < 2:
        raise InputError(f"seeds must be at least 2, but there are {len(seeds)}")
    functions, weights, losses = [], [], []
    for seed in seeds:
        with random_state(seed):
            net = build(seed)
        check_module_is_callable(net)
        run = train(net, data, loss=loss, optimizer=optimizer, steps=steps, record=[steps], seed=seed)
        losses.append(float(run.raise_if_interrupted().loss[-1]))
        functions.append(outputs_in_eval_mode(run.model, data_source(data, module=net).whole().x).double())
        weights.append(parameters_to_vector(run.model.parameters()).detach().double())
    return SeedSensitivity(_apart(functions), _apart(weights), tuple(losses))


def _apart(vectors: Sequence[Tensor]) -> float:
    pairs = [
        float((a - b).norm() / (a.norm() * b.norm()).sqrt().clamp_min(1e-300)) for a, b in combinations(vectors, 2)
    ]
    return sum(pairs) / len(pairs)
