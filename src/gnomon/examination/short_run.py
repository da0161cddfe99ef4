"""Predicts the error of a long training run from two measurements in a short one.

Let t(s) be the error on the training examples and e(s) the error on held-out examples, after s steps of the planned
optimizer. Let d = e - t be the gap between them. Then

    g(S) = t(b) (t(b) / t(b/2))^a + d(b) (d(b) / d(b/2))^a,    a = min(log2(S / b), 2)                    (1)
    e(S) ~ sqrt(e(b) g(S))                                                                                (2)

(1) continues two power laws from b/2 and b to the S planned steps. Training errors fall, and the gap grows, at most as
fast as the number of steps. A network that learns slowly and steadily gets credit for what it will learn. A network
that
starts to memorize its examples is charged for it. A network that has not learned anything yet keeps its error. Because
early progress is faster than later progress, (2) takes the geometric mean of the current and the extrapolated error.
Its uncertainty has two parts: the current error e(b) was measured on m examples, and the true error may be anywhere
between the current and the extrapolated one,

    var log e(S) = (1 - e(b)) / (e(b) m) + log(e(b) / g(S))^2 / 12                                         (3)

Hypotheses: both errors follow power laws of the number of steps between b/2 and S; this holds only for short ranges.
Reference: [hestness2017deep] for power laws of errors; [domhan2015speeding] for judging runs by their beginnings.

>>> round(extrapolate_error(0.2, 0.4, 50, 100), 3), extrapolate_error(0.9, 0.9, 50, 600)
(0.1, 0.9)
"""

from dataclasses import dataclass
from math import log, log2, nan

import torch
from torch import Tensor

from gnomon.core.inputs.source import InMemorySource
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.machine.clock import Clock
from gnomon.core.results.record import Record
from gnomon.examination.subject import Subject
from gnomon.training import train
from gnomon.training.optimizers import AbstractOptimizer

__all__ = ["ShortRun", "short_run", "extrapolate_error", "extrapolate_gap"]

HELD_OUT = 0.25
"""Share of the examples that a short run holds out."""
MAX_EXTRAPOLATED_DOUBLINGS = 2.0
"""Largest number of doublings of the training steps over which a power law is extrapolated."""


@dataclass(frozen=True, slots=True)
class ShortRun(Record):
    """Result of a short training run: errors on held-out and training examples, at half time and at the end.

    The error is the share of wrong classes, or the unexplained share of the variance; ``guess`` is the error of
    always guessing the largest class, or the mean. ``held`` is the number of held-out examples, 0 if it is not known.
    """

    half: float
    last: float
    trained_half: float
    trained_last: float
    loss: float
    steps: int
    diverged: bool
    guess: float = 1.0
    held: int = 0

    @property
    def is_stuck(self) -> bool:
        """Checks whether the short run has hardly learned: its error is close to the error of guessing."""
        return self.last > 0.9 * self.guess

    def after(self, steps: int) -> float:
        """Predicts the error on held-out examples after this number of training steps.

        See equation (2) of the module docstring.
        """
        return (self.last * self._extrapolated_error(steps)) ** 0.5  # (2)

    def deviation(self, steps: int) -> float:
        """Returns the standard deviation of the logarithm of the predicted error, as its uncertainty.

        See equation (3) of the module docstring.

        >>> run = ShortRun(0.2, 0.1, 0.2, 0.1, 0.5, 100, False, held=900)
        >>> round(run.deviation(100), 6), round(run.deviation(200), 2)
        (0.1, 0.22)
        """
        held = max(self.held, 1)
        smallest = 0.5 / held  # Zero errors on few examples still allow a true error rate of this size.
        now, later = (min(max(e, smallest), 1.0) for e in (self.last, self._extrapolated_error(steps)))
        return ((1 - now) / (now * held) + log(now / later) ** 2 / 12) ** 0.5  # (3)

    def _extrapolated_error(self, steps: int) -> float:
        learned = extrapolate_error(self.trained_last, self.trained_half, self.steps, steps)
        gap = extrapolate_gap(self.last - self.trained_last, self.half - self.trained_half, self.steps, steps)
        return max(learned + gap, 0.0)  # (1)


