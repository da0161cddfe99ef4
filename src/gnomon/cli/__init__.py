"""Command line interface: the commands of gnomon in a terminal.

Contains: one command per file. Commands import torch when they run, so that ``--help`` is instant.
Does not contain: anything that a Python user would call.
May import: atlas, core, data, examination, findings, kernels, models, playground, report, tangent, training.
"""

import os
import sys
import traceback
from typing import Annotated

import typer

from gnomon.cli.atlas import verbs
from gnomon.cli.compare import compare
from gnomon.cli.doctor import doctor
from gnomon.cli.examine import examine
from gnomon.cli.playground import playground
from gnomon.cli.rank import rank
from gnomon.cli.show import show
from gnomon.cli.watch import ScriptEnded, watch
from gnomon.core.errors import GnomonError

app = typer.Typer(
    help=("Deep learning theory as a practical tool: find out what is wrong with a network, and why."),
    no_args_is_help=True,
)
"""The command line as a typer application."""
app.command()(examine)
app.command()(compare)
app.command()(show)
app.command()(rank)
app.command(context_settings={"allow_interspersed_args": False})(watch)
app.command()(doctor)
app.command()(playground)
app.add_typer(verbs, name="atlas")

SLEEPING_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
"""Settings with which idle OpenMP threads sleep instead of spinning, so that other programs can use the cores."""


def _version(asked: bool) -> None:
    if asked:
        print(f"gnomon {sys.modules['gnomon'].__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Deep learning theory as a practical tool: find out what is wrong with a network, and why."""


def run() -> None:
    """Runs the command line; prints expected errors without a traceback and exits with code 2.

    Idle OpenMP threads sleep, unless the environment already configures them, or a user's own script runs. That
    script ends the process as it would have without gnomon.

    >>> callable(run)
    True
    """
    own_script = sys.argv[1:2] == ["watch"]
    if not own_script and not SLEEPING_THREADS.keys() & os.environ.keys():
        os.environ.update(SLEEPING_THREADS)  # Set before torch is imported, because torch reads these on import.
    try:
        app(prog_name="gnomon")  # A fixed name, because shell completion does not work for `python -m gnomon`.
    except GnomonError as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, GnomonError):
            _print_user_traceback(error.__cause__)
        print(error.advice, file=sys.stderr)
        sys.exit(2)
    except ScriptEnded as ended:
        ended.end()


def _print_user_traceback(error: BaseException) -> None:
    """Prints the traceback of an error in the user's code, without gnomon's own stack frames."""
    own = os.path.dirname(os.path.dirname(__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(own)]
    if not frames:
        return
    words = traceback.format_exception_only(type(error), error)
    print("".join(["Traceback (most recent call last):\n", *traceback.format_list(frames), *words]), file=sys.stderr)


__all__ = ["app", "run"]
