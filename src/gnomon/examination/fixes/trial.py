"""Defines a training run that can be repeated with one change, to test a possible fix.

>>> import torch
>>> from gnomon.core.inputs.source import data_source
>>> from gnomon.core.losses import CrossEntropy
>>> from gnomon.training import Adam
>>> data = data_source((torch.eye(4), torch.tensor([0, 1, 0, 1])))
>>> trial = TrialRun(nn.Linear(4, 2), data, data, CrossEntropy(), Adam(0.1), BatchPlan(2), 20)
>>> int(trial.run(seed=0).steps[-1])
20
"""

from dataclasses import dataclass, field
from time import perf_counter

import torch
from torch import nn

from gnomon.core.inputs.source import AbstractSource
from gnomon.core.machine.clock import Clock
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.record import Record
from gnomon.training import TrainingRun, train
from gnomon.training.evaluate import Loss
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.plan import BatchPlan, RecordingPlan

__all__ = ["TrialRun", "steps_to_record"]

RECORDED_STEPS = 16
"""Number of steps at which a run is measured."""
RECORDED_EXAMPLES = 256
"""Examples of each set on which a run is measured."""
RECORDING_TIME_SHARE = 0.1
"""Share of the training time that recording may take."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialRun(Record):
    """Everything that determines a training run, except the seed: module, data, loss, optimizer, number of steps.

    ``test`` are held-out examples that score the trained network. ``balanced`` says that each class has the same weight
    in the score, however rare it is.
    """

    module: nn.Module = field(metadata=HIDDEN_IN_JSON)
    train: AbstractSource = field(repr=False, metadata=HIDDEN_IN_JSON)
    test: AbstractSource = field(repr=False, metadata=HIDDEN_IN_JSON)
    loss: Loss = field(metadata=HIDDEN_IN_JSON)
    optimizer: AbstractOptimizer
    batches: BatchPlan
    steps: int
    balanced: bool = False

    def run(self, *, seed: int, seconds: float | None = None, clock: Clock = perf_counter) -> TrainingRun:
        """Trains a copy of the module and returns the run.

        Cost: ``steps`` training steps, and about a tenth of that for records.
        """
        return train(
            self.module, self.train, test=self.test, loss=self.loss, optimizer=self.optimizer, steps=self.steps,
            batch=self.batches,
            record=RecordingPlan(steps_to_record(self.steps), RECORDED_EXAMPLES, RECORDING_TIME_SHARE),
            budget=seconds, seed=seed, clock=clock,
        )  # fmt: skip


def steps_to_record(steps: int) -> list[int]:
    """Returns the steps at which a training run records the loss, more densely at the beginning.

    >>> steps_to_record(4)
    [0, 1, 2, 3, 4]
    """
    last = torch.log10(torch.tensor(float(max(steps, 1))))
    return [0, *torch.logspace(0, float(last), RECORDED_STEPS).round().int().unique().tolist()]
