"""Runs many theory claims with many seeds, in parallel processes or on a Dask cluster; resumes from a file after
interruption.

>>> outcomes = list(run_claims([ClaimTask("perceptron-novikoff", seed=s) for s in (0, 1)]))
>>> [outcome["verdict"] for outcome in outcomes]
['holds', 'holds']
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gnomon.atlas.catalog import select_entries
from gnomon.atlas.grids.chart import chart_of_outcome
from gnomon.core.errors import InputError, MissingExtraError
from gnomon.core.machine.files import append_text
from gnomon.core.results.record import Record
from gnomon.lab import run_claim
from gnomon.lab.claim import Scale

__all__ = ["ClaimTask", "read_claim_outcomes", "run_claims"]

MAX_CHART_POINTS = 60
"""Points of each curve that are kept for the page of a claim."""


@dataclass(frozen=True, slots=True)
class ClaimTask(Record):
    """One run of a theory claim: its id, its scale (short or full), its seed, and the user's parameters."""

    id: str
    scale: Scale = "smoke"
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)


def run_claims(
    tasks: Sequence[ClaimTask], *, jobs: int = 1, scheduler: str | None = None, out: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Runs theory claims and yields each result as a dict; results that are already in the file ``out`` are not
    computed again.

    Args:
        tasks: what to run.
        jobs: processes on this machine.
        scheduler: address of a Dask scheduler whose workers run the claims instead.
        out: a file to which each outcome is added as one line of JSON as soon as it is there; a later call with the
            same file runs only what is missing.

    Cost: the same as the claims.

    >>> list(run_claims([]))
    []
    """
    done = read_claim_outcomes(out)
    missing = []
    for task in tasks:
        if _key(task) in done:
            yield done[_key(task)]
        else:
            missing.append(task)
    for task, outcome in _compute_tasks(missing, jobs, scheduler):
        row = outcome | {"scale": task.scale, "seed": task.seed, "settings": dict(task.settings)}
        if out is not None:
            append_text(out, json.dumps(row, allow_nan=False) + "\n")
        yield row


def _one(task: ClaimTask) -> dict[str, Any]:
    claim = select_entries([task.id])[0].claim
    outcome = run_claim(claim, task.settings, scale=task.scale, seed=task.seed)
    return {**outcome.to_dict(), "chart": chart_of_outcome(outcome, MAX_CHART_POINTS)}


def _compute_tasks(
    tasks: list[ClaimTask], jobs: int, scheduler: str | None
) -> Iterator[tuple[ClaimTask, dict[str, Any]]]:
    if scheduler is not None:
        yield from _on_cluster(tasks, scheduler)
    elif jobs <= 1 or len(tasks) <= 1:
        yield from ((task, _one(task)) for task in tasks)
    else:
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from multiprocessing import get_context

        with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_single_thread) as pool:
            futures = {pool.submit(_one, task): task for task in tasks}
            try:
                yield from ((futures[future], future.result()) for future in as_completed(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _single_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _on_cluster(tasks: list[ClaimTask], scheduler: str) -> Iterator[tuple[ClaimTask, dict[str, Any]]]:
    try:
        from dask.distributed import Client, as_completed
    except ImportError as error:
        raise MissingExtraError("atlas run --scheduler needs the extra 'dask': pip install 'gnomon[dask]'.") from error
    try:
        client = Client(scheduler, timeout="20s")
    except (OSError, TimeoutError) as error:
        raise InputError(f"atlas run: no Dask scheduler answers at {scheduler!r}.") from error
    with client:
        futures = {client.submit(_one, task, pure=False): task for task in tasks}
        yield from ((futures[future], future.result()) for future in as_completed(futures))


def _key(task: ClaimTask) -> str:
    return json.dumps({**asdict(task), "settings": {k: str(v) for k, v in task.settings.items()}}, sort_keys=True)


def read_claim_outcomes(out: Path | None) -> dict[str, dict[str, Any]]:
    """Reads results of earlier runs of claims from a file; ignores a last line that a crash cut off.

    Cost: the file is read.

    >>> read_claim_outcomes(None)
    {}
    """
    rows = {}
    for line in out.read_text(encoding="utf-8").splitlines() if out is not None and out.exists() else ():
        try:
            row = json.loads(line)
            rows[_key(ClaimTask(row["id"], row["scale"], row["seed"], row["settings"]))] = row
        except (json.JSONDecodeError, KeyError):
            continue
    return rows
