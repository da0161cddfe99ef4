"""A bar for computations that take more than two seconds, on a terminal only."""

import sys
from time import monotonic
from types import TracebackType
from typing import Any

__all__ = ["Progress"]

PATIENCE = 2.0


class Progress:
    """Counts finished tasks from any thread; the thread that waits draws; what has no name is not drawn.

    >>> with Progress(3, "tiles") as progress:
    ...     progress.advance(1)
    >>> progress.done
    1
    """

    def __init__(self, total: int, what: str | None) -> None:
        self.total, self.what, self.done = total, what, 0
        self._start = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, steps: int) -> None:
        """Some tasks are done."""
        self.done += steps

    def step(self) -> None:
        """One task is done, in the thread that draws."""
        self.advance(1)
        self.show()

    def show(self) -> None:
        """Draw, if it has been long enough and somebody looks."""
        if self.what is None:
            return
        if self._bar is None and (monotonic() - self._start < PATIENCE or not sys.stderr.isatty()):
            return
        if self._bar is None:
            self._bar, self._task = self._make()
        self._bar.update(self._task, completed=self.done)

    def _make(self) -> tuple[Any, Any]:
        from rich.console import Console
        from rich.progress import Progress as Bar

        bar = Bar(console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task(self.what or "", total=self.total)
