"""Archives that unpack to more than the memory are refused before they are unpacked."""

import zipfile

import numpy as np
import pytest

from gnomon.cli import archives
from gnomon.cli.sources import load_data
from gnomon.core.errors import InputError


def test_a_small_file_that_unpacks_to_more_than_half_of_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)), y=np.zeros(1000))
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(archives, "free_bytes", lambda: 2 * (8_008_000 + 256) - 2)
    with pytest.raises(InputError, match="unpacks to 7.6 MiB .expected at most 7.6 MiB, half of the free memory"):
        load_data(str(path), None, 0)
    monkeypatch.setattr(archives, "free_bytes", lambda: 2 * (8_008_000 + 256))
    assert load_data(str(path), None, 0).train[0].shape[1:] == (1000,)


def test_an_array_that_claims_more_numbers_than_its_file_has_is_refused(tmp_path):
    path = tmp_path / "liar.npz"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 3), }"
    header = header.ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="cannot be read"):
        load_data(str(path), None, 0)
