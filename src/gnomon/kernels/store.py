"""Kernels on disk: tiles in a Zarr store, resumed after any kind of end.

The store is a group with one array per kernel and an array ``finished`` with one byte per tile. The byte is written
after its tile, and one byte is either there or not: a tile that looks finished is finished, even after SIGKILL.
A fingerprint of the network, its laws, the data and the options keeps a store from being continued with others.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import InputError, MissingExtraError, lesson

Compute = Callable[[Tensor, Tensor | None], dict[str, Tensor]]


@dataclass(frozen=True, slots=True)
class Task:
    """A kernel to be stored: both sets of points (None: the first with itself), its kinds, dtype, tile, fingerprint."""

    x: Tensor
    y: Tensor | None
    kinds: tuple[str, ...]
    dtype: torch.dtype
    tile: int
    fingerprint: str


def write(path: str | Path, task: Task, compute: Compute) -> Any:
    """Compute all tiles that are not finished; returns the open group.

    Hypotheses: one process writes to a store at a time.
    Cost: that of the kernel; memory for one tile of each kind.
    """
    group = _open(path, task)
    side, finished = int(group.attrs["tile"]), group["finished"]
    rows, cols = finished.shape
    for i in range(rows):
        for j in range(i + 1 if task.y is None else cols):
            if not _done(finished, i, j):
                _tile(group, task, compute, i, j, side)
    return group


def fingerprint(*things: Any) -> str:
    """A digest of records, tensors, numbers and functions (by name), equal for equal things. Cost: one pass over them.

    >>> fingerprint(1.0, torch.ones(2)) == fingerprint(1.0, torch.ones(2)) != fingerprint(1.0, torch.zeros(2))
    True
    """
    digest = sha256()
    for thing in things:
        _feed(digest, thing)
    return digest.hexdigest()


def _tile(group: Any, task: Task, compute: Compute, i: int, j: int, side: int) -> None:
    """One tile, its mirror image, and then the byte that says so."""
    rows, cols = slice(i * side, (i + 1) * side), slice(j * side, (j + 1) * side)
    other = task.x[cols] if task.y is None else task.y[cols]
    values = compute(task.x[rows], None if task.y is None and i == j else other)
    for kind in task.kinds:
        tile = values[kind].numpy()
        group[kind][rows, cols] = tile
        if task.y is None and i != j:
            group[kind][cols, rows] = tile.T
    group["finished"][i, j] = 1


def _open(path: str | Path, task: Task) -> Any:
    """The group of an earlier run with the same fingerprint, or a new one."""
    try:
        import zarr
    except ImportError:
        found = "zarr is not installed"
        cure = "Install the extra: pip install 'gnomon[zarr]'"
        raise MissingExtraError(lesson("limit(net).to_zarr(path, ...)", found, "the extra 'zarr'", cure)) from None
    if not Path(path).exists():
        return _create(zarr, Path(path), task)
    try:
        group = zarr.open_group(path, mode="r+")
        known = group.attrs.get("fingerprint")
    except (FileNotFoundError, ValueError):
        known = None
    if known != task.fingerprint:
        found = (
            f"{path} holds something else: another network, law, data set or option"
            if known
            else f"{path} exists and is no store of kernels"
        )
        cure = "Pass another path, or delete this one"
        raise InputError(lesson("limit(net).to_zarr(path, ...)", found, "a store continues one computation", cure))
    return group


def _create(zarr: Any, path: Path, task: Task) -> Any:
    """All arrays first, under another name: a store without them is never seen."""
    n, m = len(task.x), len(task.x if task.y is None else task.y)
    fresh = path.with_name(path.name + ".new")
    group = zarr.open_group(fresh, mode="w", attributes={"fingerprint": task.fingerprint, "tile": task.tile})
    word = np.dtype(str(task.dtype).removeprefix("torch."))
    for kind in task.kinds:
        group.create_array(kind, shape=(n, m), chunks=(min(task.tile, n), min(task.tile, m)), dtype=word)
    shape = (ceil(n / task.tile), ceil(m / task.tile))
    group.create_array("finished", shape=shape, chunks=(1, 1), dtype="uint8", compressors=None, fill_value=0)
    fresh.rename(path)
    return zarr.open_group(path, mode="r+")


def _done(finished: Any, i: int, j: int) -> bool:
    """A byte that was never written, or not fully, reads as zero or not at all."""
    try:
        return bool(finished[i, j] == 1)
    except (ValueError, RuntimeError, OSError):
        return False


def _feed(digest: Any, thing: Any) -> None:
    digest.update(type(thing).__name__.encode())
    if isinstance(thing, Tensor):
        digest.update(f"{tuple(thing.shape)}{thing.dtype}".encode())
        digest.update(thing.detach().cpu().contiguous().numpy().tobytes())
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            _feed(digest, getattr(thing, field.name))
    elif isinstance(thing, tuple | list):
        digest.update(str(len(thing)).encode())
        for part in thing:
            _feed(digest, part)
    elif callable(thing):
        digest.update(str(getattr(thing, "__qualname__", type(thing).__qualname__)).encode())
    else:
        digest.update(repr(thing).encode())
