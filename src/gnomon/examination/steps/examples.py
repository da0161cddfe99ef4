"""Examination step that shows the examples on which the network is most wrong, as images, rows or tokens."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.core.inputs.arguments import map_tensors, take_examples
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.metrics import predicted_classes
from gnomon.core.results import Axis, Bars, Plot, Value
from gnomon.core.results.record import Record
from gnomon.decisions.margins import probabilities
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
from gnomon.examination.timed import out_of_time_error
from gnomon.examination.worst_positions import rank_worst, show_worst_positions
from gnomon.report import PageContent
from gnomon.report.shown_example import ShownExample, draw_picture, is_picture, show_example
from gnomon.training import TrainingRun

AFFORDABLE_EXAMPLE_COUNTS = (64, 128, 256, 512, 1024, 2048)
"""Numbers of evaluated examples, chosen by time."""
SHOWN_EXAMPLES = 12
"""Examples that are shown."""
NAMED_CLASS_PAIRS = 8
"""Pairs of confused classes that are named."""
EXAMPLES_PER_READ = 256
"""Number of examples read at once."""


@dataclass(frozen=True, slots=True, eq=False)
class HardestExamples(Record):
    """Result: indices and errors of the examples with the largest errors, worst first."""

    numbers: tuple[int, ...]
    errors: tuple[float, ...]


class ExamplesStep(AbstractStep):
    """Examination step that shows the examples whose label has the smallest probability; for regression, the largest
    error.
    """

    key, title, share = "examples", "Worst examples", 0.03
    question = "On which examples is the network most wrong, and are their labels correct?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = HardestExamples
    rests_on = ("examples", "decisions")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run = products.get(TrainingRun)
        if run is None:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        at_positions = _position_loss(subject)
        if not subject.task.classes and not subject.asks_for_targets and at_positions is None:
            raise StepSkipped(
                "Skipped: your loss does not compare outputs with targets directly, so gnomon cannot compute an error."
            )
        source, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        each = max(products[NetworkProfile].cost.each, 1e-9)
        most = largest_size_up_to(AFFORDABLE_EXAMPLE_COUNTS, 0.5 * context.seconds / each)
        if most * each > 3 * context.seconds:  # A forward pass takes about a third of a training pass's time.
            raise out_of_time_error(f"A pass over {most} examples", most * each / 3, context)
        numbers = stratified_sample(len(source), source.labels(), most, seed=context.seed)
        examples = subject.examples(source.at(numbers))
        parts = torch.arange(len(numbers)).split(EXAMPLES_PER_READ)
        f = torch.cat([subject.outputs(take_examples(examples.x, part), run.model) for part in parts]).double()
        if not bool(torch.isfinite(f).all()):
            raise StepSkipped("Skipped: some outputs are not finite.")
        if at_positions is not None:
            error, worst, shown, answer, wrong = show_worst_positions(
                subject, at_positions, f, examples, numbers, which
            )
            plots: tuple[Plot, ...] = ()
            mostly_wrong = False
        else:
            classes = subject.task.classes > 0
            error, answers, notes = _judge(f, examples.y, subject)
            mistakes = predicted_classes(f) != examples.y if classes else torch.zeros_like(error)
            wrong = int(mistakes.sum()) if classes else None
            worst = rank_worst(error, mistakes, SHOWN_EXAMPLES)
            losses = _losses(f[worst], examples.y[worst], subject)
            shown = tuple(
                _show(subject, take_examples(examples.x, worst[i : i + 1]), f[j], int(numbers[j]), examples.y[j],
                      answers[j], f"{notes[j]}{losses[i]}")
                for i, j in enumerate(worst.tolist())
            )  # fmt: skip
            mostly_wrong = wrong is not None and wrong > 0.5 * len(error)
            answer, plots = _mistakes(f, examples.y, which, subject) if classes else (_largest(error, which), ())
        values = [
            Value("examples tried", len(numbers), meaning=f"of {len(source)} {which} examples", id="examples-tried"),
        ]
        values += [] if wrong is None else [Value("examples with a wrong answer", wrong, id="examples-wrong")]
        product = HardestExamples(tuple(e.number for e in shown), tuple(error[worst].tolist()))
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if run.shortage else answer
        content = PageContent(answer, (), tuple(values), plots, exhibits=shown, good_news=not mostly_wrong)
        return StepResult(content, product, "unsure" if run.shortage else "answered")


def _position_loss(subject: Subject) -> PositionCrossEntropy | None:
    """Returns the loss of a task with one label per position, such as a language model; None for other tasks."""
    reading = subject.task.reading
    loss = None if reading is None else reading.loss
    return loss if isinstance(loss, PositionCrossEntropy) and not loss.shared else None


def _losses(f: Tensor, y: Tensor, subject: Subject) -> list[str]:
    """Returns the training loss of each shown example as text; empty texts for a user's own loss."""
    loss = subject.task.loss
    if subject.recipe.own_loss is not None or loss is None:
        return [""] * len(f)
    targets = subject.targets(y)
    return [f", loss {float(loss.value(f[i : i + 1], targets[i : i + 1])):.3g}" for i in range(len(f))]


