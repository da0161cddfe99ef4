"""Compiles kernel loops in a process of its own, which writes them to numba's cache on disk; later kernels load them.

The process runs one thread at low priority, and ends with the process that started it: its standard input is a pipe
that closes then, however that process ends. Nothing starts at import. ``GNOMON_BACKGROUND_COMPILATION=off`` turns
it off.
"""

import atexit
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread, Timer
from typing import Any

__all__ = ["SWITCH", "BackgroundCompiler", "LoopType", "background_compiler"]

SWITCH = "GNOMON_BACKGROUND_COMPILATION"
"""Environment variable; "off" means that no loops are compiled in the background."""
PRIORITY_REDUCTION = 5
"""How far the process lowers its priority: if the machine is busy, it gets about a third of a core."""
MAX_SECONDS = 600.0
"""Seconds after which the process ends itself, on however busy a machine."""
CODE = "from gnomon.kernels.fused.background import compile_loops; compile_loops({!r})"
"""What the process runs."""

LoopType = tuple[str, str, str]
"""A loop (chain, stage or sweep) with the names of the dtypes in which it computes and writes its results."""


@dataclass(slots=True)
class BackgroundCompiler:
    """Compiles each loop at most once for a process, one after the other; ``start`` runs a command in a new process."""

    start: Callable[[list[str], dict[str, str]], Any]
    requested: set[LoopType] = field(default_factory=set)
    _process: Any = None
    _lock: Any = field(default_factory=Lock, repr=False)

    def request(self, loops: tuple[LoopType, ...]) -> bool:
        """Starts to compile loops unless they have been requested before; returns whether a process was started.

        Nothing happens while another process is still compiling: a later request then starts it.

        >>> BackgroundCompiler(print).request(())
        False
        """
        with self._lock:
            new = tuple(one for one in loops if one not in self.requested)
            if not new or self.is_running() or os.environ.get(SWITCH) == "off" or not sys.executable:
                return False
            return self._begin(new)

    def _begin(self, new: tuple[LoopType, ...]) -> bool:
        """Starts a process that compiles these loops; returns False if the system allows no more processes."""
        # The process must import this very package, from wherever it was imported here.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        environment.update({name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")})
        self.requested.update(new)
        try:
            self._process = self.start([sys.executable, "-P", "-c", CODE.format(new)], environment)
        except OSError:  # The loops are compiled when a kernel needs them.
            return False
        return True

    def is_running(self) -> bool:
        """Whether loops are being compiled now."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Ends the process that compiles, if one is running."""
        if self.is_running():
            self._process.kill()
            self._process.wait()


@cache
def background_compiler() -> BackgroundCompiler:
    """Returns the compiler of this process, which is ended when the process ends.

    >>> background_compiler() is background_compiler()
    True
    """
    compiler = BackgroundCompiler(_start)
    owner = os.getpid()
    atexit.register(lambda: compiler.stop() if os.getpid() == owner else None)  # a forked child owns no process
    return compiler


def compile_loops(loops: tuple[LoopType, ...]) -> None:
    """Compiles loops for the given dtypes into numba's cache on disk; the process that calls this does nothing else.

    Cost: 8 seconds for chain, 20 for stage, 3 for sweep, on a free core.
    """
    _end_with_parent()
    from numba import typeof

    from gnomon.kernels.fused.compile_time import loop_and_arguments

    for one in loops:
        loop, arguments = loop_and_arguments(*one)
        loop.compile(tuple(typeof(argument) for argument in arguments))


def _start(command: list[str], environment: dict[str, str]) -> "Popen[bytes]":
    return Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env=environment)


def _end_with_parent() -> None:
    """Lowers the priority of this process, and ends it as soon as its standard input is closed."""
    if hasattr(os, "nice"):
        os.nice(PRIORITY_REDUCTION)

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
    limit = Timer(MAX_SECONDS, os._exit, (1,))
    limit.daemon = True
    limit.start()
