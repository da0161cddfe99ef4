"""Deep ensembles: networks trained from different initializations, whose disagreement measures uncertainty.

    f(x) = mean_i f_i(x),    epistemic = variance over i,    aleatoric = noise^2                           (1)

and for classes the entropies of `gnomon.bayes.posterior_predictive`.

Hypotheses: none; the members are samples of training results, not of a posterior.
Reference: [lakshminarayanan2017simple].
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import torch
from torch import nn

from gnomon.bayes.predictive import PosteriorPrediction, prediction_from_outputs
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples
from gnomon.core.inputs.checks import check_integer, check_module, check_number, check_seed, check_type
from gnomon.core.inputs.source import all_inputs
from gnomon.core.machine.clock import Clock
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training import CrossEntropy, TrainingRun, train
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["DeepEnsemble", "deep_ensemble"]


@dataclass(frozen=True, slots=True, eq=False)
class DeepEnsemble(Result):
    """Result: the trained networks of an ensemble, and their training runs.

    >>> len(deep_ensemble(lambda: nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), members=2, steps=3).models)
    2
    """

    runs: tuple[TrainingRun, ...] = field(repr=False, metadata=HIDDEN_IN_JSON)
    noise: float
    classes: bool

    @property
    def models(self) -> tuple[nn.Module, ...]:
        """Returns the trained networks of the ensemble."""
        return tuple(run.model for run in self.runs)

    @property
    def verdict(self) -> str:
        """States the smallest and the largest final loss of the networks in the ensemble."""
        last = [float(run.loss[-1]) for run in self.runs]
        return f"{len(last)} networks were trained, to losses from {min(last):.3g} to {max(last):.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the training loss of each network in the ensemble."""
        lines = tuple(Line(f"member {i + 1}", run.steps, run.loss) for i, run in enumerate(self.runs))
        return (Plot("Training of the members", lines, Axis("step"), Axis("loss", log=True), self.verdict),)

    @add_call_to_errors
    def predictive(self, x: Any) -> PosteriorPrediction:
        """Returns the mean prediction of the ensemble's networks and how much they disagree.

        See equation (1) of the module docstring.
        """
        outputs = []
        for model in self.models:
            inputs = all_inputs(x, model)
            with preserve(model, grad=False):
                returned = run_module(model, inputs)
                outputs.append(output_rows(returned, count_examples(inputs)).double())
        return prediction_from_outputs(torch.stack(outputs), self.noise, self.classes)  # (1)


@add_call_to_errors
def deep_ensemble(
    factory: Callable[[], nn.Module],
    data: Any,
    *,
    members: int = 5,
    noise: float = 1.0,
    loss: Loss | None = None,
    optimizer: OptimizerChoice | None = None,
    steps: int = 1000,
    batch: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> DeepEnsemble:
    """Trains several networks with different initializations and data orders; their disagreement measures uncertainty.

        f(x) = mean_i f_i(x),    epistemic = variance over i                                               (1)

    Args:
        factory: a function that returns a new network, drawn from torch's random state, such as
            ``lambda: nn.Sequential(...)``.
        data: as in `gnomon.train`.
        members: number of networks.
        noise: the standard deviation of real targets around the outputs.
        loss: as in `gnomon.train`.
        optimizer: as in `gnomon.train`.
        steps: number of steps of each network.
        batch: number of examples in a step.
        seed: random seed of the initializations and batches; torch's random state is restored.
        budget: seconds for each member.
        progress: called with (steps done, steps) of all members after each step.
        clock: the clock for ``budget``.

    An interrupt (Ctrl-C) ends the training and returns the members so far, including the unfinished one.
    Hypotheses: none. Reference: [lakshminarayanan2017simple].
    Cost: one training run for each member.

    >>> x = torch.linspace(-1, 1, 20)[:, None]
    >>> ensemble = deep_ensemble(lambda: nn.Linear(1, 1), (x, 2 * x[:, 0]), members=3, steps=50, noise=0.1)
    >>> found = ensemble.predictive(torch.tensor([[0.0], [9.0]]))
    >>> bool(found.epistemic[1] > found.epistemic[0])                                     # far from the data
    True
    """
    if isinstance(factory, nn.Module):
        fix = "Pass a function, such as lambda: nn.Sequential(...)"
        raise InputError(
            f"make is a {type(factory).__name__}",
            accepted="a function that returns a new network for each member",
            fix=fix,
        )
    check_type("factory", factory, Callable, fix="Pass a function that returns a new network")
    members, noise = check_integer("members", members, least=2), check_number("noise", noise, above=0)
    first, runs = check_seed(seed), []
    for i in range(members):
        with random_state(first + i):
            module = factory()
        check_module(module)
        report = None if progress is None else partial(_report, progress, i, members)
        runs.append(train(module, data, loss=loss, optimizer=optimizer, steps=steps, batch=batch, seed=first + i,
                          budget=budget, in_place=True, progress=report, clock=clock))  # fmt: skip
        if runs[-1].stopped == "interrupted":
            break
    chosen = Objective.of(data, runs[0].model, loss).loss
    return DeepEnsemble(tuple(runs), noise, isinstance(chosen, CrossEntropy))


def _report(progress: Callable[[int, int], None], member: int, members: int, step: int, steps: int) -> None:
    progress(member * steps + step, members * steps)
