"""Finds mistakes in the calls of learning rate schedulers.

>>> from gnomon.checks.run.loop.facts import SchedulerFacts
>>> never = SchedulerFacts("StepLR", 0, optimizer_steps=500, initial=0.1)
>>> [finding.kind for finding in schedule_findings_of_loop(LoopFacts(steps=500, schedulers=(never,)))]
['scheduler-never-stepped']
"""

from gnomon.checks.run.loop.facts import LoopFacts, SchedulerFacts
from gnomon.core.results import Finding
from gnomon.findings import loop as kinds

__all__ = ["schedule_findings_of_loop"]

MIN_STEPS = 10
"""Optimizer steps for a judgment."""
MIN_LATE_CALLS = 2
"""Calls of a schedule after its optimizer was replaced."""
MIN_METRICS = 5
"""Metrics for a judgment about their direction."""
MIN_SHARE_OF_FALLS = 0.75
"""Share of falling metrics; without a trend, 4 of 4 fall in 1 of 120 orders."""
SMALL_RATE = 1e-3
"""Part of the first learning rate below which nothing is learned any more."""
EARLY_PART_OF_RUN = 0.5
"""Part of the run within which the learning rate should not have become that small."""
MIN_SHARE_IDLE = 0.2
"""Share of steps with learning rate zero that is reported; a few at the start or the end of a schedule are usual."""
PER_BATCH = 0.9
"""Calls per optimizer step of a scheduler that is stepped after every batch."""
MIN_PART_OF_LENGTH = 0.5
"""Part of its length that a schedule should reach in a finished run."""
WRAPS = ("CosineAnnealingLR",)
"""Schedules whose rate rises again after their length."""


def schedule_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports learning rate schedulers that are never stepped, or stepped too early, too often or too rarely.

    >>> schedule_findings_of_loop(LoopFacts())
    []
    """
    found = [finding for one in facts.schedulers for finding in _scheduler(one, facts)]
    if facts.rate_attribute:
        found.append(Finding(kinds.RATE_NOT_APPLIED, values={"place": facts.rate_attribute}))
    for one in facts.optimizers:
        if one.idle >= max(MIN_STEPS, MIN_SHARE_IDLE * one.steps):
            first = next((step for step, rate in one.rates if rate == 0), 1)
            values = {"optimizer": one.name, "count": one.idle, "steps": one.steps, "step": first - 1}
            found.append(Finding(kinds.LEARNING_RATE_ZERO, values=values))
    return found


def _waits_for_wrong_direction(one: SchedulerFacts) -> bool:
    """Checks whether the metric of a plateau schedule moves against its mode from the first call on."""
    if one.mode != "max" or len(one.metrics) < MIN_METRICS or one.metrics[0] < max(one.metrics):
        return False
    falls = sum(later < earlier for earlier, later in zip(one.metrics, one.metrics[1:], strict=False))
    return falls >= MIN_SHARE_OF_FALLS * (len(one.metrics) - 1)


def _scheduler(one: SchedulerFacts, facts: LoopFacts) -> list[Finding]:
    steps, values = one.optimizer_steps, {"scheduler": one.name, "steps": one.optimizer_steps}
    if one.late_calls >= MIN_LATE_CALLS:
        return [Finding(kinds.SCHEDULER_OF_ANOTHER, values=values | {"count": one.late_calls})]
    if _waits_for_wrong_direction(one):
        numbers = {"first": one.metrics[0], "last": one.metrics[-1]}
        return [Finding(kinds.SCHEDULER_WRONG_DIRECTION, values=values | numbers)]
    if steps < MIN_STEPS:
        return []
    if not one.calls:
        passes = max((loader.passes for loader in facts.loaders if loader.backwards), default=1)
        over = facts.finished or passes > 1
        return [Finding(kinds.SCHEDULER_NEVER, values=values | {"lr": one.initial})] if over else []
    found, values = [], values | {"count": one.calls, "initial": one.initial}
    if one.before and one.at_first_step != one.initial:
        found.append(Finding(kinds.SCHEDULER_FIRST, values=values | {"count": one.before, "lr": one.at_first_step}))
    per_batch = one.calls >= PER_BATCH * steps
    small = next(((step, lr) for step, lr in one.rates if abs(lr) < SMALL_RATE * abs(one.initial)), None)
    if per_batch and one.length is None and small is not None and small[0] <= EARLY_PART_OF_RUN * steps:
        found.append(Finding(kinds.SCHEDULER_TOO_FAST, values=values | {"count": small[0], "lr": small[1]}))
    if one.length and per_batch and one.name in WRAPS and one.calls > 2 * one.length:
        found.append(Finding(kinds.SCHEDULER_WRAPPED, values=values | {"length": one.length}))
    if one.length and facts.finished and not per_batch and one.calls < MIN_PART_OF_LENGTH * one.length <= steps:
        found.append(Finding(kinds.SCHEDULER_TOO_SLOW, values=values | {"length": one.length}))
    return found
