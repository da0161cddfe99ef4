"""``gnomon atlas``: statements of the theory as claims that run."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

verbs = typer.Typer(
    help="Statements of the theory as claims that run: predicted against measured.", no_args_is_help=True
)
"""The verbs of the atlas."""
Ids = Annotated[list[str] | None, typer.Argument(help="Claims or kinds; all without any.", metavar="ID...")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@verbs.command("list")
def list_(
    kind: Annotated[str | None, typer.Option(help="Only claims of this kind, such as kernel-limit.")] = None,
    search: Annotated[str | None, typer.Option(help="Only claims whose text has all these words.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every claim, one line each.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count the claims of each kind; with --kind, --search or --all list them, one line each."""
    import json
    from collections import Counter

    from gnomon.atlas.catalog import catalog
    from gnomon.core.errors import InputError

    known = sorted({entry.kind for entry in catalog().values()})
    if kind is not None and kind not in known:
        raise InputError(f"--kind must be one of {', '.join(known)}, but it is {kind!r}.")
    words = (search or "").lower().split()
    rows = []
    for entry in catalog().values():
        claim = entry.claim
        text = " ".join((claim.id, claim.title, claim.equation, claim.remark, *claim.covers)).lower()
        if kind in (None, entry.kind) and all(word in text for word in words):
            rows.append({"id": claim.id, "kind": entry.kind, "grade": claim.source.grade, "title": claim.title,
                         "expected": claim.expected, "covers": list(claim.covers)})  # fmt: skip
    if as_json:
        print(json.dumps({"claims": rows}))
        return
    if not rows:
        print(f"No claim has all these words: {search}.")
        return
    if kind is None and search is None and not every:
        counts = Counter(entry.kind for entry in catalog().values())
        _lines([(name, str(counts[name])) for name in known])
        print(f"{len(rows)} claims of {len(known)} kinds. List them with --kind KIND, --search WORDS or --all.")
        return
    _lines([(str(row["id"]), str(row["kind"]), str(row["title"])) for row in rows])
    print(f"{len(rows)} claim{'' if len(rows) == 1 else 's'}")


