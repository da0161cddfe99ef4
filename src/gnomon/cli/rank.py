"""``gnomon rank``: ranks networks by a short training run of each."""

from typing import Annotated

import typer


def rank(
    networks: Annotated[list[str], typer.Argument(help="file.py:name of each candidate.", metavar="MODEL...")],
    data: Annotated[
        str, typer.Option(help="data.npz, data.csv, data.parquet, folder/ of images, file.py:function, or digits.")
    ] = "digits",
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    examples: Annotated[int, typer.Option(help="Number of examples to use.", min=10)] = 2000,
    steps: Annotated[int, typer.Option(help="Planned number of training steps; ranking runs half of them.")] = 600,
    batch: Annotated[int, typer.Option(help="Batch size.")] = 64,
    optimizer: Annotated[str, typer.Option(help="Optimizer: adam, adamw or sgd.")] = "adam",
    budget: Annotated[
        str | None,
        typer.Option(help="Time limit, such as 60s or 2m; networks that do not fit into it are listed but not ranked."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Rank networks by the score that a short training run predicts, with reasons."""
    import json

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from gnomon.cli import sources
    from gnomon.examination import rank as rank_networks

    seconds = None if budget is None else sources.parse_seconds(budget)
    given = sources.load_data(data, target, seed)
    console = Console(stderr=as_json)
    for note in given.notes:
        console.print(f"Note: {note}.", markup=False, highlight=False)
    candidates = {spec: sources.load_model(spec) for spec in networks}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("ranking", total=len(candidates))
        ranking = rank_networks(
            candidates, given.train, optimizer=optimizer, steps=steps, batch=batch, examples=examples, seed=seed,
            budget=seconds,
            progress=lambda name, i, n: bar.update(task, completed=i, description=name),
        )  # fmt: skip
    if as_json:
        print(json.dumps(ranking.to_dict(), allow_nan=False))
        return
    table = Table("", "network", "predicted", "on held-out examples", box=None, padding=(0, 2, 0, 0))
    for i, c in enumerate(ranking.candidates, 1):
        interval = "" if c.interval is None else f" ({c.interval.low:.0%} to {c.interval.high:.0%})"
        score = f"{c.score:.1%}{interval}"
        table.add_row(str(i), escape(c.name), score if c.trainable else "–", escape(c.reason))
    console.print(table, highlight=False)
    console.print(f"\n[bold]{escape(ranking.verdict)}[/]", highlight=False)
    if ranking.unranked:
        within = f" within {budget}" if budget is not None else ""
        console.print(f"Not ranked{within}: {escape(', '.join(ranking.unranked))}", highlight=False)
