"""Roof: the command line, one verb per file.

Lives here: the verbs of ``gnomon``.
Does not live here: anything that a Python user would want to call.
May import: every floor below.
"""

import sys

import typer

from gnomon.cli.doctor import doctor
from gnomon.cli.examine import examine
from gnomon.cli.rank import rank
from gnomon.core.errors import GnomonError

app = typer.Typer(help="The theory of deep learning as an instrument.", no_args_is_help=True, add_completion=False)
"""The command line as a typer application."""
app.command()(examine)
app.command()(rank)
app.command()(doctor)


@app.callback()
def main() -> None:
    """The theory of deep learning as an instrument."""


def run() -> None:
    """Enter the command line; an error that gnomon raises is one sentence and exit code 2.

    Cost: that of the verb.

    >>> callable(run)
    True
    """
    try:
        app()
    except GnomonError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


__all__ = ["app", "run"]
