"""Stores kernel matrices on disk, tile by tile, so that an interrupted computation can continue.

A fingerprint of the network, its laws, the data and the options keeps a store from being continued with others.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.linalg.store import StoreLayout, open_store, unfinished_tiles, write_tile

Compute = Callable[[Tensor, Tensor | None], dict[str, Tensor]]


@dataclass(frozen=True, slots=True)
class StoreTask:
    """A kernel matrix to be stored: its two sets of points (``y=None``: the first set again), dtype and tile size."""

    x: Tensor
    y: Tensor | None
    kinds: tuple[str, ...]
    dtype: torch.dtype
    tile: int
    fingerprint: str


def write(path: str | Path, task: StoreTask, compute: Compute) -> Any:
    """Computes and stores all tiles of a kernel matrix that are not finished; returns the open Zarr group.

    Hypotheses: one process writes to a store at a time.
    Cost: computing the kernel; memory for one tile of each kind.
    """
    symmetric = task.y is None
    other = task.x if task.y is None else task.y
    word = str(task.dtype).removeprefix("torch.")
    layout = StoreLayout(task.kinds, (len(task.x), len(other)), word, task.tile, task.fingerprint)
    group = open_store(path, layout)
    side = int(group.attrs["tile"])
    for i, j in unfinished_tiles(group, symmetric=symmetric):
        rows, cols = slice(i * side, (i + 1) * side), slice(j * side, (j + 1) * side)
        values = compute(task.x[rows], None if symmetric and i == j else other[cols])
        write_tile(group, i, j, {kind: values[kind].numpy() for kind in task.kinds}, mirrored=symmetric)
    return group


def fingerprint(*things: Any) -> str:
    """Returns a digest of records, tensors, numbers and functions (by name), which is equal for equal values.

    >>> fingerprint(1.0, torch.ones(2)) == fingerprint(1.0, torch.ones(2)) != fingerprint(1.0, torch.zeros(2))
    True
    """
    digest = sha256()
    for thing in things:
        _feed(digest, thing)
    return digest.hexdigest()


def _feed(digest: Any, thing: Any) -> None:
    digest.update(type(thing).__name__.encode())
    if isinstance(thing, Tensor):
        digest.update(f"{tuple(thing.shape)}{thing.dtype}".encode())
        digest.update(thing.detach().cpu().contiguous().numpy().reshape(-1))
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            if field.compare:  # Fields that do not count for equality, such as caches, must not change the digest.
                _feed(digest, getattr(thing, field.name))
    elif isinstance(thing, tuple | list):
        digest.update(str(len(thing)).encode())
        for part in thing:
            _feed(digest, part)
    elif callable(thing):
        digest.update(str(getattr(thing, "__qualname__", type(thing).__qualname__)).encode())
    else:
        digest.update(repr(thing).encode())
