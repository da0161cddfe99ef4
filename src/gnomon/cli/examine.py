"""``gnomon examine``: examines a network and writes a report."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.core.errors import InputError
from gnomon.core.machine.progress import without_bars

if TYPE_CHECKING:
    from rich.console import Console
    from torch import nn

    from gnomon.cli.setup import CommandSetup
    from gnomon.core.results import Finding
    from gnomon.examination import Examination
    from gnomon.examination.run import StepEnded
    from gnomon.report import Page, Section

MARKS = {
    "good": "[green]✓[/]",
    "unsure": "[yellow]?[/]",
    "note": "[blue]•[/]",
    "warning": "[yellow]▲[/]",
    "problem": "[red]![/]",
    "skipped": "[dim]–[/]",
    "failed": "[red]×[/]",
}
MODEL_HELP = (
    "file.py:name of a module or of a function that builds it, or a file such as train.py that has model, data, loss "
    "and optimizer."
)
DATA_HELP = "data.npz, data.csv, data.parquet, folder/ of images, file.py:function, or digits."
LEVELS = ("problem", "warning", "note")


def examine(
    network: Annotated[str | None, typer.Argument(help=MODEL_HELP, metavar="MODEL")] = None,
    data: Annotated[str | None, typer.Option(help=DATA_HELP, show_default="digits, or the data of train.py")] = None,
    target: Annotated[str | None, typer.Option(help="Target column of a csv or parquet file.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File of weights to load (a state dict).")] = None,
    fit: Annotated[
        bool | None,
        typer.Option(
            "--fit/--no-fit",
            help="Train a copy of the network; this is the default if MODEL is a function and no checkpoint is given.",
        ),
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option(help="sgd, adam, adamw, or file.py:function of the parameters; by default adam.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="file.py:function of outputs and targets.")] = None,
    schedule: Annotated[str | None, typer.Option(help="file.py:function of an optimizer, returns a scheduler.")] = None,
    lr: Annotated[
        float | None, typer.Option(help="Learning rate; by default the one that torch uses for the optimizer.")
    ] = None,
    momentum: Annotated[float, typer.Option(help="Momentum (sgd only).")] = 0.0,
    decay: Annotated[float, typer.Option(help="Weight decay.")] = 0.0,
    batch: Annotated[int | None, typer.Option(help="Batch size; by default chosen by the cost of a step.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Maximum number of passes over the data.")] = None,
    budget: Annotated[str, typer.Option(help="Time limit, such as 60s or 2m.")] = "60s",
    out: Annotated[Path, typer.Option(help="File to which the HTML report is written.")] = Path("report.html"),
    site: Annotated[
        str, typer.Option(help="Address or folder of the documentation, for links from the report.", show_default=False)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON instead of text.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a summary in Markdown instead of text.")] = False,
    strict: Annotated[
        bool,
        typer.Option(help="Exit with code 1 if a problem was found, or if time or data were not enough to decide."),
    ] = False,
    fail_on: Annotated[
        str,
        typer.Option(help="Exit with code 1 on these findings: problem, warning, note, or ids, separated by commas."),
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the answer to every question.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    device: Annotated[str, typer.Option(help="Device to compute on, such as cpu or cuda.")] = "cpu",
) -> None:
    """Examine a network on its data and write a report; without arguments, examine a small CNN on bundled digits."""
    from rich.console import Console

    from gnomon.cli import sources
    from gnomon.findings import check_finding_kinds

    console, seconds = Console(stderr=as_json or markdown), sources.parse_seconds(budget)
    words = [word.strip() for word in fail_on.split(",") if word.strip()] + (["problem"] if strict else [])
    kinds, label = check_finding_kinds(words), name_of(network, data)
    console.print(f"Examining {label}, at most {seconds:g} s …", markup=False, highlight=False)
    from torch import nn  # Imported after the first line is printed, because these imports take a second.

    from gnomon.cli import training
    from gnomon.examination import examine as examine_network

    given = read_setup(network, data, target, seed)
    for note in given.data.notes:
        console.print(f"Note: {note}.", markup=False, highlight=False)
    built, fit = given.model, given.fit if fit is None and checkpoint is None else fit
    if checkpoint is not None:
        built, fit = sources.load_checkpoint(checkpoint, built if isinstance(built, nn.Module) else built()), bool(fit)
    built = _place(built, device)
    with without_bars(), console.status("reading model and data") as status:
        result = examine_network(
            built, given.data.train, given.data.test, lr=lr if optimizer is not None and ":" in optimizer else None,
            optimizer=training.optimizer_from_options(optimizer, lr, momentum, decay) or given.optimizer,
            loss=training.load_function_option("--loss", loss) or given.loss,
            schedule=training.load_function_option("--schedule", schedule) or given.schedule,
            batch=batch, epochs=epochs, fit=fit, budget=seconds, seed=seed, notes=given.data.notes,
            columns=given.data.columns, name=label, command=" ".join(sys.argv[1:]), class_names=given.data.class_names,
            progress=lambda title, i, n: status.update(f"{i + 1}/{n}  {title}"),
            step_ended=_step_printer(console),
        )  # fmt: skip
    _write(result, console, out, site, as_json=as_json, markdown=markdown, verbose=verbose, budget=seconds)
    if why := reason_for_exit_code_one(result, kinds):
        Console(stderr=True).print(f"Failed for: {why}", markup=False)
        raise typer.Exit(1)


def _write(
    result: "Examination", console: "Console", out: Path, site: str,
    *, as_json: bool, markdown: bool, verbose: bool, budget: float,
) -> None:  # fmt: skip
    """Prints the result of an examination and then writes the report, so that a full disk does not lose the results."""
    import json

    if as_json:
        print(json.dumps(result.to_dict(), allow_nan=False))
    elif markdown:
        print(result.to_markdown())
    else:
        print_examination(result, console, verbose=verbose)
    path = result.save(out, site=site)
    if not as_json and not markdown:
        console.print(f"\nReport: [bold]{path}[/bold]{_time(result, budget)}", highlight=False, soft_wrap=True)


def read_setup(network: str | None, data: str | None, target: str | None, seed: int) -> "CommandSetup":
    """Loads the model and data that the command line names, and loss and optimizer from the model's file."""
    from gnomon.cli import setup, sources

    if network is not None and network.endswith(".py"):
        return setup.setup_from_file(network, data, target, seed)
    built = small_cnn if network is None else sources.load_model(network)
    return setup.CommandSetup(built, sources.load_data(data or "digits", target, seed))


