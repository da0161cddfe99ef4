"""``gnomon compare``: examines two networks on the same data and shows them side by side."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from gnomon.examination.compare import Comparison


def compare(
    left: Annotated[str, typer.Argument(help="file.py:name of a network, or of a function that builds it.")],
    right: Annotated[str, typer.Argument(help="file.py:name of the other network.")],
    data: Annotated[
        str, typer.Option(help="data.npz, data.csv, data.parquet, folder/ of images, file.py:function, or digits.")
    ] = "digits",
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    fit: Annotated[
        bool | None,
        typer.Option(
            "--fit/--no-fit",
            help=("Train copies of the networks; by default only if functions that build networks are given."),
        ),
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option(help=("Optimizer for both networks: sgd, adam or adamw; by default adam."))
    ] = None,
    lr: Annotated[
        float | None, typer.Option(help=("Learning rate; by default the one that torch uses for the optimizer."))
    ] = None,
    momentum: Annotated[float, typer.Option(help="Momentum of sgd.")] = 0.0,
    decay: Annotated[float, typer.Option(help="Weight decay.")] = 0.0,
    batch: Annotated[int | None, typer.Option(help="Batch size; by default chosen by the cost of a step.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Maximum number of passes over the data.")] = None,
    budget: Annotated[str, typer.Option(help="Time limit for both networks together, such as 60s or 2m.")] = "2m",
    out: Annotated[Path, typer.Option(help="File to which the HTML report is written.")] = Path("compare.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON instead of text.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Examine two networks on the same data and write one page with both side by side."""
    import json

    from rich.console import Console

    from gnomon.cli import sources, training
    from gnomon.examination import compare as compare_networks

    console = Console(stderr=as_json)
    seconds = sources.parse_seconds(budget)
    given = sources.load_data(data, target, seed)
    for note in given.notes:
        console.print(f"Note: {note}.", markup=False, highlight=False)
    specs = (left, right)
    short = [spec.rpartition(":")[2] for spec in specs]
    names = short if short[0] != short[1] else list(specs) if left != right else [left, f"{right} again"]
    networks = {name: sources.load_model(spec) for name, spec in zip(names, specs, strict=True)}
    with console.status("reading") as status:
        compared = compare_networks(
            networks, given.train, given.test,
            optimizer=training.optimizer_from_options(optimizer, lr, momentum, decay),
            batch=batch, epochs=epochs, fit=fit, budget=seconds, seed=seed, notes=given.notes,
            command=" ".join(sys.argv[1:]),
            progress=lambda title, i, n: status.update(f"{i + 1}/{n}  {title}"),
        )  # fmt: skip
    if as_json:
        print(json.dumps(compared.to_dict(), allow_nan=False))
    else:
        print_comparison(compared, console)
    path = compared.save(out)
    if not as_json:
        console.print(f"\nPage: [bold]{path}[/bold]", highlight=False, soft_wrap=True)


def print_comparison(compared: "Comparison", console: "Console") -> None:
    """Prints the comparison of two networks: main values side by side, findings of each network, then the verdict."""
    from rich.markup import escape
    from rich.table import Table

    from gnomon.cli.examine import print_findings

    names = compared.left.name, compared.right.name
    table = Table("", *map(escape, names), box=None, padding=(0, 2, 0, 0))
    for row in compared.main_rows:
        table.add_row(*map(escape, row))
    if compared.main_rows:
        console.print(table, highlight=False)
    console.print(f"\n[bold]{escape(compared.verdict)}[/]", highlight=False)
    for examined in (compared.left, compared.right):
        page = examined.page()
        console.print(f"\n[bold]{escape(f'{examined.name}: {page.headline}')}[/]", highlight=False)
        print_findings(examined.findings, console, page.proofs)