def extrapolate_error(last: float, half: float, done: int, steps: int) -> float:
    """Extrapolates a decreasing error to more training steps, from its values at the end and at half of a short run.

    >>> extrapolate_error(0.25, 0.5, 10, 40)       # halved by each doubling of the steps, equation (1)
    0.0625
    """
    if half <= 0 or last <= 0 or done <= 0 or steps <= done:
        return last
    return last * min(last / half, 1.0) ** min(log2(steps / done), MAX_EXTRAPOLATED_DOUBLINGS)  # (1)


def extrapolate_gap(last: float, half: float, done: int, steps: int) -> float:
    """Extrapolates the gap between held-out and training error to more steps, from its values at the end and half of a
    short run.

    A gap that did not grow stays constant. A gap grows at most in proportion to the number of steps.

    >>> extrapolate_gap(0.03, 0.02, 10, 20), extrapolate_gap(0.03, 0.04, 10, 20), extrapolate_gap(0.03, 0.0, 10, 20)
    (0.045, 0.03, 0.06)
    """
    if last <= 0 or done <= 0 or steps <= done:
        return last
    return last * min(max(last / max(half, last / 2), 1.0), 2.0) ** min(
        log2(steps / done), MAX_EXTRAPOLATED_DOUBLINGS
    )  # (1)


def short_run(
    network: Subject, optimizer: AbstractOptimizer, *, examples: int, steps: int, batch: int, seed: int,
    seconds: float | None, clock: Clock,
) -> ShortRun:  # fmt: skip
    """Trains a copy for some steps on three quarters of the examples; measures its error on these and on the held-out
    quarter.

    Cost: ``steps`` training steps, and three forward passes over all examples.

    >>> from gnomon.core.machine.clock import FakeClock
    >>> from gnomon.examination.subject import build_subject
    >>> from gnomon.training import SGD
    >>> network = build_subject(torch.nn.Linear(2, 1), (torch.eye(2).repeat(8, 1), torch.ones(16)), None, seed=0)
    >>> done = short_run(network, SGD(0.1), examples=16, steps=4, batch=8, seed=0, seconds=None, clock=FakeClock(0.0))
    >>> done.steps, done.diverged
    (4, False)
    """
    data = network.train
    drawn = stratified_sample(len(data), data.labels(), examples, seed=seed)
    batch_of = data.at(drawn)
    held = stratified_sample(len(drawn), batch_of.y, max(1, round(HELD_OUT * len(drawn))), seed=seed)
    others = torch.ones(len(drawn), dtype=torch.bool)
    others[held] = False
    rest = others.nonzero().flatten() if bool(others.any()) else held
    learned, judged = (InMemorySource(batch_of[index], None) for index in (rest, held))
    run = train(
        network.module, learned, test=judged, loss=network.loss, optimizer=optimizer, steps=steps,
        batch=min(batch, len(rest)), record=(0, max(1, steps // 2), steps), budget=seconds, seed=seed, clock=clock,
    )  # fmt: skip
    run.raise_if_interrupted()  # the losses of an interrupted run look as if the network could not learn
    errors, own = (
        _errors(run.test_accuracy, run.test_loss, network, judged),
        _errors(run.accuracy, run.loss, network, learned),
    )
    middle = int((run.steps - run.steps[-1] / 2).abs().argmin())
    loss = nan if run.test_loss is None else float(run.test_loss[-1])
    return ShortRun(errors[middle], errors[-1], own[middle], own[-1], loss, int(run.steps[-1]),
                    run.stopped == "diverged", _guess(network, judged), len(judged))  # fmt: skip


def _guess(network: Subject, judged: InMemorySource) -> float:
    y = judged.batch.y
    if not network.task.classes or y is None:
        return 1.0
    return 1 - float(torch.bincount(y.long().flatten()).max()) / len(y)


def _errors(accuracy: Tensor | None, loss: Tensor | None, network: Subject, data: InMemorySource) -> list[float]:
    """Returns the error over training: fraction of wrong classes, unexplained variance, or loss relative to its
    start.
    """
    if accuracy is not None:
        return [1 - share for share in accuracy.tolist()]
    assert loss is not None and data.batch.y is not None
    losses, y = loss.tolist(), data.batch.y
    if network.recipe.own_loss is None and y.is_floating_point():
        spread = float(y.double().reshape(len(y), -1).var(0, correction=0).sum()) / 2
        return [value / spread if spread > 0 else value for value in losses]
    return [value / losses[0] if losses[0] else value for value in losses]
