"""The store of tiles: what is finished, what is pending, and what a kill may leave behind."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.linalg.store import StoreLayout, open_store, unfinished_tiles, write_tile

zarr = pytest.importorskip("zarr")

LAYOUT = StoreLayout(("a", "b"), (5, 5), "float64", 2, "mine", {"beside": np.arange(3.0)})


def fill(group, stop=None):
    for i, j in unfinished_tiles(group, symmetric=True):
        if (i, j) == stop:
            return
        shape = (min(2, 5 - 2 * i), min(2, 5 - 2 * j))
        tile = np.full(shape, 10.0 * i + j)
        write_tile(group, i, j, {"a": tile, "b": -tile}, mirrored=True)


def test_tiles_are_finished_one_after_another_and_mirrored(tmp_path):
    group = open_store(tmp_path / "k", LAYOUT)
    assert list(unfinished_tiles(group, symmetric=True)) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert len(list(unfinished_tiles(group, symmetric=False))) == 9
    fill(group, stop=(2, 0))
    again = open_store(tmp_path / "k", LAYOUT)
    assert list(unfinished_tiles(again, symmetric=True)) == [(2, 0), (2, 1), (2, 2)]
    fill(again)
    assert not list(unfinished_tiles(again, symmetric=True))
    whole = again["a"][:]
    assert (whole == np.maximum(whole, whole.T)).all() and whole[4, 1] == 20 and whole[1, 4] == 20
    assert (again["b"][:] == -whole).all() and (again["beside"][:] == np.arange(3.0)).all()


def test_a_tile_without_its_byte_is_pending_whatever_is_in_the_array(tmp_path):
    group = open_store(tmp_path / "k", LAYOUT)
    group["a"][0:2, 0:2] = 7.0  # killed between the tile and the byte
    assert (0, 0) in list(unfinished_tiles(group, symmetric=True))
    write_tile(group, 0, 0, {"a": np.zeros((2, 2)), "b": np.zeros((2, 2))}, mirrored=False)
    (byte,) = [p for p in (tmp_path / "k" / "finished").rglob("*") if p.is_file() and p.name != "zarr.json"]
    byte.write_bytes(b"")  # killed while the byte was written: a file without it
    assert (0, 0) in list(unfinished_tiles(group, symmetric=True))


def test_a_store_that_a_kill_left_half_made_is_made_anew(tmp_path):
    (tmp_path / "k.new" / "a").mkdir(parents=True)
    (tmp_path / "k.new" / "zarr.json").write_text("{")
    group = open_store(tmp_path / "k", LAYOUT)
    assert set(group.array_keys()) == {"a", "b", "beside", "finished"} and not (tmp_path / "k.new").exists()


def test_another_fingerprint_or_folder_is_refused(tmp_path):
    open_store(tmp_path / "k", LAYOUT)
    with pytest.raises(InputError, match=".*belongs to another computation"):
        open_store(tmp_path / "k", StoreLayout(("a",), (5, 5), "float64", 2, "yours"))
    with pytest.raises(InputError, match="is not a kernel store"):
        open_store(tmp_path, LAYOUT)


def test_a_path_that_is_none_and_a_folder_that_is_missing_are_said(tmp_path):
    with pytest.raises(InputError, match="path must be a path, as text or as pathlib.Path, but it is 3"):
        open_store(3, LAYOUT)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/k' cannot be written \(NotADirectoryError"):
        open_store(tmp_path / "file" / "k", LAYOUT)


def test_an_error_inside_zarr_is_not_blamed_on_the_path(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise TypeError("open_group() got an unexpected keyword argument")

    monkeypatch.setattr(zarr, "open_group", broken)
    with pytest.raises(TypeError, match="unexpected keyword"):
        open_store(tmp_path / "k", LAYOUT)
