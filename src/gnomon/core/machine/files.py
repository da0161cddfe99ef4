"""Writes files completely or not at all: if the disk is full, the old file stays and the error says what to do.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> write_file(folder / "pages" / "report.html", "<p>All is well.</p>").name
'report.html'
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from gnomon.core.errors import WriteError

__all__ = ["append_text", "write_error", "write_file"]

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers for which another disk or less data helps: full disk, exceeded quota, too large file."""


def write_file(path: str | Path, content: str | bytes) -> Path:
    """Writes a file completely or not at all: writes a temporary file first, then renames it. Returns the path.

    The folder is made if it does not exist. A symbolic link stays, and its target is replaced. Devices, pipes, and
    files in a folder in which no file can be created are written in place.

    Args:
        path: the file.
        content: text, which is encoded as UTF-8, or bytes.
        call: what the user called, for the message of a `WriteError`.

    Cost: one write to the disk.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "kernel.bin"
    >>> write_file(file, b"1234").read_bytes()
    b'1234'
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if _in_place(place):
            place.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(place)), data)
    except OSError as reason:
        kept = "" if _in_place(place) or not place.is_file() else "The previous file is unchanged. "
        raise write_error(place, reason, kept) from reason
    return place


def append_text(path: str | Path, text: str) -> None:
    """Appends text to a file; if writing fails, restores the file's previous length.

    Cost: one write to the disk.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "log.csv"
    >>> append_text(file, "step,loss\\n")
    >>> append_text(file, "1,0.5\\n")
    >>> file.read_text()
    'step,loss\\n1,0.5\\n'
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        existed = place.exists()
        before = place.stat().st_size if place.is_file() else None
        try:
            with place.open("ab") as file:
                file.write(text.encode("utf-8"))
        except OSError:
            if before is not None:
                os.truncate(place, before)
            elif not existed:
                place.unlink(missing_ok=True)
            raise
    except OSError as reason:
        kept = "Its previous content is unchanged. " if place.is_file() else ""
        raise write_error(place, reason, kept) from reason


def write_error(path: str | Path, reason: OSError, kept: str = "") -> WriteError:
    """Creates (but does not raise) the error for a file that cannot be written, with path, reason and fix.

    >>> print(write_error("report.html", OSError(errno.ENOSPC, "No space left on device")))
    cannot write report.html: No space left on device. Free some disk space, or pass another path.
    """
    space = reason.errno in NO_SPACE
    fix = "Free some disk space" if space else "Check the folder and its permissions"
    return WriteError(f"cannot write {path}: {reason.strerror or reason}. {kept}{fix}, or pass another path")


def _in_place(path: Path) -> bool:
    """Checks whether a path must be written directly, without a temporary file: devices, pipes, files in read-only
    folders.
    """
    try:
        if Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",)):
            # Writes directly: replacing /dev/stdout would detach it from the file to which the shell redirects.
            return True
        return path.exists() and (not path.is_file() or not os.access(os.path.realpath(path.parent), os.W_OK))
    except OSError:
        return False


def _replace(target: Path, data: bytes) -> None:
    """Writes new content to a temporary file and renames it to ``target``; removes the temporary file if anything
    fails.
    """
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # The temporary file has a random name, because the target's name may already have the maximum length.
    fresh = target.with_name(f".gnomon-{token_hex(8)}.tmp")
    try:
        with fresh.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # Some file systems report a full disk only at this call.
        if mode is not None:
            fresh.chmod(mode)
        os.replace(fresh, target)
    except BaseException:  # includes Ctrl-C
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
