"""Runs a script as Python would, and records how it ended: its exit code, exception and traceback.

>>> ScriptEnding(SystemExit(3)).words, ScriptEnding(SystemExit(0)).is_complete
('the script called sys.exit(3)', True)
"""

import builtins
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gnomon.core.errors import InputError
from gnomon.examination.script.termination import ScriptTerminated

__all__ = ["ScriptEnding", "check_script_exists", "run_script"]


@dataclass(frozen=True, slots=True)
class ScriptEnding:
    """How a script ended: with an exception, with sys.exit, or normally (None)."""

    exception: BaseException | None = None

    @property
    def is_complete(self) -> bool:
        """Checks whether the script reached its end or exited without an error."""
        return self.exception is None or (isinstance(self.exception, SystemExit) and not self.exception.code)

    @property
    def words(self) -> str:
        """Says in a few words for the report how the script ended."""
        error = self.exception
        if self.is_complete or error is None:
            return "the script finished"
        if isinstance(error, KeyboardInterrupt):
            return "the script was interrupted"
        if isinstance(error, SystemExit):
            return f"the script called sys.exit({error.code!r})"
        if isinstance(error, ScriptTerminated):
            return "a signal terminated the script"
        first = (str(error).splitlines() or [""])[0]
        return f"the script raised {type(error).__name__}: {first}"[:200]


def check_script_exists(script: str, *, module: bool) -> None:
    """Raises `InputError` if the script file or module does not exist.

    >>> check_script_exists("json.tool", module=True)
    """
    if not module and not Path(script).is_file():
        raise InputError(f"File not found: {script}")
    if module:
        sys.path.insert(0, os.getcwd())
        try:
            found = importlib.util.find_spec(script)
        except (ImportError, ValueError):
            found = None
        finally:
            sys.path.pop(0)
        if found is None:
            raise InputError(f"no module is called {script}", accepted="a module that python -m finds")


def run_script(script: str, arguments: Sequence[str], *, module: bool = False) -> ScriptEnding:
    """Runs a script (or a module, like ``python -m``) with its own ``sys.argv``, ``sys.path`` and ``__main__``; returns
    how it ended.

    ``__main__`` stays the script's module afterwards, as in Python itself, so that its exit handlers find their names.

    >>> callable(run_script)
    True
    """
    sys.argv[:] = [script, *arguments]
    sys.path[0] = os.getcwd() if module else str(Path(script).resolve().parent)
    try:
        if module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            path = os.path.abspath(script)
            main = types.ModuleType("__main__")
            loader = importlib.machinery.SourceFileLoader("__main__", path)
            main.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None, __loader__=loader)
            sys.modules["__main__"] = main
            with open(path, "rb") as file:
                code = compile(file.read(), path, "exec", dont_inherit=True)
            exec(code, main.__dict__)
    except BaseException as error:  # Any error is caught so that the report is written, and raised again afterwards.
        error.__traceback__ = without_frames_of_gnomon(error.__traceback__)
        return ScriptEnding(error)
    return ScriptEnding()


def without_frames_of_gnomon(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Removes gnomon's own frames from a traceback, so that it looks as if Python had run the script."""
    folder = str(Path(__file__).parent)
    kept: types.TracebackType | None = None
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    for frame in reversed(frames):
        name = frame.tb_frame.f_code.co_filename
        if not name.startswith(folder) and "runpy" not in name:
            frame.tb_next = kept
            kept = frame
    return kept
