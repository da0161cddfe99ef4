"""Makes copies of the project, one for each worker, in which errors are planted."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

from tools.mutate.mutants import Mutant, plant_error

__all__ = ["Shadow"]

LEFT_OUT = (".git", ".venv*", "build", "dist", ".*_cache", ".hypothesis", "*.egg-info", "site")
_seconds = count(2, 2)


class Shadow:
    """A copy of the project in which errors are planted; file times are copied, so that compiled caches stay valid."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.project = folder / "project"

    def refresh(self) -> None:
        """Updates the copy of the project: copies new and changed files, and removes deleted ones."""
        self.project.mkdir(parents=True, exist_ok=True)
        wanted = set(_files(self.root))
        for name in wanted:
            _copy(self.root / name, self.project / name)
        for name in set(_files(self.project)) - wanted:
            if "__pycache__" not in name.parts:
                (self.project / name).unlink()
        data = self.root.parent / "shared"  # reference data that some tests read from the folder next to the project
        if data.is_dir() and not (self.folder / "shared").exists():
            (self.folder / "shared").symlink_to(data)

    def take_caches(self, other: "Shadow") -> None:
        """Takes compiled files from another copy of the project if they are missing here."""
        for name in _files(other.project):
            if "__pycache__" in name.parts and not (self.project / name).exists():
                _copy(other.project / name, self.project / name)

    @contextmanager
    def plant(self, mutant: Mutant | None) -> Iterator[None]:
        """Context manager in which an error is planted in the copy of the project; removes the error at the end.

        The mutated file gets a time that no other version of it has: Python and numba then compile it anew.
        """
        if mutant is None:
            yield
            return
        path = self.project / mutant.file
        data, stat = path.read_bytes(), path.stat()
        later = stat.st_mtime_ns + next(_seconds) * 10**9
        try:
            path.write_bytes(plant_error(mutant, data))
            os.utime(path, ns=(later, later))
            yield
        finally:
            path.write_bytes(data)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _files(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if not any(fnmatch(name, pattern) for pattern in LEFT_OUT)]
        for name in names:
            yield Path(folder, name).relative_to(root)


def _copy(source: Path, target: Path) -> None:
    stat = source.stat()
    if target.exists():
        known = target.stat()
        cache = "__pycache__" in source.parts and known.st_mtime_ns >= stat.st_mtime_ns
        if cache or (known.st_mtime_ns, known.st_size) == (stat.st_mtime_ns, stat.st_size):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
