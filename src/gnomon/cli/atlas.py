"""``gnomon atlas``: lists, runs and checks statements of deep learning theory."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

verbs = typer.Typer(
    help="Run statements of deep learning theory: each compares a prediction with a measurement.", no_args_is_help=True
)
"""The subcommands of ``gnomon atlas``."""
Ids = Annotated[list[str] | None, typer.Argument(help="Ids or kinds of claims; by default all.", metavar="ID...")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@verbs.command("list")
def list_(
    kind: Annotated[str | None, typer.Option(help="Only claims of this kind, such as kernel-limit.")] = None,
    search: Annotated[str | None, typer.Option(help="Only claims that contain all these words.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every claim on one line.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count the theory claims of each kind, or list them with --kind, --search or --all."""
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
        print(f"No claim contains all these words: {search}.")
        return
    if kind is None and search is None and not every:
        counts = Counter(entry.kind for entry in catalog().values())
        _lines([(name, str(counts[name])) for name in known])
        print(f"{len(rows)} claims of {len(known)} kinds. List them with --kind KIND, --search WORDS or --all.")
        return
    columns = ("id", "title") if kind is not None else ("id", "kind", "title")
    _lines([tuple(str(row[column]) for column in columns) for row in rows])
    print(f"{len(rows)} claim{'' if len(rows) == 1 else 's'}")