def _time(result: "Examination", budget: float) -> str:
    """Returns the elapsed time and the time budget as text in parentheses."""
    took = str(result.manifest.get("wall time", "")).partition(",")[0]
    return f" (took {took}, budget {budget:g} s)" if took else ""


def reason_for_exit_code_one(result: "Examination", kinds: Sequence[str]) -> str:
    """Returns why the command must exit with code 1: problems that match --fail-on, or an inconclusive result; else
    empty.
    """
    failing = dict.fromkeys(finding.kind for finding in result.matching(kinds))
    return ", ".join(failing) or reason_for_inconclusive_exit(result, kinds)


def reason_for_inconclusive_exit(result: "Examination", kinds: Sequence[str]) -> str:
    """Returns why --fail-on fails although no problem matches, because the result is inconclusive; empty if it passes.

    A network that performs like random guessing fails a gate on levels (--strict, --fail-on warning). It passes a gate
    that names other kinds, such as --fail-on leaked-test, because those were looked for.
    """
    reason = result.inconclusive
    if not kinds or reason is None:
        return ""
    if reason.kind == "time":
        return "too little time for a result; give a larger --budget"
    if reason.kind == "failed":
        return "measurements failed; the report has the errors"
    if reason.kind == "too-few-examples":
        return "too little data for a result"
    return "the network performs like random guessing" if any(kind in LEVELS for kind in kinds) else ""


def name_of(network: str | None, data: str | None) -> str:
    """Returns a title for the examination: file and name of the model, and the data.

    >>> name_of("models/cnn.py:build", "data/mnist.npz"), name_of(None, "digits")
    ('cnn.py:build on mnist.npz', 'small CNN on digits')
    """
    if network is None:
        return f"small CNN on {Path(data or 'digits').name}"
    if network.endswith(".py"):
        return Path(network).name if data is None else f"{Path(network).name} on {Path(data).name}"
    data = data or "digits"
    place, _, name = network.rpartition(":")
    file, _, function = data.rpartition(":")
    shown = f"{Path(file).name}:{function}" if file else Path(data).name
    return f"{Path(place).name}:{name} on {shown}"


