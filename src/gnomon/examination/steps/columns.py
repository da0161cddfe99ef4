"""Examination step that checks columns, targets and labels before training."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.adapter.model_loss import takes_targets
from gnomon.adapter.users_loss import call_user_loss
from gnomon.adapter.view import original_module
from gnomon.checks import column_statistics, label_conflicts, suspect_labels
from gnomon.checks.data.augmented_inputs import augmented_input_findings
from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.channels import channel_findings
from gnomon.checks.data.class_numbers import class_number_findings
from gnomon.checks.data.copied_targets import copied_target_findings
from gnomon.checks.data.leaked_target import leaked_target_findings
from gnomon.checks.data.loss_domain import unbounded_loss_findings
from gnomon.checks.data.outliers import outlier_findings
from gnomon.checks.data.repeated_rows import repeated_row_findings
from gnomon.checks.data.row_order import row_order_findings
from gnomon.checks.data.sentinels import sentinel_findings
from gnomon.checks.data.shifted_masks import shifted_mask_findings
from gnomon.checks.data.skewed_targets import skewed_target_findings
from gnomon.checks.data.standardized_rows import standardized_row_findings
from gnomon.checks.data.targets import class_findings, regression_target_findings
from gnomon.checks.data.void_labels import padding_label, placeholder_label, placeholder_label_findings
from gnomon.checks.data.wrapped_targets import wrapped_target_findings
from gnomon.checks.network.first_layer_input import input_of_first_layer
from gnomon.checks.run.guessing import MIN_EXAMPLES
from gnomon.core.inputs.arguments import input_tensors, take_examples
from gnomon.core.inputs.signature import TARGET_ARGUMENT_NAMES
from gnomon.core.losses import AbstractLoss
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import largest_size_up_to, machine_slowdown
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.findings import data as kinds
from gnomon.findings import most_serious_first
from gnomon.report import PageContent

AFFORDABLE_EXAMPLE_COUNTS = (250, 1000, 2000, 4000, 8000)
"""Numbers of examples on which labels and columns are judged, chosen by time; wrong labels need many examples."""
EXAMPLES_PER_FIT = 1000
"""Number of examples fitted at once."""
SECONDS_PER_EXAMPLE = 6e-5
"""Seconds per example on an idle core, approximately."""
SECONDS_PER_NUMBER = 1.6e-7
"""Additional seconds per number of an example."""
MAX_TIME_FACTOR = 5
"""The step may take this multiple of its time share, because no later step checks labels."""
MIN_SECONDS = 1.2
"""Seconds that the step may take in any case."""

MAX_AUGMENTED_EXAMPLES = 1000
"""Examples that are augmented to see what the augmentation does, at most."""
MAX_ORDERED_EXAMPLES = 20_000
"""Rows whose order is examined, at most."""

RELATED_Z = 3.5
"""z-score against guessing; unrelated labels exceed it with probability 2e-4."""
TRACED_EXAMPLES = 256
"""Examples used to see what the first layer receives."""


@dataclass(frozen=True, slots=True)
class DataChecks(Record):
    """Result: accuracies of two baselines on held-out examples, guessing the largest class and kernel regression.

    ``examples`` are those that the latter was measured on.
    """

    guess: float | None = None
    simple: float | None = None
    examples: int = 0

    @property
    def related(self) -> bool:
        """Checks whether a simple model predicts held-out labels significantly better than guessing."""
        if self.guess is None or self.simple is None or not self.examples:
            return False
        return self.simple > self.guess + RELATED_Z * (self.guess * (1 - self.guess) / self.examples) ** 0.5


class ColumnsStep(AbstractStep):
    """Examination step that checks input columns, targets, class balance, contradicting copies and suspicious
    labels.
    """

    key, title, share = "columns", "Columns and labels", 0.03
    question = "Are there input columns, targets or labels that will cause problems in training?"
    gives = DataChecks
    states = ("labels_related",)
    essential = True

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if len(subject.train) < MIN_EXAMPLES:  # Small spreads and missing classes may be chance in so few examples.
            answer = f"{len(subject.train)} training examples are too few to judge columns, targets and labels."
            return StepResult(PageContent(answer), DataChecks(), "unsure")
        allowed = max(MAX_TIME_FACTOR * context.seconds, MIN_SECONDS)
        each = machine_slowdown(context.clock) * (
            SECONDS_PER_EXAMPLE + SECONDS_PER_NUMBER * sum(t[0].numel() for t in input_tensors(subject.probe.x))
        )
        examples = subject.examples(
            subject.train.probe(largest_size_up_to(AFFORDABLE_EXAMPLE_COUNTS, allowed / each), seed=context.seed)
        )
        found = _columns(subject, examples)
        if subject.task.classes or subject.asks_for_targets:
            found += leaked_target_findings(examples.x, examples.y, classes=subject.task.classes, names=subject.columns)
            found += category_code_findings(examples.x, examples.y, classes=subject.task.classes, names=subject.columns)
        values: list[Value] = []
        plots: tuple[Plot, ...] = ()
        checks = DataChecks()
        if subject.task.classes:
            y = _labels(subject)
            test = None if subject.test is None else subject.test.labels()
            found += class_findings(y, subject.task.classes, None if test is None else test.long())
            same = label_conflicts((examples.x, examples.y))
            judged = suspect_labels((examples.x, examples.y), seed=context.seed, most=EXAMPLES_PER_FIT)
            found += (*same.findings, *judged.findings)
            guess = float(torch.bincount(y).max()) / len(y)
            checks = DataChecks(guess, judged.accuracy if judged.ranked else None, len(judged.ranked))
            values = [
                Value("accuracy of always guessing the largest class", guess, id="guess-accuracy"),
                Value("equal examples with different labels", f"{same.share:.2%}", id="conflicting-examples"),
            ]
            if judged.ranked:
                left = "on held-out examples"
                values += [
                    Value("accuracy of kernel regression", judged.accuracy, meaning=left, id="simple-accuracy"),
                    Value(
                        "labels that similar examples contradict",
                        judged.floor,
                        judged.interval,
                        "estimate",
                        id="contradicted-labels",
                    ),
                    Value(
                        "most suspicious labels",
                        ", ".join(map(str, judged.ranked[:10])),
                        meaning="of the sampled rows",
                        id="most-suspect-labels",
                    ),
                ]
                plots = judged.plots()
        elif subject.asks_for_targets or (subject.reads_targets and examples.y.shape[1] != subject.task.outputs):
            found += regression_target_findings(_labels(subject).double())
            found += skewed_target_findings(_labels(subject))
            found += wrapped_target_findings(examples.x, examples.y)
        found += _target_findings(subject, examples, seed=context.seed)
        found += (*_augmentation_findings(subject, examples), *_order_findings(subject))
        findings = most_serious_first(found)
        answer = findings[0].message if findings else _good(checks)
        content = PageContent(answer, findings, tuple(values), plots, _definitions(), stated=findings[:1])
        return StepResult(content, checks, facts={"labels_related": checks.related})


def _augmentation_findings(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    """Reports an augmentation that changes the scale of the inputs, or destroys the information that determines the
    target.
    """
    augment = subject.recipe.augment
    if augment is None or not (subject.task.classes or subject.asks_for_targets):
        return ()
    some = examples.some(MAX_AUGMENTED_EXAMPLES)
    try:
        return augmented_input_findings(some.x, augment(some.x), some.y)
    except (RuntimeError, TypeError, ValueError, IndexError):  # The augmentation fails, which training reports.
        return ()


def _order_findings(subject: Subject) -> tuple[Finding, ...]:
    """Reports rows that are sorted by their target, and columns whose values rise or fall along the rows."""
    loader = subject.recipe.loader
    data = subject.train if loader is None else loader
    if not (subject.task.classes or subject.asks_for_targets) or len(data) > MAX_ORDERED_EXAMPLES:
        return ()
    batches = [subject.examples(batch) for batch in data.batches()]
    x, y = [next(input_tensors(batch.x)) for batch in batches], torch.cat([batch.y for batch in batches])
    if len({t.shape[1:] for t in x}) > 1:
        return ()
    return row_order_findings(torch.cat(x), y, in_order=loader is not None, names=subject.columns)


def _columns(subject: Subject, examples: Examples) -> list[Finding]:
    """Reports problems of input columns; ignores their scale if the network normalizes its inputs itself."""
    found = [
        *column_statistics((examples.x, None), names=subject.columns).findings,
        *channel_findings(examples.x),
        *sentinel_findings(examples.x, names=subject.columns),
        *outlier_findings(examples.x, names=subject.columns),
        *repeated_row_findings(examples.x),
        *standardized_row_findings(examples.x),
    ]
    if any(finding.kind == "feature-scale" for finding in found):
        given = input_of_first_layer(subject.module, examples.some(TRACED_EXAMPLES).x)
        if given is not None and not any(
            finding.kind == "feature-scale" for finding in column_statistics((given, None)).findings
        ):
            return [finding for finding in found if finding.kind != "feature-scale"]
    return found


def _target_findings(subject: Subject, examples: Examples, *, seed: int) -> tuple[Finding, ...]:
    """Reports targets that do not fit the loss, such as class indices used as quantities."""
    y = examples.y.reshape(len(examples), *subject.task.shape)
    if not y.is_floating_point():
        shifted = shifted_mask_findings(examples.x, y)
        return (*_copied_target_findings(subject, examples, y), *shifted) or _void_label_findings(subject, examples)
    if subject.task.classes:
        return ()
    loss = subject.recipe.own_loss
    if loss is not None and not isinstance(loss, AbstractLoss):
        some = examples.some(TRACED_EXAMPLES)
        outputs, targets = subject.outputs(some.x), subject.loss_targets(some.y)
        if found := unbounded_loss_findings(lambda f, y: call_user_loss(loss, f, y), outputs, targets):
            return found
    return class_number_findings(examples.x, examples.y, seed=seed) if subject.asks_for_targets else ()


def _copied_target_findings(subject: Subject, examples: Examples, y: Tensor) -> tuple[Finding, ...]:
    """Reports targets that equal the inputs, unless the module takes both and shifts the targets itself."""
    reading, x = subject.task.reading, examples.x
    if reading is not None and reading.shift and takes_targets(original_module(subject.module)):
        return ()
    if isinstance(x, Mapping):  # Some modules get the targets as one of their inputs, in a dict.
        x = {name: t for name, t in x.items() if name not in TARGET_ARGUMENT_NAMES}
    return copied_target_findings(x, y)


def _void_label_findings(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    """Reports a label for unknown positions, such as 255, that the loss should ignore but does not."""
    loss = subject.recipe.own_loss
    y = subject.loss_targets(examples.y) if loss is not None else examples.y
    if (loss is None or isinstance(loss, AbstractLoss)) and isinstance(subject.task.loss, PositionCrossEntropy):
        y = examples.y.reshape(len(examples), *subject.task.shape)
        label = padding_label(y)
        if label is None or label == subject.task.loss.ignored:
            return ()
        values = {"label": label, "share": float((y == label).double().mean())}
        return (Finding(kinds.PADDING_COUNTED, "labels", values),)
    if loss is None or isinstance(loss, AbstractLoss) or (label := _void_or_padding(y)) is None:
        return ()
    marked = (y == label).reshape(len(y), -1).any(1).nonzero()[:TRACED_EXAMPLES, 0]
    with preserve(subject.module, seed=0, grad=False):
        raw = run_module(subject.module, take_examples(examples.x, marked))
    if not isinstance(raw, Tensor):
        return ()
    return placeholder_label_findings(lambda f, t: call_user_loss(loss, f, t), raw, y[marked])


def _void_or_padding(y: Tensor) -> int | None:
    found = placeholder_label(y)
    return padding_label(y) if found is None else found


def _labels(subject: Subject) -> Tensor:
    y = subject.train.labels()
    assert y is not None  # never fails: an examination always has targets
    return y.long() if subject.task.classes else y


def _good(checks: DataChecks) -> str:
    """Returns the sentence for data without problems; for classification it names the accuracies to beat."""
    told = "No problem found in input columns, targets or labels."
    if checks.guess is None:
        return told
    simple = "" if checks.simple is None else f", and a simple model (kernel regression) on {checks.simple:.1%}"
    return f"{told} Always guessing the largest class is right on {checks.guess:.1%} of the examples{simple}."


def _definitions() -> tuple[QuantityDefinition, ...]:
    text = "a label is suspect if a model fitted without the example clearly predicts another class"
    return (QuantityDefinition("v(given) − max over others v(c)", text, "northcutt2021confident"),)
