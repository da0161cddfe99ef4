"""``gnomon watch``: runs a training script unchanged and reports mistakes of its loop."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.core.errors import out_of_range_error

if TYPE_CHECKING:
    from gnomon.examination import Examination
    from gnomon.examination.script.launch import ScriptEnding


class ScriptEnded(BaseException):
    """Exception that ends the command in the same way as the user's script: normally, with an error or with an exit
    code.
    """

    def __init__(self, ending: Any) -> None:
        super().__init__(ending)
        self.ending = ending

    def end(self) -> None:
        """Ends the process with the same error or exit code as the user's script."""
        from gnomon.examination.script.session import exit_like_script

        exit_like_script(self.ending)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Context manager without automatic garbage collection, because each full collection of the objects of torch takes
    0.1 s.

    >>> with no_garbage_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def watch(
    script: Annotated[str, typer.Argument(help="Python file that trains a model, such as train.py.", metavar="SCRIPT")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments that are passed on to the script.", metavar="[ARGS]...")
    ] = None,
    module: Annotated[
        bool, typer.Option("-m", help="Treat SCRIPT as the name of a module, as python -m does.")
    ] = False,
    out: Annotated[Path, typer.Option(help="File to which the HTML report is written.")] = Path("report.html"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, in the last line of the output.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Exit with code 1 if the script succeeds but has a problem.")] = False,
    overhead: Annotated[
        float, typer.Option(help="Largest fraction of the run time that gnomon may spend on measurements.")
    ] = 0.03,
) -> None:
    """Run a training script unchanged, observe its loop, and report its mistakes. Options come before SCRIPT."""
    with no_garbage_collection():
        from gnomon.examination.script.session import WatchSession
        from gnomon.examination.script.termination import ScriptTerminated

    if not 0 < overhead <= 1:
        raise out_of_range_error("--overhead", "a share of the time, above 0 and at most 1", overhead)
    command = " ".join(sys.argv[1:])
    # Python's default hook prints the script's errors; the hook of the command line parser would reformat them.
    sys.excepthook = sys.__excepthook__
    place = out.absolute()  # An absolute path, because the script may change the working directory.
    session = WatchSession(script, arguments or (), module, overhead)

    def finish(ending: "ScriptEnding") -> "Examination | None":
        with no_garbage_collection():
            result = session.report(ending, command)
            if result is not None:
                _present(result, place, as_json=as_json)
        return result

    ending = session.run(when_blocked=finish)
    error = ending.exception
    if error is not None and not isinstance(error, SystemExit | ScriptTerminated):
        sys.excepthook(type(error), error, error.__traceback__)
    result = finish(ending)
    if error is not None:
        raise ScriptEnded(ending)
    if strict and result is not None and result.problems:
        raise typer.Exit(1)


def _present(result: "Examination", place: Path, *, as_json: bool) -> None:
    """Prints the findings, in words or as JSON, and writes the HTML report."""
    if as_json:
        import json

        print(json.dumps(result.to_dict(), allow_nan=False), flush=True)
    else:
        _show(result)
    result.save(place)
    if not as_json:
        print(f"Report: {place}", file=sys.stderr)


def _show(result: "Examination") -> None:
    """Prints the verdict on a training script and each problem with its fix to stderr; stdout belongs to the script."""
    from rich.console import Console
    from rich.markup import escape

    from gnomon.cli.examine import print_findings

    console = Console(stderr=True)
    console.print(f"\n[bold]{escape(result.name)}: {escape(result.page().headline)}[/]", highlight=False)
    console.print(f"  {escape(result.section('run').answer)}", highlight=False)
    print_findings(result.findings, console, {})
