"""Examines one case, trains the same network with a plain loop, and returns both as a dict that can be written as JSON."""

import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch

import gnomon
from evaluation.public_models.case import Case, Data
from evaluation.public_models.plain import PlainPoint, points, points_at, train_plainly
from evaluation.public_models.reading import read_case
from gnomon.adapter.view import original_module
from gnomon.core.errors import GnomonError
from gnomon.core.results import Level
from gnomon.training import TrainingRun

CURVE_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""Shares of the budget at which a plain loop is scored."""
REFERENCE_SHARE = 1 / 3
"""Share of the budget that the plain loop trains if the examination refused the model or did not train it."""


def run_case(
    case: Case,
    *,
    budget: float,
    seed: int = 0,
    curve: Sequence[PlainPoint] | None = None,
    compare: bool = True,
    cpu_time: bool = False,
) -> dict[str, Any]:
    """Everything that the table states; ``missing`` if a package of the case is not installed.

    ``curve`` are points of an earlier plain loop; without it a new loop trains for as long as the examination trained.
    ``cpu_time`` counts the budget in processor time, which other programs on the machine do not use up.
    """
    base = {"id": case.id, "kind": case.kind, "source": case.source, "rewritten": case.rewritten, "budget": budget,
            "cpu_time": cpu_time}  # fmt: skip
    try:
        torch.manual_seed(seed)
        count = sum(p.numel() for p in case.build().parameters())
        data = case.data(seed)
    except ImportError as error:
        return base | {"missing": str(error)}
    result = (
        base
        | {"parameters": count}
        | _examined(case, data, budget, seed, time.process_time if cpu_time else time.perf_counter)
    )
    seconds = result.get("training_seconds") or budget * REFERENCE_SHARE
    if compare:
        curve = train_plainly(case, data, [seconds]) if curve is None else curve
        last = curve[-1]
        result |= {
            "plain_points": points_at(curve, seconds),
            "plain_best": max(point.points for point in curve),
            "plain_steps_per_second": last.steps / last.seconds,
        }
    return result


def read_only(case: Case, *, seed: int = 0) -> str:
    """How a case is read, in one line, without examining it."""
    try:
        read = read_case(case, case.data(seed), seed)
    except Exception as error:
        return f"{case.id}: refused: {' '.join(str(error).split())}"
    losses = "" if read.loss is None else f" Loss {read.loss:.5g}, plain loop {read.plain_loss:.5g}."
    said = f"{read.reading}, {read.classes} classes. {read.text}{losses}".strip()
    return f"{case.id}: {'right' if read.agrees(case) else 'WRONG'}: {said}"


def plain_curve(case: Case, *, budget: float, seed: int = 0) -> dict[str, Any]:
    """Points of a plain loop over the time of a budget, as a dict that can be written as JSON."""
    try:
        data = case.data(seed)
        times = [budget * share for share in CURVE_SHARES]
        return {"id": case.id, "curve": [asdict(point) for point in train_plainly(case, data, times)]}
    except ImportError as error:
        return {"id": case.id, "missing": str(error)}


def _examined(case: Case, data: Data, budget: float, seed: int, clock: Callable[[], float]) -> dict[str, Any]:
    start, processor = time.perf_counter(), time.process_time()
    options = {} if case.loss is None else {"loss": case.loss}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = gnomon.examine(
                case.build, data.train, data.test, optimizer=case.optimizer, batch=case.batch, budget=budget, seed=seed,
                clock=clock, **options,
            )  # fmt: skip
        except Exception as error:
            own = {} if isinstance(error, GnomonError) else {"crash": "".join(traceback.format_exception(error))}
            return own | {"accepted": False, "refused": str(error), "seconds": time.perf_counter() - start}
    seconds, busy = time.perf_counter() - start, time.process_time() - processor
    share = 1.0 if clock is time.process_time else min(1.0, busy / seconds)  # of the processor that this program had
    read = read_case(case, data, seed)
    run = result.products.get(TrainingRun)
    return {
        "accepted": True,
        "reading": read.reading,
        "classes": read.classes,
        "reading_text": read.text,
        "read_correctly": read.agrees(case),
        "verdict": result.verdict,
        "healthy": result.healthy,
        "findings": [[f.level.name.lower(), f.kind, f.message] for f in result.findings],
        "problems": [f.kind for f in result.findings if f.level is Level.PROBLEM],
        "false_problems": [f.kind for f in result.problems if f.kind not in case.known_findings],
        "failed_sections": [[s.key, s.answer] for s in result.sections if s.state == "failed"],
        "unanswered": [s.key for s in result.sections if s.state in ("late", "skipped")],
        "seconds": seconds,
        "processor_seconds": busy,
        "training_steps": 0 if run is None else int(run.steps[-1]),
        "training_seconds": 0.0 if run is None else run.seconds * share,
        "points": None if run is None else points(case, original_module(run.model), data),
        "report": str(result),
    }
