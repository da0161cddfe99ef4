"""APGD (automatic projected gradient descent) attack: gradient ascent on the loss with an adaptive step size.

    u = P(z_k + a s(g_k)),    z_{k+1} = P(z_k + 0.75 (u - z_k) + 0.25 (z_k - z_{k-1})),    a = 2 eps at first        (1)

At checkpoints the step a of an example is halved, and the search continues from its best point, if fewer than 3/4 of
the steps since the last checkpoint raised the loss, or if neither a nor the best loss has changed.

Reference: [croce2020reliable], algorithm 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import (
    AbstractAttack,
    AttackedModel,
    Score,
    cross_entropy,
    dlr_loss,
    targeted_dlr_loss,
)
from gnomon.robustness.attacks.threat import ThreatModel, broadcast_per_example

__all__ = ["APGD", "TargetedAPGD"]

MIN_SUCCESSFUL_STEPS = 0.75
"""Share of steps since the last checkpoint that must have increased the loss."""


@dataclass(frozen=True, slots=True)
class APGD(Record, AbstractAttack):
    """APGD attack: gradient ascent from random starts on the cross-entropy or, with ``scale_free``, the DLR loss.

    See equation (1) of the module docstring.

    >>> from gnomon.robustness.attacks import attack
    >>> net, data = torch.nn.Linear(2, 2), (torch.full((1, 2), 0.5), torch.tensor([0]))
    >>> result = attack(net, data, eps=0.1, bounds=(0, 1), method=APGD(steps=5))
    >>> bool(result.sizes.max() <= 0.1 + 1e-6)
    True
    """

    steps: int = 100
    restarts: int = 1
    scale_free: bool = False

    @property
    def name(self) -> str:
        """Returns the name of the attack, as tables show it."""
        return "APGD, DLR" if self.scale_free else "APGD, cross-entropy"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        best, left = x.clone(), torch.arange(len(x))
        for _ in range(self.restarts):
            start = threat.random(x[left], generator)
            best[left] = ascend(
                classifier, x[left], y[left], start, threat, dlr_loss if self.scale_free else cross_entropy, self.steps
            )
            left = left[classifier.right(best[left], y[left])]
            if not len(left) or classifier.time_is_up:
                break
        return best


@dataclass(frozen=True, slots=True)
class TargetedAPGD(Record, AbstractAttack):
    """APGD attack on one target class after another, starting with the classes of highest score.

    See equation (1) of the module docstring.

    >>> from gnomon.robustness.attacks import attack
    >>> net = torch.nn.Linear(3, 3, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(3))
    >>> data = torch.tensor([[0.6, 0.5, 0.1]]), torch.tensor([0])
    >>> found = attack(net, data, eps=0.1, bounds=(0, 1), method=TargetedAPGD(steps=5))
    >>> int(net(found.examples).argmax())                               # 0.1 is more than half of the margin 0.1
    1
    """

    steps: int = 100
    targets: int = 9
    name = "APGD, targeted"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        best, left = x.clone(), torch.arange(len(x))
        f = classifier.all_scores(x)
        order = f.scatter(1, y[:, None], float("-inf")).argsort(1, descending=True)
        for rank in range(min(self.targets, f.shape[1] - 1)):
            score = targeted_dlr_loss(order[left, rank])
            start = threat.random(x[left], generator)
            best[left] = ascend(classifier, x[left], y[left], start, threat, score, self.steps, order[left, rank])
            left = left[classifier.right(best[left], y[left])]
            if not len(left) or classifier.time_is_up:
                break
        return best


@dataclass(slots=True)
class _ApgdState:
    """State of the APGD attack, with one row in each array for each example that is not yet misclassified."""

    index: Tensor
    x: Tensor
    y: Tensor
    target: Tensor
    z: Tensor
    before: Tensor
    best: Tensor
    gradient: Tensor
    best_gradient: Tensor
    value: Tensor
    best_value: Tensor
    step: Tensor
    rises: Tensor
    mark_value: Tensor
    halved: Tensor

    def keep(self, which: Tensor) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name)[which])


def ascend(
    classifier: AttackedModel,
    x: Tensor,
    y: Tensor,
    start: Tensor,
    threat: ThreatModel,
    score: Score,
    steps: int,
    target: Tensor | None = None,
) -> Tensor:
    """Runs APGD from one start. Returns each example's first misclassified point, or else its point of largest loss.

    Cost: steps + 1 gradients of the examples that are not yet fooled.
    """
    found = start.clone()
    value, gradient, right = classifier.slope(start, y, score)
    n = len(x)
    s = _ApgdState(torch.arange(n), x, y, y if target is None else target, start, start, start, gradient, gradient,
               value, value, torch.full((n,), 2 * threat.eps).to(x), torch.zeros(n).to(x), value,
               torch.zeros(n, dtype=torch.bool))  # fmt: skip
    _remove_misclassified(s, found, right)
    with classifier.until_time_is_up():
        _climb(classifier, s, found, threat, score, steps, by_target=target is not None)
    found[s.index] = s.best
    return found


def _climb(
    classifier: AttackedModel, s: _ApgdState, found: Tensor, threat: ThreatModel, score: Score, steps: int, *,
    by_target: bool,
) -> None:  # fmt: skip
    """Runs the steps of APGD; afterwards the state holds the examples that are not misclassified."""
    checkpoints, last = set(_checkpoints(steps)), 0
    for k in with_progress_bar(range(1, steps + 1), "steps of the attack"):
        if not len(s.index):
            return
        _step(s, threat, first=k == 1)
        again = targeted_dlr_loss(s.target) if by_target else score
        value, s.gradient, right = classifier.slope(s.z, s.y, again)
        s.rises = s.rises + (value > s.value)
        s.value = value
        better = value > s.best_value
        s.best = torch.where(broadcast_per_example(better, s.z), s.z, s.best)
        s.best_gradient = torch.where(broadcast_per_example(better, s.z), s.gradient, s.best_gradient)
        s.best_value = torch.maximum(value, s.best_value)
        _remove_misclassified(s, found, right)
        if k in checkpoints and len(s.index):
            _adapt(s, k - last)
            last = k


def _remove_misclassified(s: _ApgdState, found: Tensor, right: Tensor) -> None:
    """Stores the misclassified points that the attack found and removes their examples from the search."""
    if not bool(right.all()):
        found[s.index[~right]] = s.z[~right]
        s.keep(right)


def _step(s: _ApgdState, threat: ThreatModel, *, first: bool) -> None:
    u = threat.project(s.x, s.z + broadcast_per_example(s.step, s.z) * threat.steepest(s.gradient))
    ahead = u if first else threat.project(s.x, s.z + 0.75 * (u - s.z) + 0.25 * (s.z - s.before))
    s.before, s.z = s.z, ahead  # (1)


def _adapt(s: _ApgdState, since: int) -> None:
    stuck = ~s.halved & (s.best_value <= s.mark_value)
    halve = (s.rises < MIN_SUCCESSFUL_STEPS * since) | stuck
    s.step = torch.where(halve, s.step / 2, s.step)
    s.z = torch.where(broadcast_per_example(halve, s.z), s.best, s.z)
    s.before = torch.where(broadcast_per_example(halve, s.z), s.best, s.before)
    s.gradient = torch.where(broadcast_per_example(halve, s.z), s.best_gradient, s.gradient)
    s.value = torch.where(halve, s.best_value, s.value)
    s.halved, s.mark_value, s.rises = halve, s.best_value, torch.zeros_like(s.rises)


def _checkpoints(steps: int) -> Iterator[int]:
    """Returns the steps at which APGD may halve its step size: gaps start at 22 % of the steps and shrink to 6 %."""
    before, now = 0.0, 0.22
    while now < 1:
        yield max(1, int(now * steps + 0.999))
        before, now = now, now + max(now - before - 0.03, 0.06)
