"""Examines one case, trains the same network with a plain loop, and returns both as a dict that can be written as JSON."""

import time
import traceback
import warnings
from typing import Any

import torch

import gnomon
from evaluation.public_models.case import Case, Data
from evaluation.public_models.plain import points, train_plainly
from evaluation.public_models.reading import read_by
from gnomon.core.errors import GnomonError
from gnomon.core.results import Level
from gnomon.training import Run

REFERENCE_SHARE = 1 / 3
"""Share of the budget that the plain loop trains if the examination refused the model or did not train it."""


def run_case(case: Case, *, budget: float, seed: int = 0, compare: bool = True) -> dict[str, Any]:
    """Everything that the table states; ``missing`` if a package of the case is not installed."""
    base = {"id": case.id, "kind": case.kind, "source": case.source, "rewritten": case.rewritten, "budget": budget}
    try:
        torch.manual_seed(seed)
        count = sum(p.numel() for p in case.build().parameters())
        data = case.data(seed)
    except ImportError as error:
        return base | {"missing": str(error)}
    result = base | {"parameters": count} | _examined(case, data, budget, seed)
    seconds = result.get("training_seconds") or budget * REFERENCE_SHARE
    if compare:
        plain = train_plainly(case, data, seconds)
        result |= {"plain_points": plain.points, "plain_steps": plain.steps, "plain_seconds": plain.seconds}
    return result


def _examined(case: Case, data: Data, budget: float, seed: int) -> dict[str, Any]:
    start, processor = time.perf_counter(), time.process_time()
    options = {} if case.loss is None else {"loss": case.loss}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = gnomon.examine(
                case.build, data.train, data.test, optimizer=case.optimizer, batch=case.batch, budget=budget, seed=seed,
                **options,
            )  # fmt: skip
        except Exception as error:
            own = {} if isinstance(error, GnomonError) else {"crash": "".join(traceback.format_exception(error))}
            return own | {"accepted": False, "refused": str(error), "seconds": time.perf_counter() - start}
    seconds, busy = time.perf_counter() - start, time.process_time() - processor
    read = read_by(result, own_loss=case.loss is not None)
    run = result.products.get(Run)
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
        "training_seconds": 0.0 if run is None else run.seconds * min(1.0, busy / seconds),
        "points": None if run is None else points(case, run.model, data),
        "report": str(result),
    }