def _judge(f: Tensor, y: Tensor, subject: Subject) -> tuple[Tensor, list[str], list[str]]:
    """Returns for each example the network's error, its prediction as text, and its confidence."""
    if not subject.task.classes:
        error = (f - y.double()).square().mean(1).sqrt()
        return error, [_words(row) for row in f], [f"off by {e:.3g}" for e in error.tolist()]
    p = probabilities(f)
    own, best = p.gather(1, y[:, None]).squeeze(1), p.max(1)
    notes = [f"{sure:.0%} sure" for sure in best.values.tolist()]
    return 1 - own, [subject.class_name(c) for c in best.indices.tolist()], notes


def _words(y: Tensor) -> str:
    return ", ".join(f"{v:.3g}" for v in y[:3].tolist()) + (", ..." if len(y) > 3 else "")


def _show(subject: Subject, x: object, f: Tensor, number: int, y: Tensor, answer: str, note: str) -> ShownExample:
    """Returns what the report shows of one example; an output in the shape of the input image is drawn next to the
    image.
    """
    first = map_tensors(lambda t: t[0], x)
    if subject.task.classes:
        label = subject.class_name(int(y))
        return show_example(first, number, label=label, answer=answer, note=note, is_correct=label == answer,
                            columns=subject.columns, vocabulary=subject.vocabulary)  # fmt: skip
    same = isinstance(first, Tensor) and first.numel() == f.numel() > 1 and is_picture(first)
    label, answer = ("", "") if same else (_words(y), answer)
    shown = show_example(first, number, label=label, answer=answer, note=note, columns=subject.columns)
    words = ("input", "output") if same else ("true", "predicted")
    drawn = draw_picture(f.reshape(first.shape)) if same and isinstance(first, Tensor) else ""
    return replace(shown, words=words, answer_picture=drawn)


def _mistakes(f: Tensor, y: Tensor, which: str, subject: Subject) -> tuple[str, tuple[Plot, ...]]:
    """Counts wrong predictions and the pairs of classes that are confused."""
    answers = predicted_classes(f)
    wrong = answers != y
    count, n = int(wrong.sum()), len(y)
    if not count:
        words = (
            f"All {n} {which} examples tried are classified correctly; the examples shown have the lowest confidence."
        )
        return words, ()
    pairs, times = torch.stack([y[wrong], answers[wrong]], 1).unique(dim=0, return_counts=True)
    order = times.argsort(descending=True, stable=True)[:NAMED_CLASS_PAIRS].tolist()
    names = [" taken for ".join(subject.class_name(int(c)) for c in pairs[i]) for i in order]
    head = f"{count} of {n} {which} examples {'are' if count > 1 else 'is'} wrong"
    rest = (
        " The other examples shown are right but have the lowest confidence." if count < min(n, SHOWN_EXAMPLES) else ""
    )
    if int(times.max()) < 2:  # Draws nothing if each kind of mistake occurs only once.
        return f"{head}.{rest}", ()
    bars = Bars("times", names, times[order].double())
    words = "This plot shows the most frequent mistakes, written as 'label taken for answer'."
    tied = len(order) > 1 and int(times[order[0]]) == int(times[order[1]])
    first = f"most often {names[0].replace(' taken', ' is taken')}, {int(times.max())} times"
    often = f"no pair of classes is confused more than {int(times.max())} times" if tied else first
    return f"{head}; {often}.{rest}", (Plot("Mistakes", (bars,), Axis("times"), caption=words, id="mistakes"),)


def _largest(error: Tensor, which: str) -> str:
    most, half = float(error.max()), float(error.median())
    return f"The largest error on {which} examples is {most:.3g}; half of the errors are below {half:.3g}."
