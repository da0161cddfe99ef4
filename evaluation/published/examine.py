"""Examines one case and writes the complete answer as text."""

import io
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import torch

import gnomon
from evaluation.published.case import PublishedCase, Recipe
from evaluation.published.data.load import SkippedCase


def examine_case(case: PublishedCase, *, budget: float, seed: int, cpu_time: bool = False) -> str:
    """The text to judge: what the case is, then everything that the examination says.

    ``cpu_time`` measures the budget in processor time, so that other programs on the machine do not shorten it.
    """
    head = [f"case: {case.id}", f"kind: {case.kind}", f"source: {case.source}", f"cause: {case.cause}"]
    head += [f"fix: {case.fix}" if case.kind == "faulty" else f"plain loop reaches: {case.score}"]
    try:
        recipe, _ = case.build()
    except SkippedCase as reason:
        return "\n".join([*head, f"skipped: {reason}", ""])
    printed, start, cpu_start = io.StringIO(), time.perf_counter(), time.process_time()
    with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
        warnings.simplefilter("default")
        answer = _answer(recipe, budget, seed, time.process_time if cpu_time else time.perf_counter)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    head += [f"budget: {budget:g} s of {'processor' if cpu_time else 'wall'} time"]
    head += [f"wall time: {seconds:.1f} s", f"processor time: {cpu_seconds:.1f} s"]
    return "\n".join([*head, *answer, "", "--- printed meanwhile ---", printed.getvalue(), ""])


def _answer(recipe: Recipe, budget: float, seed: int, clock: Callable[[], float]) -> list[str]:
    torch.manual_seed(seed)
    try:
        result = gnomon.examine(
            recipe.network, recipe.train, recipe.test, budget=budget, seed=seed, clock=clock, **recipe.options()
        )
    except Exception as error:
        return [f"refused: {type(error).__name__}: {error}"]
    lines = [f"verdict: {result.verdict}", f"healthy: {result.healthy}", f"findings: {len(result.findings)}"]
    for finding in result.findings:
        lines += [f"  [{finding.level.name.lower()}] {finding.kind}", f"    message: {finding.message}"]
        lines += [f"    fix: {finding.fix}"]
    return [*lines, "", "--- printed answer ---", str(result)]


def write_answer(case: PublishedCase, folder: Path, *, budget: float, seed: int, cpu_time: bool = False) -> Path:
    """Writes the answer to <folder>/<kind>/<id>.txt, unless it is there already."""
    path = folder / case.kind / f"{case.id}.txt"
    if not path.exists():
        text = examine_case(case, budget=budget, seed=seed, cpu_time=cpu_time)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path