def step_line(section: "Section", number: int, steps: int) -> str:
    """Returns the progress line for a finished step of the examination: number, title, seconds."""
    ended = {"answered": "", "unsure": ", cannot tell", "late": ", no time"}.get(section.state, f", {section.state}")
    return f"{number:>3}/{steps}  {section.title}: {section.seconds:.1f} s{ended}"


def _step_printer(console: "Console") -> "StepEnded":
    """Returns the function that prints a line when a step of the examination ends."""
    return lambda section, number, steps: console.out(step_line(section, number, steps), highlight=False)


def print_examination(result: "Examination", console: "Console", *, verbose: bool = False) -> None:
    """Prints the verdict, how certain it is, what to do, and three main numbers; with ``verbose`` also every section.

    Lines end between words, at the width of the terminal.
    """
    from rich.markup import escape

    page = result.page()
    if verbose:
        _show_sections(page, console)
    else:
        for note in (note for section in page.sections for note in section.content.notes):
            console.print(f"Note: {note}.", markup=False, highlight=False)
    console.print(f"\n[bold]{escape(f'{result.name}: {page.headline}')}[/]", highlight=False)
    console.print(f"How certain? {escape(page.certainty)}", highlight=False)
    console.print("\nWhat to do:" if result.findings else f"\n{escape(page.advice_without_findings)}", highlight=False)
    print_findings(result.findings, console, page.proofs)
    if result.findings and result.sufficient_budget is not None:
        enough = f"For a verdict on training, examine again with a budget of about {result.sufficient_budget:g} s."
        console.print(f"\n{enough}", highlight=False)
    if result.headline_numbers:
        console.print("\nMain numbers:")
    for name, text in result.headline_numbers:
        console.print(f"  {escape(name)}: [bold]{escape(text)}[/]", highlight=False)
    if not verbose and page.sections:
        states = [section.status for section in page.shown_sections]
        rest = f"{states.count('good')} of {len(states)} answers are good. The report and --verbose show all answers."
        console.print(f"  {rest}", highlight=False)


def print_findings(findings: "Sequence[Finding]", console: "Console", proofs: Mapping[str, str]) -> None:
    """Prints a numbered list of findings: level and message, then the fix, then how the fix was tried."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for i, finding in enumerate(findings, 1):
        level = finding.level.name.lower()
        table.add_row(f" {i}.", MARKS[level], f"{level}: {escape(finding.message)}")
        table.add_row("", "", f"[bold]→ {escape(finding.fix)}[/]")
        if proof := proofs.get(finding.kind, ""):
            table.add_row("", "", f"Tried: {escape(proof)}")
    if findings:
        console.print(table, highlight=False)


def _show_sections(page: "Page", console: "Console") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for s in page.by_importance:
        said = (s.summary, *(f"Note: {note}." for note in s.content.notes))
        table.add_row(MARKS[s.status], f"[bold]{escape(s.title)}[/]", escape(" ".join(said)))
    if left := [s.title for sections in page.left_out.values() for s in sections]:
        table.add_row(MARKS["skipped"], "[bold]Not examined[/]", escape("; ".join(left)))
    console.print(table, highlight=False)
    if page.facts:
        console.print(f"\n{escape(', '.join(page.facts))}", highlight=False)


def small_cnn() -> "nn.Module":
    """Returns the small CNN that ``gnomon examine`` uses without arguments."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def _place(built: Any, device: str) -> Any:
    """Moves the network to the device that the user asks for; raises an error if this machine does not have it."""
    if device == "cpu":
        return built
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as reason:
        words = str(reason).splitlines()[0]
        raise InputError(
            f"--device is '{device}': {words}", accepted="a device of this machine", fix="Use cpu"
        ) from None
    net = built if isinstance(built, torch.nn.Module) else built()
    return net.to(device)
