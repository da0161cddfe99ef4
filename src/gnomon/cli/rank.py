"""``gnomon rank``: candidates ordered before any of them is trained."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from gnomon.cli import sources
from gnomon.examination import rank as ranked

CALL = "gnomon rank"


def rank(
    networks: Annotated[list[str], typer.Argument(help="file.py:name of each candidate.", metavar="MODEL...")],
    data: Annotated[
        str, typer.Option(help="data.npz, data.csv, data.parquet, file.py:function, or digits.")
    ] = "digits",
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    examples: Annotated[int, typer.Option(help="Examples to judge by.", min=10)] = 300,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
) -> None:
    """Rank architectures by what their kernels would score on the data, with the reasons."""
    points, _ = sources.data(data, target, seed, CALL)
    found = ranked({spec: sources.model(spec, CALL) for spec in networks}, points, examples=examples, seed=seed)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    table = Table("rank", "network", "score", "alignment", "why")
    for i, c in enumerate(found.candidates, 1):
        table.add_row(str(i), c.name, f"{c.score:.3f}", f"{c.alignment:.3f}", c.reason)
    Console().print(table)
