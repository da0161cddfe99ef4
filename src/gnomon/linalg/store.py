"""Stores matrices on disk as tiles in a Zarr store; a run can be resumed after any interruption.

The store is a group with arrays of one shape and an array ``finished`` with one byte per tile. The byte is written
after its tile, and one byte is either there or not: a tile that looks finished is finished, even after SIGKILL.
A fingerprint keeps a store from being continued by another computation. A store is made under another name and moved
to its own when all its arrays exist: one without them is never seen.

Hypotheses: one process writes to a store at a time; the operating system lives on (a power cut may lose more).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, MissingExtraError, add_call_to_errors, out_of_range_error
from gnomon.core.machine.files import write_error
from gnomon.core.results.record import Record

__all__ = ["StoreLayout", "open_store", "unfinished_tiles", "write_tile"]


@dataclass(frozen=True, slots=True, eq=False)
class StoreLayout(Record):
    """The layout of a matrix store on disk: arrays of one shape in square tiles, and small arrays that are written
    once.

    ``packed`` says whether tiles are compressed; numbers of a kernel hardly shrink, and packing takes longer
    than a disk.

    >>> StoreLayout(("ntk",), (4, 4), "float64", side=2, fingerprint="mine").packed
    True
    """

    names: tuple[str, ...]
    shape: tuple[int, int]
    dtype: str
    side: int
    fingerprint: str
    beside: Mapping[str, np.ndarray] = field(default_factory=dict)
    packed: bool = True


def open_store(path: Any, layout: StoreLayout) -> Any:
    """Opens the matrix store of an earlier run with the same fingerprint, or creates one; else raises an error.

    Cost: some small files.

    >>> from tempfile import TemporaryDirectory
    >>> layout = StoreLayout(("ntk",), (4, 4), "float64", side=2, fingerprint="mine")
    >>> with TemporaryDirectory() as folder:
    ...     sorted(open_store(folder + "/kernel", layout).array_keys())
    ['finished', 'ntk']
    """
    try:
        import zarr
    except ImportError:
        fix = "Install the extra: pip install 'gnomon[zarr]'"
        raise MissingExtraError("zarr is not installed", accepted="the extra 'zarr'", fix=fix) from None
    if not isinstance(path, str | PathLike):
        raise out_of_range_error("path", "a path, as text or as pathlib.Path", path)
    try:
        if not Path(path).exists():
            return _create(zarr, Path(path), layout)
    except OSError as error:  # The store's folder is missing or not writable.
        what = f"{str(path)!r} cannot be written ({type(error).__name__}: {error})"
        raise InputError(what, accepted="a path in a writable folder", fix="Pass another path") from error
    try:
        group = zarr.open_group(path, mode="r+")
        known = group.attrs.get("fingerprint")
    except (FileNotFoundError, ValueError):
        known = None
    if known != layout.fingerprint:
        other = f"{path} belongs to another computation (different network, law, data set or option)"
        refuse(other if known else f"{path} exists and is not a kernel store")
    return group


def refuse(what: str) -> None:
    """Raises the error for a matrix store that belongs to another computation."""
    fix = "Pass another path, or delete this one"
    raise InputError(what, accepted="a new path, or the store of the same computation", fix=fix)


def unfinished_tiles(group: Any, *, symmetric: bool) -> Iterator[tuple[int, int]]:
    """Yields tiles of a stored matrix that are not finished, row by row; for a symmetric matrix only the lower
    triangle.

    Cost: one small file for each tile.

    >>> from tempfile import TemporaryDirectory
    >>> layout = StoreLayout(("ntk",), (4, 4), "float64", side=2, fingerprint="mine")
    >>> with TemporaryDirectory() as folder:
    ...     list(unfinished_tiles(open_store(folder + "/kernel", layout), symmetric=True))
    [(0, 0), (1, 0), (1, 1)]
    """
    rows, cols = group["finished"].shape
    for i in range(rows):
        for j in range(i + 1 if symmetric else cols):
            if not _is_done(group["finished"], i, j):
                yield i, j


@add_call_to_errors
def write_tile(group: Any, i: int, j: int, tiles: Mapping[str, np.ndarray], *, mirrored: bool) -> None:
    """Writes one tile of each stored array, if requested also its transpose, and then marks the tile as finished.

    Cost: one write to the disk.

    >>> from tempfile import TemporaryDirectory
    >>> layout = StoreLayout(("ntk",), (2, 2), "float64", side=2, fingerprint="mine")
    >>> with TemporaryDirectory() as folder:
    ...     group = open_store(folder + "/kernel", layout)
    ...     write_tile(group, 0, 0, {"ntk": np.eye(2)}, mirrored=False)
    ...     list(unfinished_tiles(group, symmetric=True))
    []
    """
    side = int(group.attrs["tile"])
    rows, cols = slice(i * side, (i + 1) * side), slice(j * side, (j + 1) * side)
    try:
        for name, tile in tiles.items():
            group[name][rows, cols] = tile
            if mirrored and i != j:
                group[name][cols, rows] = tile.T
        group["finished"][i, j] = 1
    except OSError as reason:
        kept = "Finished tiles are kept, and the same call continues after them. "
        raise write_error(str(group.store_path), reason, kept) from reason


def fetch(array: Any, place: tuple[int, int], out: np.ndarray) -> np.ndarray:
    """Reads rows of a stored tile from a start position into a buffer as wide as the tile; returns the buffer.

    The file of a tile that is not packed is its numbers, row by row. Zarr would read the whole tile and copy it once
    more, each time into memory that its threads keep.

    Hypotheses: the array is not packed, and lies on a disk of this machine.
    """
    rows, columns = array.chunks
    name = array.metadata.encode_chunk_key((place[0] // rows, place[1] // columns))
    try:
        with open(Path(array.store.root) / array.path / name, "rb") as file:
            file.seek(place[0] % rows * columns * out.itemsize)
            count = file.readinto(out.data.cast("B"))
    except FileNotFoundError:  # zarr writes no file for a tile that contains only zeros.
        out[:] = 0
        return out
    if count != out.nbytes:
        raise OSError(f"{name} of {array.store.root} ends too early. The store is damaged; delete it")
    return out


def _create(zarr: Any, path: Path, layout: StoreLayout) -> Any:
    fresh = path.with_name(path.name + ".new")
    attributes = {"fingerprint": layout.fingerprint, "tile": layout.side}
    group = zarr.open_group(fresh, mode="w", attributes=attributes)
    chunks = (min(layout.side, layout.shape[0]), min(layout.side, layout.shape[1]))
    packing = "auto" if layout.packed else None
    for name in layout.names:
        group.create_array(name, shape=layout.shape, chunks=chunks, dtype=layout.dtype, compressors=packing)
    for name, values in layout.beside.items():
        group.create_array(name, shape=values.shape, dtype=values.dtype)[...] = values
    shape = (ceil(layout.shape[0] / layout.side), ceil(layout.shape[1] / layout.side))
    group.create_array("finished", shape=shape, chunks=(1, 1), dtype="uint8", compressors=None, fill_value=0)
    fresh.rename(path)
    return zarr.open_group(path, mode="r+")


def _is_done(finished: Any, i: int, j: int) -> bool:
    """Whether a tile of a stored matrix is finished; a byte that was not fully written reads as zero or is missing."""
    try:
        return bool(finished[i, j] == 1)
    except (ValueError, RuntimeError, OSError):
        return False
