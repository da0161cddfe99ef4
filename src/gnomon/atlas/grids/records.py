"""Stores the results of each theory claim as a JSON file inside the package, and reads them for the web pages.

>>> stored_record("no-such-claim") is None
True
"""

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.atlas.catalog import CatalogEntry, select_entries
from gnomon.atlas.grids.compute import compute_record, settings_of_record
from gnomon.core.machine.files import write_file

__all__ = ["compute_records", "is_record_current", "records_folder", "stored_record"]


def records_folder() -> Path:
    """Returns the folder inside the package that stores the results of theory claims.

    >>> records_folder().name
    'records'
    """
    return Path(str(files("gnomon.atlas") / "records"))


def stored_record(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """Reads the stored results of a theory claim; returns None if nothing is stored.

    Cost: a file of at most 12 kB is read.

    >>> stored_record("") is None
    True
    """
    path = (folder or records_folder()) / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def is_record_current(entry: CatalogEntry, folder: Path | None = None) -> bool:
    """Checks whether the stored results of a claim were computed with the claim's current parameters.

    >>> from pathlib import Path
    >>> is_record_current(select_entries(["softmax"])[0], Path("no-such-folder"))
    False
    """
    record = stored_record(entry.claim.id, folder)
    return record is not None and record["settings"] == settings_of_record(entry.claim)


def compute_records(
    ids: Sequence[str] = (), *, jobs: int = 1, folder: Path | None = None, again: bool = False
) -> Iterator[tuple[str, str, int, int]]:
    """Computes and stores the results of theory claims; yields id, status, number and total after each.

    Args:
        ids: claims or kinds; all if empty.
        jobs: number of processes.
        folder: the folder of the stored files; by default inside the package.
        again: computes results again that are stored already. Otherwise an interrupted call continues.

    Cost: about 30 minutes of one core for all claims.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> list(compute_records(["softmax"], folder=folder)), list(compute_records(["softmax"], folder=folder))
    ([('softmax', '7 points over k', 1, 1)], [])
    """
    place = folder or records_folder()
    entries = select_entries(list(ids))
    missing = [e.claim.id for e in entries if again or not is_record_current(e, place)]
    done = len(entries) - len(missing)
    for number, (name, record) in enumerate(_compute_each(missing, jobs), done + 1):
        write_file(place / f"{name}.json", json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n")
        grid = record["grid"]
        what = "no slider" if grid is None else f"{len(grid['points'])} points over {' and '.join(grid['names'])}"
        yield name, what, number, len(entries)


def _compute_each(names: list[str], jobs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if jobs <= 1 or len(names) <= 1:
        yield from ((name, _one(name)) for name in names)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_single_thread) as pool:
        futures = {pool.submit(_one, name): name for name in names}
        yield from ((futures[future], future.result()) for future in as_completed(futures))


def _one(name: str) -> dict[str, Any]:
    return compute_record(select_entries([name])[0].claim)


def _single_thread() -> None:
    import torch

    torch.set_num_threads(1)
