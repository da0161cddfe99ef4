"""``gnomon show``: prints a saved examination again, and writes its report."""

from pathlib import Path
from typing import Annotated

import typer


def show(
    path: Annotated[Path, typer.Argument(help="JSON file that gnomon examine --json wrote.", metavar="REPORT.json")],
    out: Annotated[Path | None, typer.Option(help="File for the HTML report; by default none is written.")] = None,
    site: Annotated[
        str, typer.Option(help="Address or folder of the documentation, for links from the report.", show_default=False)
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the answer to every question.")] = False,
) -> None:
    """Print an examination that was saved as JSON, and write its HTML report. Nothing in the file is executed."""
    from rich.console import Console

    from gnomon.cli.examine import print_examination as show_examination
    from gnomon.examination import Examination

    console = Console()
    result = Examination.load(path)
    show_examination(result, console, verbose=verbose)
    if out is not None:
        console.print(f"\nReport: [bold]{result.save(out, site=site)}[/bold]", highlight=False, soft_wrap=True)
