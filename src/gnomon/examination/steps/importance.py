"""Examination step that measures column importance: how much the error grows if one column is shuffled.

    importance of column j = error(x with column j shuffled) - error(x)                                       (1)

The error is the share of wrong classes, or the share of the variance of the targets that is not explained.
Hypotheses: columns that carry the same information share it, and each of them alone may look unimportant.
Reference: [breiman2001random].
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.core.metrics import predicted_classes
from gnomon.core.results import Axis, Bars, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    SKIPPED_WITHOUT_TRAINING,
    TRAINING_NOT_FINISHED,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.examination.timed import out_of_time_error
from gnomon.report import PageContent
from gnomon.training import TrainingRun

AFFORDABLE_EXAMPLE_COUNTS = (32, 64, 128, 256, 512, 1024)
"""Numbers of examples, chosen by time."""
SHUFFLES_PER_COLUMN = 3
"""Number of shuffles of each column, whose mean is reported."""
MAX_COLUMNS = 200
"""Maximum number of columns that are shuffled one by one."""
SHOWN_COLUMNS = 20
"""Maximum number of columns in the plot."""


@dataclass(frozen=True, slots=True)
class ColumnImportance(Record):
    """Result: the importance of each column by name, the largest first, and the error without shuffling."""

    importance: dict[str, float]
    error: float


class ImportanceStep(AbstractStep):
    """Examination step that shuffles one column at a time and measures how much the error grows."""

    key, title, share = "importance", "Importance of the columns", 0.03
    question = "Which columns of the table does the network use?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = ColumnImportance
    rests_on = ("examples", "decisions")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return _is_table(subject)

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run = products.get(TrainingRun)
        if not _is_table(subject):
            raise StepSkipped("Skipped: the inputs are not a table with at most 200 columns of real numbers.")
        if run is None and context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run is not None and run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        if not subject.task.classes and not subject.asks_for_targets:
            raise StepSkipped("Skipped: your loss does not compare outputs with targets directly.")
        source, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        assert isinstance(subject.probe.x, Tensor)
        passes, each = (
            1 + SHUFFLES_PER_COLUMN * subject.probe.x.shape[1],
            max(products[NetworkProfile].cost.each, 1e-9) / 3,
        )
        n = largest_size_up_to(AFFORDABLE_EXAMPLE_COUNTS, 0.5 * context.seconds / (passes * each))
        if passes * n * each > 2 * context.seconds:
            raise out_of_time_error(f"{passes} passes over {n} examples", passes * n * each, context)
        examples = subject.examples(source.probe(n, seed=context.seed))
        found = column_importance(subject, subject.module if run is None else run.model, examples, seed=context.seed)
        answer = _answer(found, classes=subject.task.classes > 0)
        short = "" if run is None else run.shortage
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if short else answer
        definition = QuantityDefinition("error with a column shuffled − error", "importance", "breiman2001random")
        plots = _plots(found, which, classes=subject.task.classes > 0)
        data = {"importance": dict(found.importance)}
        content = PageContent(answer, (), _values(found), plots, (definition,), data=data)
        return StepResult(content, found, "unsure" if short else "answered")


def _is_table(subject: Subject) -> bool:
    x = subject.probe.x
    return isinstance(x, Tensor) and x.dim() == 2 and x.is_floating_point() and 2 <= x.shape[1] <= MAX_COLUMNS


def column_importance(subject: Subject, model: nn.Module, examples: Examples, *, seed: int) -> ColumnImportance:
    """Measures how much shuffling each column increases the error, averaged over several shuffles.

    See equation (1) of the module docstring.
    Cost: a forward pass for each column and shuffle.
    """
    x = examples.x
    assert isinstance(x, Tensor)
    draw, error = torch.Generator().manual_seed(seed), _error(subject, model, x, examples.y)
    names = subject.columns or tuple(f"column {i}" for i in range(x.shape[1]))
    found = {}
    for j, name in enumerate(names):
        grown = 0.0
        for _ in range(SHUFFLES_PER_COLUMN):
            shuffled = x.clone()
            shuffled[:, j] = x[torch.randperm(len(x), generator=draw).to(x.device), j]
            grown += _error(subject, model, shuffled, examples.y) - error  # (1)
        found[name] = grown / SHUFFLES_PER_COLUMN
    return ColumnImportance(dict(sorted(found.items(), key=lambda item: -item[1])), error)


def _error(subject: Subject, model: nn.Module, x: Tensor, y: Tensor) -> float:
    f = subject.outputs(x, model).double()
    if subject.task.classes:
        return float((predicted_classes(f) != y).double().mean())
    spread = float(y.double().var(0, correction=0).sum())
    return float((f - y.double()).square().sum(1).mean()) / max(spread, 1e-300)


def _answer(found: ColumnImportance, *, classes: bool) -> str:
    (first, most), *rest = found.importance.items()
    if most <= 0:
        return "No single column matters: shuffling one column at a time does not make the network worse."
    second = f" and {rest[0][0]} ({_effect(found, rest[0][1], classes=classes)})" if rest and rest[0][1] > 0 else ""
    unused = [name for name, value in found.importance.items() if value <= 0]
    which = unused[0] if len(unused) == 1 else f"any single one of {len(unused)} other columns"
    none = f" Shuffling {which} does no harm." if unused else ""
    columns = "columns are" if second else "column is"
    whole = f"shuffling it {'raises the share of wrong answers' if classes else 'lowers the explained variance'} from "
    effect = f"{whole}{_effect(found, most, classes=classes)}"
    return f"The most important {columns} {first} ({effect}){second}.{none}"


def _effect(found: ColumnImportance, importance: float, *, classes: bool) -> str:
    """Describes the effect of shuffling a column: the score before and after, such as "91.0% to 62.5%"."""
    before, after = (e if classes else 1 - e for e in (found.error, found.error + importance))
    return f"{max(before, 0.0):.1%} to {max(after, 0.0):.1%}"


def _values(found: ColumnImportance) -> tuple[Value, ...]:
    return tuple(
        Value(f"importance of {name}", value, id=f"importance-of-{name}")
        for name, value in list(found.importance.items())[:SHOWN_COLUMNS]
    )


def _plots(found: ColumnImportance, which: str, *, classes: bool) -> tuple[Plot, ...]:
    shown = list(found.importance.items())[:SHOWN_COLUMNS]
    if all(value == 0 for _, value in shown):
        return ()
    left = len(found.importance) - len(shown)
    unit = "increase of the share of wrong answers" if classes else "increase of the unexplained share of the variance"
    words = (
        f"Increase of the error on {which} examples if one column is shuffled; 0 means that the network does not "
        "use the column."
    )
    words += f" The {left} least important columns are left out." if left else ""
    bars = Bars("importance", [name for name, _ in shown], [value for _, value in shown])
    return (Plot("Importance of the columns", (bars,), Axis(unit), caption=words, id="column-importance"),)
