"""Finds problems in a training run's losses and gradients: NaN, exploding, or not falling.

>>> rising = tuple((step, 1.0 + step) for step in range(200))
>>> [finding.kind for finding in loss_value_findings(LoopFacts(steps=200, backwards=200, losses=rising))]
['training-diverged']
"""

from math import isfinite
from statistics import mean, median, stdev

from gnomon.checks.run.loop.facts import FirstNonFiniteLoss, LoopFacts
from gnomon.checks.run.loop.guessing import guessing_findings_of_loop
from gnomon.core.results import Finding
from gnomon.findings import loop_losses as loss_kinds

__all__ = ["loss_value_findings"]

MIN_STEPS_TO_EXPLODE = 10
"""Sampled gradient norms for a judgment."""
MAX_GROWTH = 1e3
"""Growth of the gradient norm, relative to the median of the norms before it, that no healthy training has."""
MIN_LOSSES = 100
"""Recorded losses for a judgment about their trend."""
MAX_RISE = 3.0
"""Growth of the loss that counts as divergence."""
STANDARD_ERRORS = 2.0
"""A loss that falls by fewer standard errors does not fall."""
MIN_SHARE_BELOW = 0.8
"""Share of pairs of a late and an early loss with the late one lower that shows a fall, whatever a few outliers are.

Of 10 and 10 losses without a trend, the share exceeds this in 1.1 % of the draws (the test of Mann and Whitney)."""
FAILURES_OF_LARGE_STEPS = ("loss-not-finite", "exploding-gradients", "training-diverged")
"""What steps do that are too large."""
PLACES = {
    "module": loss_kinds.NAN_IN_MODULE,
    "failure": loss_kinds.NAN_BEFORE_FAILURE,
    "weights": loss_kinds.NAN_IN_WEIGHTS,
    "inputs": loss_kinds.NAN_IN_INPUTS,
    "loss": loss_kinds.NAN_IN_LOSS,
    "": loss_kinds.NAN_SEEN_LATE,
}


def loss_value_findings(facts: LoopFacts) -> list[Finding]:
    """Reports losses and gradients that are NaN, explode, or do not fall.

    >>> loss_value_findings(LoopFacts())
    []
    """
    found = [] if facts.not_finite is None else [_not_finite(facts.not_finite, facts.rate)]
    found += [*_exploding(facts), *_trend(facts), *guessing_findings_of_loop(facts)]
    summed = facts.summed_loss and any(one.name == "SGD" and one.steps for one in facts.optimizers)
    if summed and any(finding.kind in FAILURES_OF_LARGE_STEPS for finding in found):
        found.append(Finding(loss_kinds.LOSS_SUMMED, values={"lr": facts.rate}))
    return found


def _not_finite(seen: FirstNonFiniteLoss, lr: float) -> Finding:
    values = {"value": f"{seen.value}", "step": seen.step, "layer": seen.layer, "lr": lr}
    return Finding(PLACES[seen.place], seen.where, values)


def _exploding(facts: LoopFacts) -> list[Finding]:
    if len(facts.norms) < MIN_STEPS_TO_EXPLODE:
        return []
    norms = [norm if isfinite(norm) else float("inf") for _, norm in facts.norms]
    place = norms.index(max(norms))
    if not place:  # The first gradient is the largest one, so nothing exploded.
        return []
    usual = median(norms[: min(place, len(norms) // 2)])  # Later norms may be small because training has converged.
    step, norm = facts.norms[place]
    if not usual or norm < MAX_GROWTH * usual:
        return []
    values = {"usual": usual, "norm": norm, "step": step, "lr": facts.rate}
    return [Finding(loss_kinds.GRADIENTS_EXPLODED, facts.largest, values)]


def _trend(facts: LoopFacts) -> list[Finding]:
    losses = [loss for _, loss in facts.losses if isfinite(loss)]
    if len(losses) < MIN_LOSSES or not facts.steps or len([o for o in facts.optimizers if o.steps]) > 1:
        return []  # Several optimizers, as in a GAN, have losses that need not fall.
    if min(losses) < 0 < max(losses):
        return []  # Losses of both signs, as in reinforcement learning, need not fall.
    tenth = len(losses) // 10
    first, last = losses[:tenth], losses[-tenth:]
    values = {"first": mean(first), "last": mean(last), "steps": facts.steps, "lr": facts.rate}
    if min(losses) >= 0 and mean(last) > MAX_RISE * losses[0] and mean(last) > MAX_RISE * mean(first):
        return [Finding(loss_kinds.LOSS_ROSE, values=values)]
    error = (stdev(first) ** 2 / tenth + stdev(last) ** 2 / tenth) ** 0.5
    early = max(mean(losses[: max(3, tenth // 4)]), mean(first))
    if early - mean(last) > STANDARD_ERRORS * error or _below(last, first) > MIN_SHARE_BELOW:
        return []
    return [Finding(loss_kinds.LOSS_NOT_FALLING, values=values)]


def _below(late: list[float], early: list[float]) -> float:
    """Compares all pairs of a late and an early loss; returns the fraction in which the late one is lower (ties count
    half).
    """
    pairs = [(x > y) + (x == y) / 2 for x in early for y in late]
    return mean(pairs)
