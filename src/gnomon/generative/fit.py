"""Trains a generative model with the loop of `gnomon.train`."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_type
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.clock import Clock
from gnomon.generative.gan import GAN
from gnomon.generative.model import AbstractGenerative, check_continuous
from gnomon.training import Adam, TrainingRun, train
from gnomon.training.plan import BatchPlan, RecordingPlan
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["fit"]

RECORDED_EXAMPLES = 512
"""Number of examples on which the loss of a run is recorded."""


@add_call_to_errors
def fit(
    model: AbstractGenerative,
    data: Any,
    *,
    steps: int = 1000,
    optimizer: OptimizerChoice | None = None,
    batch: int | None = 128,
    seed: int = 0,
    budget: float | None = None,
    in_place: bool = False,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> TrainingRun:
    """Trains a copy of a generative model on examples with the loop of `gnomon.train`, and returns the run.

        L = (1 / n) sum_i model.losses(x_i)                                                                (1)

    Args:
        model: any model of `gnomon.generative` except a GAN, which `train_gan` trains.
        data: examples as a tensor, an array, a table, or anything that `gnomon.train` takes; targets are not used.
        steps: number of steps.
        optimizer: as in `gnomon.train`; by default Adam with learning rate 1e-3.
        batch: number of examples in each step; None for all.
        seed: random seed of the batches and of the noise in the loss.
        budget: seconds; training ends with the first step beyond it.
        in_place: train the model itself, not a copy.
        progress: called with (steps done, steps) after each step.
        clock: the clock for ``budget``.

    ``run.model`` is the trained model. If the model has a density, data that repeat values raise an error: see
    `dequantize`. Hypotheses: none. Reference: [robbins1951stochastic].
    Cost: a loss and its gradient for each step; the data are held in memory.

    >>> from gnomon.generative import Flow
    >>> from gnomon.generative.flows.base import ShiftTransform
    >>> from gnomon.training import SGD
    >>> flow = Flow([ShiftTransform(2)], shape=(2,))  # N(m, I): the mean is what is learned
    >>> x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0)) + 3
    >>> run = fit(flow, x, optimizer=SGD(1.0), steps=1, batch=None)
    >>> torch.allclose(run.model.transforms[0].amount, x.mean(0), atol=1e-5)
    True
    """
    check_type("model", model, AbstractGenerative, fix="Pass a model of gnomon.generative")
    if isinstance(model, GAN):
        raise InputError(
            "the model is a GAN",
            accepted="a model that is trained by one loss",
            fix="Use generative.train_gan(model, data)",
        )
    whole = data_source(data).whole().x
    if not isinstance(whole, Tensor):
        raise InputError(
            "an example is several tensors", accepted="one tensor of examples", fix="Pass one tensor per example"
        )
    x = model.points(whole, least=2)
    if model.continuous:
        check_continuous(whole)
    rule = Adam(1e-3) if optimizer is None else optimizer
    run = train(
        Losses(model), (x, torch.zeros(len(x))), loss=loss, optimizer=rule, steps=steps, batch=BatchPlan(batch),
        record=RecordingPlan(examples=RECORDED_EXAMPLES), seed=seed, budget=budget, in_place=in_place,
        progress=progress, clock=clock,
    )  # fmt: skip
    trained = run.model
    assert isinstance(trained, Losses)  # `train` returns a copy of the module that it gets, of the same class.
    return replace(run, model=trained.model)


class Losses(nn.Module):
    """Wraps a generative model as a network whose outputs are the training losses of its inputs."""

    def __init__(self, model: AbstractGenerative) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        """Returns the training loss of each example under the wrapped generative model."""
        return self.model.losses(x)


def loss(losses: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean of the examples' losses; ignores targets, because generative models have none."""
    return losses.mean()