@verbs.command()
def run(
    ids: Ids = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Set parameters of the claim: --set width=512 depth=3.")
    ] = None,
    scale: Annotated[str, typer.Option(help="smoke (about a second per claim) or full.")] = "smoke",
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds, starting at --seed.", min=1)] = 1,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://...")] = None,
    out: Annotated[
        str | None, typer.Option(help="Save results in this file; an interrupted run continues from it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run theory claims and compare verdicts with the stated ones; exit code 1 if they differ or a control experiment
    passes.

    Runs whose parameters violate a hypothesis are counted separately, because the claim does not apply to them.
    """
    import json
    import sys
    from pathlib import Path

    from gnomon.core.machine.progress import progress_line

    progress_line(f"Running {', '.join(ids) if ids else 'all claims'} ...")  # before slow imports
    from gnomon.atlas.catalog import select_entries
    from gnomon.atlas.many import ClaimTask, run_claims

    pairs = dict(_pair(text) for text in (*(settings or ()), *(word for word in ids or () if "=" in word)))
    tasks = [
        ClaimTask(e.claim.id, _scale(scale, "run"), s, pairs)
        for e in select_entries([word for word in ids or () if "=" not in word])
        for s in range(seed, seed + seeds)
    ]
    results, outside = [], 0
    for row in run_claims(tasks, jobs=jobs, scheduler=scheduler, out=None if out is None else Path(out)):
        broken = [premise["statement"] for premise in row["premises"] if premise["holds"] is False]
        outside += bool(broken)
        results.append({k: v for k, v in row.items() if k != "chart"} | ({"as_stated": False} if broken else {}))
        if not as_json:
            print(_report(row, broken), flush=True)
    stated = sum(row["as_stated"] for row in results)
    if as_json:
        print(json.dumps({"results": results}, allow_nan=False))
    else:
        apart = f"; {outside} outside the hypotheses" if outside else ""
        print(f"{stated} of {len(results)} runs have the stated verdict{apart}")
    sys.exit(0 if stated + outside == len(results) else 1)


@verbs.command()
def show(
    name: Annotated[str, typer.Argument(help="Id of a claim.", metavar="ID")],
    out: Annotated[str | None, typer.Option(help="Show the newest result in this file of earlier results.")] = None,
) -> None:
    """Show a theory claim: statement, hypotheses, reference, parameters, source code, last result."""
    from pathlib import Path

    from gnomon.atlas.catalog import select_entries
    from gnomon.atlas.coverage import functions_by_entry
    from gnomon.atlas.many import read_claim_outcomes
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
    measured = dict.fromkeys(f for i in (claim.id, *claim.covers) for f in functions_by_entry().get(i, ()))
    if measured:
        print(f"On your own model or data: {', '.join(measured)}")
    print("Parameters: " + ", ".join(f"{key}={value}" for key, value in claim.parameters.items()))
    last = [row for row in read_claim_outcomes(Path(out)).values() if row["id"] == claim.id] if out else []
    for row in last[-1:]:
        print(f"Last result (seed {row['seed']}, {row['scale']}): {row['verdict']}. {row['reason']}")
    print(f"\n{entry.code}")


@verbs.command()
def cite(name: Annotated[str, typer.Argument(help="Id of a claim.", metavar="ID")]) -> None:
    """Print the BibTeX entry of the publication that a theory claim cites."""
    from gnomon.atlas.catalog import bibtex_of_claim as entry

    print(entry(name))


@verbs.command()
def coverage(as_json: AsJson = False) -> None:
    """Show how many statements of the theory of each kind are treated by claims, functions or notes."""
    import json

    from gnomon.atlas.coverage import COVERAGE_STATUSES, scope_ids_by_kind
    from gnomon.atlas.coverage import scope_coverage as ledger

    result = ledger()
    if as_json:
        print(json.dumps({"ids": result.ids, "counts": result.counts}))
        return
    rows = []
    for kind, ids in scope_ids_by_kind().items():
        counts = [sum(result.ids[i]["status"] == status for i in ids) for status in COVERAGE_STATUSES]
        rows.append([kind, *map(str, counts), str(len(ids))])
    _table(("kind", *COVERAGE_STATUSES, "all"), rows)
    print(result.verdict)


@verbs.command()
def build(
    folder: Annotated[str, typer.Argument(help="Folder for the pages.", metavar="DIR")],
    ids: Ids = None,
    scale: Annotated[str, typer.Option(help="smoke or full.")] = "smoke",
    seed: Annotated[int, typer.Option(help="Random seed of every run.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    out: Annotated[str | None, typer.Option(help="File of earlier results to reuse.")] = None,
) -> None:
    """Write the theory claims as HTML pages that work offline; progress goes to stderr."""
    from pathlib import Path

    from gnomon.core.machine.progress import progress_line

    progress_line("loading the claims")
    from gnomon.atlas.pages.build import build_site as written

    kept = None if out is None else Path(out)
    index = written(Path(folder), list(ids or ()), scale=_scale(scale, "build"), seed=seed, jobs=jobs, out=kept,
                    progress=lambda what, number, total: progress_line(f"{number}/{total}  {what}"))  # fmt: skip
    print(index)


@verbs.command()
def grids(
    ids: Ids = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    out: Annotated[str | None, typer.Option(help="Folder for the results; by default inside the package.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Compute stored results again.")] = False,
) -> None:
    """Compute the results behind the sliders of the claims' pages; an interrupted call continues at the same place."""
    from pathlib import Path

    from gnomon.core.machine.progress import progress_line

    progress_line("loading the claims")
    from gnomon.atlas.grids.records import compute_records

    folder = None if out is None else Path(out)
    done = 0
    for name, what, number, total in compute_records(list(ids or ()), jobs=jobs, folder=folder, again=again):
        progress_line(f"{number}/{total}  {name}: {what}")
        done += 1
    print(f"{done} computed, the others were up to date")


@verbs.command()
def check(
    network: Annotated[str, typer.Argument(help="file.py:name of a module, or of a function that builds it.")],
    data: Annotated[str, typer.Option(help="data.npz, data.csv, data.parquet, file.py:function, or digits.")],
    ids: Annotated[
        list[str] | None, typer.Argument(help="Statements to check; by default all.", metavar="ID...")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate; by default 1 / sharpness.")] = None,
    steps: Annotated[
        int, typer.Option(help="Number of training steps; gnomon trains a copy of the network.", min=1)
    ] = 300,
    budget: Annotated[str, typer.Option(help="Time limit, such as 60s or 2m; training gets half of it.")] = "2m",
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    page: Annotated[str | None, typer.Option(help="Write the result as an HTML page to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check which statements of the theory hold for your own network and data."""
    import json
    from pathlib import Path

    from gnomon.atlas.check import check_network as checked
    from gnomon.atlas.pages.checked import write_network_check
    from gnomon.cli import sources

    train = sources.load_data(data, target, seed).train
    built = sources.load_model(network)
    limit = sources.parse_seconds(budget)
    result = checked(built, train, list(ids or ()), lr=lr, steps=steps, seconds=limit, seed=seed)
    if page is not None:
        write_network_check(result, Path(page))
    if as_json:
        rows = [{"id": i, **{k: v for k, v in row.items() if k != "figure"}} for i, row in result.rows.items()]
        print(json.dumps({"network": result.network, "examples": result.examples, "lr": result.lr,
                          "loss": list(result.loss), "statements": rows}, allow_nan=False))  # fmt: skip
        return
    _table(("statement", "here", "measured"), [[i, r["verdict"], r["reason"]] for i, r in result.rows.items()])
    print(f"Training on {result.examples} examples changed the loss from {result.loss[0]:.4g} to {result.loss[1]:.4g}.")
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
    """Returns two lines of text on the run of a claim: the verdict with the measurement, then the control
    experiment.
    """
    measured = row["axes"][1] if row.get("axes") else "measured"
    result = f"{row['verdict']}: {measured}: {_lower(row['reason'])}"
    if broken:
        result = f"outside its hypotheses ({'; '.join(broken)}), so the claim does not apply. Result anyway: {result}"
    elif row["verdict"] != row["expected"]:
        result = f"NOT AS STATED, {result}"
    control = row["control"]
    expected = "UNEXPECTEDLY HOLDS" if control["verdict"] == "holds" else f"{control['verdict']}, as expected"
    without = row["premises"][0]["statement"]
    return (
        f"{row['id']} (seed {row['seed']}): {result}\n"
        f"    Control, without “{without}”: {expected}: {_lower(control['reason'])}"
    )


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _lines(rows: Sequence[tuple[str, ...]]) -> None:
    """Prints rows of text in aligned columns; shortens long lines on a terminal, but not in files and pipes."""
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
        table.add_column(column, no_wrap=i == 0, overflow="fold")  # Ids of claims stay on one line, for copying.
    for row in rows:
        table.add_row(*row)
    Console().print(table)
