"""The plain training loop that each examination is compared with."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from evaluation.public_models.case import Case, Data
from evaluation.public_models.steps import in_order, minibatches


@dataclass(frozen=True, slots=True)
class PlainResult:
    """Points on the test data, and how many steps were made in how many seconds of processor time."""

    points: float
    steps: int
    seconds: float


def train_plainly(
    case: Case, data: Data, seconds: float, clock: Callable[[], float] = time.process_time
) -> PlainResult:
    """Train a new network with the case's own loss and optimizer for this many seconds; at least one step."""
    torch.manual_seed(0)
    model = case.build().train()
    optimizer = case.optimizer(list(model.parameters()))
    generator = torch.Generator().manual_seed(0)
    start, steps = clock(), 0
    while True:
        for batch in minibatches(data.train, case.batch, generator):
            _step(case, model, optimizer, batch)
            steps += 1
            if clock() - start >= seconds:
                used = clock() - start
                return PlainResult(points(case, model, data), steps, used)


def _step(case: Case, model: nn.Module, optimizer: torch.optim.Optimizer, batch) -> None:
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
