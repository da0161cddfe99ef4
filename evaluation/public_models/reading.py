"""What gnomon reads a network as, compared with what the network really learns."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import torch

from evaluation.public_models.case import Case, Data, Reading
from evaluation.public_models.steps import take
from gnomon.adapter.view import original_module
from gnomon.core.modules.run import run_module
from gnomon.examination.recipe import build_recipe
from gnomon.examination.subject import Subject, build_subject

FIRST = 8
"""Examples on which losses are compared."""
LOSS_TOLERANCE = 1e-3
"""Relative difference of losses: single precision over thousands of positions, far below any other loss's."""

NAMES = {
    "class": Reading.CLASS,
    "language model": Reading.CLASS_PER_POSITION,
    "class per position": Reading.CLASS_PER_POSITION,
    "class per pixel": Reading.CLASS_PER_PIXEL,
    "class per node": Reading.CLASS_PER_NODE,
    "labels": Reading.LABELS,
    "numbers": Reading.NUMBERS,
    "model loss": Reading.MODEL_LOSS,
}
"""gnomon's names of tasks."""


@dataclass(frozen=True, slots=True)
class Read:
    """How a network was read: the reading, the number of classes (0 for numbers), and gnomon's own sentence."""

    reading: Reading
    classes: int
    text: str = ""
    loss: float | None = None
    plain_loss: float | None = None

    @property
    def same_loss(self) -> bool:
        """Whether gnomon's loss of an untrained network is the one that a plain loop computes; numbers may be scaled."""
        if self.loss is None or self.plain_loss is None or self.reading in (Reading.NUMBERS, Reading.OWN_LOSS):
            return True
        return abs(self.loss - self.plain_loss) <= LOSS_TOLERANCE * abs(self.plain_loss)

    def agrees(self, case: Case) -> bool:
        """Whether this is one of the case's correct readings, with the right number of classes and the right loss."""
        counted = self.classes == case.classes or self.reading in (Reading.MODEL_LOSS, Reading.OWN_LOSS)
        return self.reading in case.readings and counted and self.same_loss


def read_case(case: Case, data: Data, seed: int = 0) -> Read:
    """The reading of a case, as `gnomon.examine` begins with it."""
    plan = functools.partial(build_recipe, batch=case.batch, loss=case.loss)
    examined = build_subject(case.build, data.train, data.test, optimizer=case.optimizer, seed=seed, plan=plan)
    read = _read(examined.task, getattr(examined.task, "reading", None), own_loss=case.loss is not None)
    if isinstance(data.train, tuple | dict):
        return replace(read, **_losses(case, data, examined))
    return read


def _losses(case: Case, data: Data, examined: Subject) -> dict[str, float]:
    """The loss of the first examples by gnomon and by a plain loop, both in eval mode."""
    few = examined.examples(examined.train.first(FIRST))
    module = examined.module.eval()  # no copy: lambdas over submodules would lead to the original
    with torch.no_grad():
        torch.manual_seed(0)  # some models draw random masks in forward
        own = float(examined.loss_of(run_module(module, few.x), few.y))
        torch.manual_seed(0)
        plain = float(case.batch_loss(original_module(module), take(data.train, torch.arange(FIRST))))
    return {"loss": own, "plain_loss": plain}


def _read(task: Any, found: Any, *, own_loss: bool) -> Read:
    if found is None:
        if own_loss:
            return Read(Reading.OWN_LOSS, 0)
        return Read(Reading.CLASS, task.outputs) if task.classes else Read(Reading.NUMBERS, 0)
    if found.task == "ensemble":
        return Read(Reading.CLASS if found.classes else Reading.NUMBERS, found.classes, found.sentence)
    return Read(NAMES[found.task], found.classes, found.sentence)
