"""Shows progress of long computations: a bar on terminals after two seconds, and one line for each step of a
command.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from gnomon.core.machine.budget import check_time

__all__ = ["Progress", "is_terminal", "progress_line", "with_progress_bar", "without_bars"]

T = TypeVar("T")

SECONDS_BEFORE_BAR = 2.0
"""Seconds before a progress bar appears."""


class Progress:
    """Counts finished tasks of several threads and draws a progress bar; only counts if ``what``, the label, is None.

    One bar is drawn at a time: of tasks within tasks the one that is first to last.

    >>> with Progress(3, "tiles") as progress:
    ...     progress.advance(1)
    >>> progress.done
    1
    """

    drawn: ClassVar["Progress | None"] = None
    """The instance whose bar is visible now."""

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
            Progress.drawn = None

    def advance(self, steps: int) -> None:
        """Adds to the number of finished tasks, from any thread, without redrawing the progress bar."""
        self.done += steps

    def step(self) -> None:
        """Adds one finished task and redraws the progress bar; only the thread that draws the bar calls this method."""
        self.advance(1)
        self.show()

    def show(self) -> None:
        """Redraws the progress bar if a redraw is due and a user can see it; raises an error if the time limit has
        passed.
        """
        check_time(self.what, self.done, self.total)
        if self.what is None:
            return
        if self._bar is None and (monotonic() - self._start < SECONDS_BEFORE_BAR or not is_terminal()):
            return
        if self._bar is None:
            if Progress.drawn is not None:
                return
            self._bar, self._task = self._make()
            Progress.drawn = self
        self._bar.update(self._task, completed=self.done)

    def _make(self) -> tuple[Any, Any]:
        from rich.console import Console
        from rich.progress import Progress as Bar

        bar = Bar(console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task(self.what or "", total=self.total)


@contextmanager
def without_bars() -> Iterator[None]:
    """Context manager that hides progress bars, for code with its own display.

    >>> with without_bars(), Progress(3, "tiles") as progress:
    ...     progress.step()
    """
    before = Progress.drawn
    Progress.drawn = before or Progress(0, None)
    try:
        yield
    finally:
        Progress.drawn = before


def progress_line(text: str) -> None:
    """Prints one line to stderr immediately, above the progress bar if there is one.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()) as lines:
    ...     progress_line("reading")
    >>> lines.getvalue()
    'reading\\n'
    """
    print(text, file=sys.stderr, flush=True)  # The progress bar of `rich` then moves below this line.


def is_terminal() -> bool:
    """Checks whether a user can see stderr, because it is a terminal or the output of a notebook.

    >>> is_terminal() in (False, True)
    True
    """
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def with_progress_bar(items: Sequence[T], what: str) -> Generator[T, None, None]:
    """Yields the items one by one, and shows a progress bar that counts the finished ones.

    >>> list(with_progress_bar(range(3), "products"))
    [0, 1, 2]
    """
    with Progress(len(items), what) as progress:
        for item in items:
            yield item
            progress.step()
