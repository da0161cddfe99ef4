"""Compares two ways to combine trained models: averaging their weights and averaging their outputs (ensemble).

    mean of the losses,    loss of the mean outputs (ensemble),    loss of the mean weights                      (1)

For a convex loss of the outputs the ensemble is never worse than the mean of the losses; for squared loss the
difference is half the variance of the outputs. The mean of the weights is one model, and it is good if no barrier
separates them (`loss_between`).
Hypotheses: one architecture for the weights.
Reference: [izmailov2018averaging]; [krogh1991simple]; [geiger2020scaling] for networks of one width.

>>> AveragingGain(1.0, 0.8, 0.7, (1.0, 1.0)).verdict[:40]
'The models have a mean loss of 1; averag'
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.landscape.between import average_models
from gnomon.landscape.statistics import measure_statistics
from gnomon.training.evaluate import Loss, Objective

__all__ = ["AveragingGain", "averaging_gain"]


@dataclass(frozen=True, slots=True)
class AveragingGain(Result):
    """The mean loss of several models, the loss of their ensemble, and the loss of a model with their averaged
    weights.
    """

    mean: float
    ensemble: float
    weights: float
    losses: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """A sentence that says what to average: the models' weights, their outputs, or neither."""
        better = "the averaged weights are as good as the ensemble" if self.weights <= self.ensemble else (
            "the ensemble is better" if self.ensemble < self.mean else "no average helps")  # fmt: skip
        return (
            f"The models have a mean loss of {self.mean:.4g}; averaging their weights gives {self.weights:.4g}, "
            f"averaging their outputs {self.ensemble:.4g}: {better}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the mean loss of the models, the loss of their ensemble, and the loss of their averaged weights."""
        bars = Bars(
            "loss", ("mean of the models", "ensemble", "mean weights"), (self.mean, self.ensemble, self.weights)
        )
        return (Plot("Averages of models", (bars,), Axis("loss"), caption=self.verdict),)


@add_call_to_errors
def averaging_gain(models: Sequence[nn.Module], data: Any, *, loss: Loss | None = None) -> AveragingGain:
    """Returns the mean loss of several models, the loss of their ensemble and of their averaged weights.

    See equation (1) of the module docstring.

    Args:
        models: at least two of one architecture: checkpoints late in training, or networks from several seeds.
        data: as in `hessian`.
        loss: as in `hessian`; outputs are averaged before the loss, so cross-entropy averages logits.

    Batch norm statistics of the averaged model are measured again on the data, because averaged statistics do not fit
    it. Layers that never saw a batch keep their statistics.
    Hypotheses: see the module. Reference: [izmailov2018averaging].
    Cost: a pass over the data for each model and one more.

    >>> one, two = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(one.weight, 1.0), nn.init.constant_(two.weight, -1.0)
    >>> result = averaging_gain([one, two], (torch.ones(1, 1), torch.zeros(1)))  # 1/2 each; the mean is zero
    >>> result.mean, result.ensemble, result.weights
    (0.5, 0.0, 0.0)
    """
    if len(models) < 2:
        found = f"there are {len(models)} models"
        raise InputError(found, accepted="at least two models", fix="Pass a list of two or more models")
    middle = average_models(models)
    losses, rows = [], []
    for model in (*models, middle):
        with preserve(model):
            objective = Objective.of(data, model, loss)
            if model is middle:
                measure_statistics(model, objective)
            value, _, f = objective.measure(model, None)
            losses.append(value)
            rows.append(f)
    with torch.no_grad():
        targets = torch.cat([part for _, part in objective.batches()])
        ensemble = float(objective.loss_of(torch.stack(rows[:-1]).mean(0), targets))
    return AveragingGain(sum(losses[:-1]) / len(models), ensemble, losses[-1], tuple(losses[:-1]))  # (1)
