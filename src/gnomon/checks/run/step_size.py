"""Detects learning rates that are far too large or too small, by short training runs with other rates.

From one start, with the same batches, k steps are taken with the learning rate times c, for c = 1, 1/10 and 10, and
for 1/100 or 100 if these do better; if the loss does not fall at all, down to c = 1e-4, because a rate may be wrong
by a factor of more than a hundred. With g(c) the fall of the loss on fixed examples,

    too large    the loss is not finite, or g(1) < `TOO_LARGE_RATIO` max over c < 1 of g(c), or it rises in the short
    run and in
                 the whole one by more than `MIN_LOSS_DECREASE` and does not for some c < 1                          (1)
    too small    g(1) < `TOO_SMALL_RATIO` max over c > 1 of g(c)                                                     (2)

While steps are small g grows like c, so that (2) means a rate far below one that works. If a whole run is known, it
must also have brought less than half of what the larger rate brings in k steps: a small rate with patience is not a
fault. If no rate brings the loss down by `MIN_LOSS_DECREASE` in k steps, the whole run must have done so to be patient:
its examples are others than those of the short runs, and the losses of two samples differ by more than such a fall. Nor
is a large one whose whole run came as far as the smaller rate did in k steps: momentum may overshoot at first. Without
a run, `TOO_SMALL_RATIO_ALONE` takes the place of `TOO_SMALL_RATIO`. If the network has batch norm, the loss is computed
with batch statistics: with running statistics it falls while they settle, at any learning rate.

Hypotheses: the first steps are representative; schedules with a warmup begin small on purpose and are not judged.
Reference: [smith2017cyclical], on learning rates found by short runs.

>>> learning_rate_findings({0.1: 1e-5, 1.0: 1e-4, 10.0: 0.001, 100.0: 0.01}, start=1.0, lr=1e-6, steps=30)[0].kind
'learning-rate-too-small'
>>> learning_rate_findings({0.1: 0.4, 1.0: 0.6, 10.0: 0.2, 100.0: float("nan")}, start=1.0, lr=1e-3, steps=30)
()
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isfinite, nan
from statistics import mean
from typing import Any

from torch import Tensor, nn

from gnomon.core.modules.layer_classes import BATCH_NORMS
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds
from gnomon.training import train
from gnomon.training.evaluate import Objective
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = ["MAX_SHORT_RUNS", "scale_learning_rates", "short_runs", "learning_rate_findings"]

MAX_SHORT_RUNS = 5
"""Short runs, at most, plus two if the loss falls in none of them."""
MIN_RATE_FACTOR = 1e-4
"""Smallest multiple of the learning rate that is tried."""
TOO_LARGE_RATIO = 0.2
"""A learning rate is too large if its loss decrease is below this share of the decrease at a smaller rate."""
TOO_SMALL_RATIO = 0.04
"""A learning rate is too small if its loss decrease is below this share of the decrease at a larger rate (with a whole
run)."""
TOO_SMALL_RATIO_ALONE = 0.02
"""The same without a whole run."""
MIN_LOSS_DECREASE = 0.1
"""Smallest relative decrease of the loss of the best run that allows a comparison."""
ROUNDING_SHARE = 1e-7
"""Relative decrease of the loss that counts as rounding."""


def learning_rate_findings(
    loss_falls: Mapping[float, float], *, start: float, lr: float, steps: int, fall_in_whole_run: float | None = None
) -> tuple[Finding, ...]:
    """Reports a learning rate that is too large or too small, from how far the loss falls in short runs with other
    rates.

    ``fall_in_whole_run`` is the fall of the loss in a whole run, if one was made.

    Hypotheses: as above. All short runs share start and batches: what differs between them is the rate alone.
    Reference: [smith2017cyclical].

    >>> learning_rate_findings({0.1: 0.5, 1.0: float("nan")}, start=1.0, lr=10.0, steps=30)[0].kind
    'learning-rate-too-large'
    >>> learning_rate_findings({0.1: 0.5, 1.0: 0.05}, start=1.0, lr=0.1, steps=30, fall_in_whole_run=0.8)
    ()
    """
    own = loss_falls.get(1.0, float("nan"))
    evidence = tuple(Value(f"decrease of the loss at {lr * c:.2g}", g) for c, g in sorted(loss_falls.items()))
    smaller = {c: g for c, g in loss_falls.items() if c < 1 and isfinite(g)}
    larger = {c: g for c, g in loss_falls.items() if c > 1 and isfinite(g)}
    factor, best = max(smaller.items(), key=lambda one: one[1], default=(0.01, 0.0))
    # The loss fell in the whole run. Only its first steps were bad, which momentum can cause.
    settled = fall_in_whole_run is not None and fall_in_whole_run >= best
    rose = fall_in_whole_run is not None and max(own, fall_in_whole_run) < -MIN_LOSS_DECREASE * start and best > 0
    if (
        not isfinite(own) or rose or (best > MIN_LOSS_DECREASE * start and own < TOO_LARGE_RATIO * best and not settled)
    ):  # (1)
        values = {
            "steps": steps,
            "lr": lr,
            "change": f"{-own:+.2g}" if isfinite(own) else "not finite",
            "other": factor * lr,
            "best": -best,
        }
        return (Finding(kinds.TOO_LARGE_TO_LEARN, "optimizer", values, evidence, 1e-3),)
    factor, best = max(larger.items(), key=lambda one: one[1], default=(1.0, 0.0))
    patient = fall_in_whole_run is not None and fall_in_whole_run >= (
        best / 2 if best > MIN_LOSS_DECREASE * start else MIN_LOSS_DECREASE * start
    )
    small = own < (TOO_SMALL_RATIO_ALONE if fall_in_whole_run is None else TOO_SMALL_RATIO) * best  # (2)
    rising = [g for _, g in sorted({1.0: own, **larger}.items())]
    known = best > MIN_LOSS_DECREASE * start or (
        best > ROUNDING_SHARE * start and rising == sorted(rising) and len(rising) > 2
    )
    if not small or patient or not known:
        return ()
    more = "" if best > MIN_LOSS_DECREASE * start else " or more"
    values = {"steps": steps, "lr": lr, "own": own, "other": factor * lr, "best": best, "more": more}
    return (Finding(kinds.LEARNING_RATE_TOO_SMALL, "optimizer", values, evidence, 1e-3),)


def short_runs(
    module: nn.Module,
    x: Any,
    y: Tensor,
    *,
    loss: Any,
    optimizer: AbstractOptimizer,
    steps: int,
    batch: int,
    seed: int = 0,
    factors: tuple[float, ...] = (),
) -> tuple[dict[float, float], float]:
    """Trains copies for a few steps with multiples of the learning rate; returns how far the loss falls, and its
    initial value.

    ``factors`` are the multiples of the learning rate, if they are not chosen during the search as above.
    Cost: steps for each of at most `MAX_SHORT_RUNS` runs, and four passes over x without gradients for each.

    >>> import torch
    >>> from gnomon.training import SGD, Squared
    >>> x, y, rule = torch.ones(8, 1), torch.zeros(8), SGD(0.1)
    >>> falls, start = short_runs(nn.Linear(1, 1), x, y, loss=Squared(), optimizer=rule, steps=5, batch=8)
    >>> falls[1.0] > falls[0.1] > 0, sorted(falls)
    (True, [0.1, 1.0, 10.0])
    """
    falls: dict[float, float] = {}
    start = 0.0
    by_batch = partial(_loss_by_batch, x=x, y=y, loss=loss)

    def add(c: float) -> float:
        nonlocal start
        record = [steps - 2, steps - 1, steps] if steps > 4 else None
        run = train(module, (x, y), loss=loss, optimizer=scale_learning_rates(optimizer, c), steps=steps,
                    batch=batch, record=record, watch={"loss": by_batch}, seed=seed)  # fmt: skip
        start, *later = run.raise_if_interrupted().watched["loss"]
        falls[c] = start - mean(later[-3:]) if run.stopped == "finished" else nan
        return falls[c]

    if factors:
        return {c: add(c) for c in factors}, start
    own, less, more = add(1.0), add(0.1), add(10.0)
    if not (own > less):
        add(0.01)
    if more > own:
        add(100.0)
    while (
        not own > 0
        and min(falls) > MIN_RATE_FACTOR
        and not any(fall > MIN_LOSS_DECREASE * start for fall in falls.values())
    ):
        add(min(falls) / 10)
    return falls, start


def _loss_by_batch(step: int, model: nn.Module, measured: float, *, x: Any, y: Tensor, loss: Any) -> float:
    """Returns the loss with the batch statistics of batch norm; for networks without batch norm, the loss already
    measured.
    """
    norms = [part for part in model.modules() if isinstance(part, BATCH_NORMS)]
    if not norms:
        return measured
    objective = Objective.of((x, y), model, loss)
    with preserve(model, grad=False):
        for part in norms:
            part.training = True
        return mean(float(objective.value(model, *pair)) for pair in objective.batches())


def scale_learning_rates(optimizer: AbstractOptimizer, factor: float) -> AbstractOptimizer:
    """Returns a copy of the optimizer whose learning rates are multiplied by a factor.

    >>> from gnomon.training import SGD
    >>> scale_learning_rates(SGD(0.1), 10.0).lr
    1.0
    """
    if not isinstance(optimizer, TorchOptimizer):
        own: Any = optimizer
        changed: AbstractOptimizer = replace(own, lr=optimizer.lr * factor)
        return changed
    inner = optimizer.build

    def build(parameters: Any) -> Any:
        made = inner(parameters)
        for group in made.param_groups:
            group["lr"] = group["lr"] * factor
        return made

    return replace(optimizer, lr=optimizer.lr * factor, build=build)
