"""A bar for computations that take more than two seconds, on a terminal only; lines for long steps of a command."""

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from types import TracebackType
from typing import Any, ClassVar, TypeVar

__all__ = ["Progress", "is_watched", "progress_line", "with_progress_bar"]

T = TypeVar("T")

SECONDS_BEFORE_BAR = 2.0
"""Seconds before a progress bar appears."""


class Progress:
    """Counts finished tasks from any thread; the thread that waits draws; what has no name is not drawn.

    One bar is drawn at a time: of tasks within tasks the one that is first to last.

    >>> with Progress(3, "tiles") as progress:
    ...     progress.advance(1)
    >>> progress.done
    1
    """

    drawn: ClassVar["Progress | None"] = None
    """The one that has a bar now."""

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
        if self._bar is None and (monotonic() - self._start < SECONDS_BEFORE_BAR or not sys.stderr.isatty()):
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


def progress_line(text: str) -> None:
    """Write one line on stderr at once, above the bar if there is one.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()) as lines:
    ...     progress_line("reading")
    >>> lines.getvalue()
    'reading\\n'
    """
    print(text, file=sys.stderr, flush=True)  # rich moves its bar below what is written


def is_watched() -> bool:
    """Whether somebody sees stderr now: it is a terminal, or the output of a notebook.

    >>> is_watched() in (False, True)
    True
    """
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def with_progress_bar(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one after another, with a bar that counts those that are done.

    >>> list(with_progress_bar(range(3), "products"))
    [0, 1, 2]
    """
    with Progress(len(items), what) as progress:
        for item in items:
            yield item
            progress.step()
