"""Shows with plain loops that a fault does harm and that a healthy case reaches its score."""

import time
from typing import Any

import torch

from evaluation.published.case import PublishedCase
from evaluation.published.data.load import SkippedCase
from evaluation.published.plain import plain_score


def verify(case: PublishedCase, *, seeds: int = 2) -> dict[str, Any]:
    """The mean scores of a plain loop over the seeds, and whether they are as the case says."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    try:
        given, fixed = case.build()
    except SkippedCase as reason:
        return {"id": case.id, "kind": case.kind, "skipped": str(reason)}
    score = _mean_score(given, seeds)
    record = {"id": case.id, "kind": case.kind, "score": round(score, 4)}
    if fixed is None:
        record |= {"stated": case.score, "ok": score >= case.score}
    else:
        score_fixed = _mean_score(fixed, seeds)
        gain = score_fixed - score if case.harm == "worse" else score - score_fixed
        record |= {"fixed": round(score_fixed, 4), "harm": case.harm, "ok": gain >= case.margin}
    return record | {"seconds": round(time.perf_counter() - start, 1)}


def _mean_score(recipe, seeds: int) -> float:
    return sum(plain_score(recipe, seed) for seed in range(seeds)) / seeds
