"""The plain training loop that each examination is compared with, and its points over time."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from evaluation.public_models.case import Case, Data
from evaluation.public_models.steps import in_order, minibatches


@dataclass(frozen=True, slots=True)
class PlainPoint:
    """Points on the test data after some steps, and the seconds of processor time that these steps took."""

    seconds: float
    steps: int
    points: float


def train_plainly(
    case: Case, data: Data, times: Sequence[float], clock: Callable[[], float] = time.process_time
) -> list[PlainPoint]:
    """Train a new network with the case's own loss and optimizer; its points at each of these times.

    The seconds count training alone. At least one step is made.
    """
    torch.manual_seed(0)
    model = case.build().train()
    optimizer = case.optimizer(list(model.parameters()))
    generator = torch.Generator().manual_seed(0)
    found: list[PlainPoint] = []
    used, steps, wanted = 0.0, 0, list(times)
    while wanted:
        start = clock()
        for batch in minibatches(data.train, case.batch, generator):
            _step(case, model, optimizer, batch)
            steps, now = steps + 1, clock()
            used, start = used + now - start, now
            if used >= wanted[0]:
                found.append(PlainPoint(used, steps, points(case, model, data)))
                wanted = [t for t in wanted if t > used]
                start = clock()
            if not wanted:
                break
    return found


def points_at(curve: Sequence[PlainPoint], seconds: float) -> float:
    """Points of a plain loop at this time, linear in the logarithm of the time between measured points."""
    before = [point for point in curve if point.seconds <= seconds]
    after = [point for point in curve if point.seconds > seconds]
    if not before or not after:
        return (before[-1] if before else after[0]).points
    left, right = before[-1], after[0]
    share = math.log(seconds / left.seconds) / math.log(right.seconds / left.seconds)
    return left.points + share * (right.points - left.points)


def _step(case: Case, model: nn.Module, optimizer: torch.optim.Optimizer, batch: Any) -> None:
    def closure():
        optimizer.zero_grad()
        loss = case.batch_loss(model, batch)
        loss.backward()
        return loss

    optimizer.step(closure)


def points(case: Case, model: nn.Module, data: Data) -> float:
    """The score of a network on all test examples, in eval mode; the random numbers are the same at each call."""
    predictions, targets = [], []
    was_training = model.training
    model.eval()
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        for batch in in_order(data.test if data.scored is None else data.scored):
            prediction, target = case.answers(model, batch)
            if prediction.dim() == target.dim() + 1 and not target.is_floating_point():
                prediction, target = prediction.flatten(0, -2), target.flatten()
            predictions.append(prediction)
            targets.append(target)
    model.train(was_training)
    return case.score(torch.cat(predictions), torch.cat(targets))
