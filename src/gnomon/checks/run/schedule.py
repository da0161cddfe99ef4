"""Finds schedules that lower the learning rate so fast that most epochs have no effect, or that keep it too low.

    effective epochs = sum over epochs e of lr_e / max lr                                                      (1)

A warmup that is counted in steps and moves once per epoch stays far below the rate of the optimizer:

    max over epochs e of lr_e < `MAX_LOW_SHARE` lr                                                            (2)

Hypotheses: the rate is set once per epoch.

>>> lrs = [0.01 * 0.1**e for e in range(15)]
>>> schedule_findings(lrs)[0].kind, schedule_findings([0.01 * 0.95**e for e in range(15)])
('rate-decays-away', ())
"""

import warnings
from collections.abc import Sequence

import torch
from torch import nn
from torch.optim.lr_scheduler import CyclicLR, OneCycleLR, ReduceLROnPlateau

from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds
from gnomon.training.schedule import Schedule

__all__ = ["planned_learning_rates", "schedule_findings"]

MIN_EFFECTIVE_SHARE = 0.2
"""Share of the epochs that must be effective (1). Cosine schedules have 0.5."""
MAX_LOW_SHARE = 0.1
"""Share of the rate of the optimizer that the largest planned rate must reach (2)."""
MAX_LAST_SHARE = 1e-3
"""The last rate must be below this share of the first one."""


def schedule_findings(rates: Sequence[float], *, base: float | None = None) -> tuple[Finding, ...]:
    """Reports learning rates that fall so fast that only few epochs have an effect, or that stay far below the
    optimizer's.

    ``base`` is the learning rate of the optimizer without the schedule.
    To be used for runs that fit their training examples badly. No chance is involved.

    >>> schedule_findings([0.1] * 10), schedule_findings([0.001, 0.002, 0.003, 0.004], base=0.1)[0].kind
    ((), 'rate-stays-low')
    """
    top = max(rates, default=0.0)
    if base is not None and rates and top < MAX_LOW_SHARE * base:  # (2)
        values = {"base": base, "top": top, "epochs": len(rates), "longest": max(1, len(rates) // 4)}
        return (Finding(kinds.RATE_STAYS_LOW, "optimizer", values, (Value("largest rate", top),), 0.0),)
    if len(rates) < 4 or top <= 0:
        return ()
    effective = sum(rates) / top
    if effective > MIN_EFFECTIVE_SHARE * len(rates) or rates[-1] > MAX_LAST_SHARE * top:
        return ()
    factor = 0.1 ** (1 / len(rates))
    values = {"first": top, "last": rates[-1], "epochs": len(rates), "effective": effective, "factor": factor}
    return (Finding(kinds.RATE_DECAYS_AWAY, "optimizer", values, (Value("effective epochs", effective),), 0.0),)


def planned_learning_rates(schedule: Schedule, lr: float, epochs: int) -> tuple[float, ...]:
    """Returns the learning rate that a scheduler plans for each epoch; empty if it steps per batch or depends on a
    measured loss.

    >>> planned_learning_rates(lambda o: torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.5), 1.0, 3)
    (1.0, 0.5, 0.25)
    """
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=lr)
    made = schedule(optimizer)
    if isinstance(made, CyclicLR | OneCycleLR | ReduceLROnPlateau):
        return ()
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Hides torch's warning that the schedule stepped before the optimizer.
        for _ in range(epochs):
            rates.append(float(optimizer.param_groups[0]["lr"]))
            made.step()
    return tuple(rates)