@verbs.command()
def run(
    ids: Ids = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Parameters of your own: --set width=512 depth=3.")
    ] = None,
    scale: Annotated[str, typer.Option(help="smoke (about a second each) or full.")] = "smoke",
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many seeds, from --seed on.", min=1)] = 1,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://...")] = None,
    out: Annotated[
        str | None, typer.Option(help="Keep outcomes in this file; a run that was interrupted goes on from it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run claims and judge them; exit code 1 where a verdict is not the stated one or a control holds.

    A run whose parameters break a hypothesis is counted apart: there the claim states nothing.
    """
    import json
    import sys
    from pathlib import Path

    from gnomon.atlas.catalog import select_entries
    from gnomon.atlas.many import ClaimTask, run_many

    pairs = dict(_pair(text) for text in (*(settings or ()), *(word for word in ids or () if "=" in word)))
    tasks = [
        ClaimTask(e.claim.id, _scale(scale, "run"), s, pairs)
        for e in select_entries([word for word in ids or () if "=" not in word])
        for s in range(seed, seed + seeds)
    ]
    results, outside = [], 0
    for row in run_many(tasks, jobs=jobs, scheduler=scheduler, out=None if out is None else Path(out)):
        broken = [premise["statement"] for premise in row["premises"] if premise["holds"] is False]
        outside += bool(broken)
        results.append({k: v for k, v in row.items() if k != "figure"} | ({"as_stated": False} if broken else {}))
        if not as_json:
            print(_report(row, broken), flush=True)
    stated = sum(row["as_stated"] for row in results)
    if as_json:
        print(json.dumps({"results": results}, allow_nan=False))
    else:
        apart = f"; {outside} outside the hypotheses" if outside else ""
        print(f"{stated} of {len(results)} runs are as stated{apart}")
    sys.exit(0 if stated + outside == len(results) else 1)


@verbs.command()
def show(
    name: Annotated[str, typer.Argument(help="A claim.", metavar="ID")],
    out: Annotated[str | None, typer.Option(help="A file of outcomes to look up the last result in.")] = None,
) -> None:
    """Show a claim: statement, hypotheses, reference, parameters, its own source code, the last result."""
    from pathlib import Path

    from gnomon.atlas.catalog import select_entries
    from gnomon.atlas.coverage import instruments
    from gnomon.atlas.many import read_outcomes
    from gnomon.report.references import reference

    entry = select_entries([name])[0]
    claim = entry.claim
    print(f"{claim.id} ({entry.kind}, {claim.source.grade})\n{claim.title}\n\n    {claim.equation}\n")
    for premise in claim.premises:
        broken = " (broken by the control)" if premise.statement == claim.breaks else ""
        print(f"Hypothesis: {premise.statement}{broken}")
    if claim.source.reference:
        print(f"Reference: {reference(claim.source.reference)} {claim.source.place}".rstrip())
    if claim.remark:
        print(f"Remark: {claim.remark}")
    measured = dict.fromkeys(f for i in (claim.id, *claim.covers) for f in instruments().get(i, ()))
    if measured:
        print(f"On your own model or data: {', '.join(measured)}")
    print("Parameters: " + ", ".join(f"{key}={value}" for key, value in claim.parameters.items()))
    last = [row for row in read_outcomes(Path(out)).values() if row["id"] == claim.id] if out else []
    for row in last[-1:]:
        print(f"Last result (seed {row['seed']}, {row['scale']}): {row['verdict']}. {row['reason']}")
    print(f"\n{entry.code}")


@verbs.command()
def cite(name: Annotated[str, typer.Argument(help="A claim.", metavar="ID")]) -> None:
    """Print the BibTeX entry of the reference of a claim."""
    from gnomon.atlas.catalog import cite as entry

    print(entry(name))


@verbs.command()
def coverage(as_json: AsJson = False) -> None:
    """Tell what covers each statement of the scope."""
    import json

    from gnomon.atlas.coverage import STATUSES, kinds
    from gnomon.atlas.coverage import coverage as ledger

    result = ledger()
    if as_json:
        print(json.dumps({"ids": result.ids, "counts": result.counts}))
        return
    rows = []
    for kind, ids in kinds().items():
        counts = [sum(result.ids[i]["status"] == status for i in ids) for status in STATUSES]
        rows.append([kind, *map(str, counts), str(len(ids))])
    _table(("kind", *STATUSES, "all"), rows)
    print(result.verdict)


@verbs.command()
def build(
    folder: Annotated[str, typer.Argument(help="Where the pages go.", metavar="DIR")],
    ids: Ids = None,
    scale: Annotated[str, typer.Option(help="smoke or full.")] = "smoke",
    seed: Annotated[int, typer.Option(help="Of every run.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    out: Annotated[str | None, typer.Option(help="A file of outcomes that are not computed again.")] = None,
) -> None:
    """Write the atlas as pages that work offline; progress goes to stderr, one line for each claim and page."""
    from pathlib import Path

    from gnomon.atlas.pages.build import build as written
    from gnomon.core.machine.progress import progress_line

    kept = None if out is None else Path(out)
    progress_line("loading the claims")
    index = written(Path(folder), list(ids or ()), scale=_scale(scale, "build"), seed=seed, jobs=jobs, out=kept,
                    progress=lambda what, number, total: progress_line(f"{number}/{total}  {what}"))  # fmt: skip
    print(index)


@verbs.command()
def check(
    network: Annotated[str, typer.Argument(help="my_model.py:build, a module or a function that builds one.")],
    data: Annotated[str, typer.Option(help="data.npz, data.csv, data.parquet, file.py:function, or digits.")],
    ids: Annotated[list[str] | None, typer.Argument(help="Statements; all without any.", metavar="ID...")] = None,
    target: Annotated[str | None, typer.Option(help="The target column of a table.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate; by default 1 / curvature.")] = None,
    steps: Annotated[int, typer.Option(help="Steps of the training run of a copy.", min=1)] = 300,
    budget: Annotated[str, typer.Option(help="Time of all: 60s, 2m; half of it for the training run.")] = "2m",
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    page: Annotated[str | None, typer.Option(help="Write the result as a page into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell which statements of the theory hold for your own network and data, with the measurements."""
    import json
    from pathlib import Path

    from gnomon.atlas.check import check as checked
    from gnomon.atlas.pages.checked import write
    from gnomon.cli import sources

    train = sources.data(data, target, seed).train
    built = sources.model(network)
    limit = sources.seconds(budget)
    result = checked(built, train, list(ids or ()), lr=lr, steps=steps, seconds=limit, seed=seed)
    if page is not None:
        write(result, Path(page))
    if as_json:
        rows = [{"id": i, **{k: v for k, v in row.items() if k != "figure"}} for i, row in result.rows.items()]
        print(json.dumps({"network": result.network, "examples": result.examples, "lr": result.lr,
                          "loss": list(result.loss), "statements": rows}, allow_nan=False))  # fmt: skip
        return
    _table(("statement", "here", "measured"), [[i, r["verdict"], r["reason"]] for i, r in result.rows.items()])
    print(f"Training on {result.examples} examples took the loss from {result.loss[0]:.4g} to {result.loss[1]:.4g}.")
    print(result.verdict)
    if page is not None:
        print(f"Page: {page}")


def _scale(text: str, verb: str) -> Literal["smoke", "full"]:
    from gnomon.core.errors import InputError

    if text == "smoke":
        return "smoke"
    if text == "full":
        return "full"
    raise InputError(f"--scale must be smoke or full, but it is {text!r}.")


def _pair(text: str) -> tuple[str, str]:
    from gnomon.core.errors import InputError

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f"--set must be name=value, but it is {text!r}.")
    return name, value


def _report(row: dict[str, Any], broken: list[str]) -> str:
    """The outcome of a run on two lines: verdict and control."""
    mark = f"{row['verdict']}, {'as stated' if row['as_stated'] else 'NOT AS STATED'}"
    if broken:
        outside = f"outside its hypotheses ({'; '.join(broken)}), where it states nothing"
        mark = f"{outside}. Compared anyway: {row['verdict']}"
    control = f"    control: {row['control']['verdict']}. {row['control']['reason']}"
    return f"{row['id']} (seed {row['seed']}): {mark}. {row['reason']}\n{control}"


def _lines(rows: Sequence[tuple[str, ...]]) -> None:
    """Rows in columns, one line each; a terminal cuts off what is too long, a file or pipe has all of it."""
    import sys
    from shutil import get_terminal_size

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        print(line if room is None or len(line) <= room else f"{line[: room - 1]}…")


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for i, column in enumerate(columns):
        table.add_column(column, no_wrap=i == 0, overflow="fold")  # ids are copied from here
    for row in rows:
        table.add_row(*row)
    Console().print(table)
