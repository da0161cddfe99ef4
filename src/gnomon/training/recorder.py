"""Decides when to measure a training run: at planned steps, if measuring stays within its share of the time.

>>> time = RecordTime(0.2, last=1.0, spent=1.0)
>>> time.affordable(running=5.0), time.affordable(running=11.0)              # 2 s of records need 10 s of steps
(False, True)
"""

from dataclasses import dataclass
from math import inf

from gnomon.core.machine.clock import Clock
from gnomon.training.log import Log
from gnomon.training.plan import TrainingPlan


@dataclass(slots=True)
class RecordTime:
    """Seconds of the last measurement and of all measurements, and the share of the training time that these may
    take.
    """

    share: float
    last: float = 0.0
    spent: float = 0.0

    def affordable(self, running: float) -> bool:
        """Checks whether one more measurement stays within its share of the time, given the seconds spent on training
        steps.
        """
        return self.spent + self.last <= self.share * running


class Recorder:
    """Measures a training run at planned steps if time allows, and reports when the time budget is used up.

    With a share, what the last record will take is kept from the time of the steps.
    """

    def __init__(self, log: Log, plan: TrainingPlan, start: float, seconds: float | None, clock: Clock) -> None:
        self.log, self.plan, self.clock, self.start = log, plan, clock, start
        self.end = inf if seconds is None else start + seconds
        share = plan.records.share
        self.time = None if share is None else RecordTime(share)
        self.due = False
        self._record(0)
        if self.time is not None:
            self.start = clock() - self.time.spent  # The time for reading the data is not training time.

    def late(self) -> bool:
        """Checks whether the time budget is used up, leaving time for a last measurement."""
        if self.time is None:
            return self.plan.late()
        return self.clock() + self.time.last > self.end

    def after(self, step: int, *, last: bool) -> bool:
        """Measures the model after this step if a measurement is due; returns False if a loss is not finite."""
        self.due = self.due or step in self.plan.recorded
        if not last and (not self.due or not self._affordable()):
            return True
        self.due = False
        return self._record(step)

    def _affordable(self) -> bool:
        return self.time is None or self.time.affordable(self.clock() - self.start - self.time.spent)

    def _record(self, step: int) -> bool:
        if self.time is None:
            return self.log.record(step)
        began = self.clock()
        kept = self.log.record(step)
        self.time.last = self.clock() - began
        self.time.spent += self.time.last
        return kept
