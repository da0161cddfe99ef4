"""Rejects npz files that would not fit into memory, before unpacking them."""

import zipfile
from pathlib import Path

from gnomon.core.errors import InputError
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes, free_bytes

__all__ = ["check_unpacked_size"]


def check_unpacked_size(path: Path) -> None:
    """Raises InputError if unpacking an npz file would need more than half of the free memory.

    A small file can unpack to terabytes. The sizes come from the table of contents: zipfile stops reading a member
    at the size that is stated there.

    >>> import tempfile
    >>> import numpy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.npz"
    ...     numpy.savez(path, x=numpy.zeros((4, 2)))
    ...     check_unpacked_size(path)
    """
    with zipfile.ZipFile(path) as file:
        needed = sum(member.file_size for member in file.infolist())
    limit = int(SHARE_OF_FREE_MEMORY * free_bytes())
    if needed > limit:
        raise InputError(
            f"{path} has {format_bytes(path.stat().st_size)} and unpacks to {format_bytes(needed)}",
            accepted=f"at most {format_bytes(limit)}, half of the free memory",
            fix="Save fewer examples, or use a machine with more memory",
        )
