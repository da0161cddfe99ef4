"""What can be done from a terminal?

Contains: one command per file. Commands import torch when they run, so that ``--help`` is instant.
Does not contain: anything that a Python user would call.
May import: atlas, core, data, examination, findings, kernels, models, playground, report, tangent, training.
"""

import os
import sys
from typing import Annotated

import typer

from gnomon.cli.atlas import verbs
from gnomon.cli.compare import compare
from gnomon.cli.doctor import doctor
from gnomon.cli.examine import examine
from gnomon.cli.playground import playground
from gnomon.cli.rank import rank
from gnomon.core.errors import GnomonError

app = typer.Typer(help="The theory of deep learning as an instrument.", no_args_is_help=True)
"""The command line as a typer application."""
app.command()(examine)
app.command()(compare)
app.command()(rank)
app.command()(doctor)
app.command()(playground)
app.add_typer(verbs, name="atlas")

PATIENT = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
"""Threads that wait for work sleep, instead of spinning on cores that others on the machine could use."""


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
    """The theory of deep learning as an instrument."""


def run() -> None:
    """Enter the command line; an error that gnomon raises is printed without a traceback, with exit code 2.

    OpenMP's waiting threads are told to sleep, unless the environment says how they shall wait.

    Cost: that of the verb.

    >>> callable(run)
    True
    """
    if not PATIENT.keys() & os.environ.keys():
        os.environ.update(PATIENT)  # read once, when torch is imported: no verb has done so yet
    try:
        app(prog_name="gnomon")  # `python -m gnomon` too: shells cannot complete three words
    except GnomonError as error:
        print(error.advice, file=sys.stderr)
        sys.exit(2)


__all__ = ["app", "run"]
