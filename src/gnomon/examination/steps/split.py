"""Examination step that compares train with test: copies in both, shift of the distribution, quality of the labels."""

from dataclasses import dataclass, replace

from gnomon.checks import data_shift, find_leaks
from gnomon.checks.data.changed_images import changed_image_findings
from gnomon.checks.data.compared_labels import MAX_TEST_EXAMPLES, MAX_TRAIN_EXAMPLES, LabelComparison, compare_labels
from gnomon.checks.data.drifted_columns import drifted_column_findings
from gnomon.checks.data.groups import MAX_TRAIN_EXAMPLES as MAX_GROUPED_EXAMPLES
from gnomon.checks.data.groups import group_findings
from gnomon.checks.data.leaks import DataLeaks
from gnomon.checks.data.relabeled import relabeled_class_findings
from gnomon.checks.data.row_numbers import row_number_findings
from gnomon.checks.data.shift import DataShift
from gnomon.checks.data.shift_description import class_cue_findings, describe_shift
from gnomon.checks.data.standardized_alone import standardized_alone_findings
from gnomon.checks.data.target_shift import target_shift_findings
from gnomon.checks.data.token_numbers import token_number_findings
from gnomon.checks.data.train_only_features import train_only_feature_findings
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.results import Finding, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import machine_slowdown
from gnomon.examination.step import AbstractStep, OutOfTime, StepContext, StepProducts, StepResult, StepSkipped
from gnomon.examination.subject import Subject
from gnomon.findings import data as kinds
from gnomon.report import PageContent

SHIFT_SECONDS = 0.7
"""Seconds on an idle core for detecting shifts, approximately."""
COPY_SECONDS_PER_NUMBER = 6e-8
"""Seconds on an idle core for finding copies, per number of each example."""
LABEL_SECONDS = 0.4
"""Seconds on an idle core for comparing labels, approximately."""
LABEL_SECONDS_PER_NUMBER = 4e-8
"""Additional seconds for comparing labels, per number of each example."""
MAX_TIME_FACTOR = 20
"""The step may take this multiple of its time share."""
MIN_SECONDS = 1.5
"""Seconds that the step may take in any case."""


@dataclass(frozen=True, slots=True, eq=False)
class SplitChecks(Record):
    """Result of comparing train and test: copies, shift of the distribution, and label quality."""

    leaks: DataLeaks
    shift: DataShift
    labels: LabelComparison = LabelComparison()


class SplitStep(AbstractStep):
    """Examination step that looks for test examples in train and for shifts between both; then compares label
    quality.
    """

    key, title, share = "split", "Train and test", 0.01
    question = "Is the test set separate from the training set, with the same distribution?"
    gives = SplitChecks

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return subject.test is not None

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if subject.test is None:
            raise StepSkipped("Skipped: no test examples. Pass test=(x, y).")
        share = context.seconds
        allowed, slower = max(MAX_TIME_FACTOR * share, MIN_SECONDS), machine_slowdown(context.clock)
        each = sum(t[0].numel() for t in input_tensors(subject.probe.x))
        numbers = each * (len(subject.train) + len(subject.test))
        cost = slower * (SHIFT_SECONDS + COPY_SECONDS_PER_NUMBER * numbers)
        if cost > allowed:
            raise OutOfTime(f"Comparing train with test would take about {cost:.2g} s. Give a larger budget.")
        copies = find_leaks(subject.train, subject.test, seed=context.seed)
        apart = data_shift(subject.train, subject.test, seed=context.seed)
        labels, other = LabelComparison(), _row_findings(subject, seed=context.seed)
        left = allowed - (share - context.seconds)
        # Augmentation makes training examples harder, which would look like label noise, so it is excluded.
        alike = not copies.findings and not apart.inputs_shifted and not apart.augmented
        if (
            alike
            and slower * (LABEL_SECONDS + LABEL_SECONDS_PER_NUMBER * each * (MAX_TRAIN_EXAMPLES + MAX_TEST_EXAMPLES))
            <= left
        ):
            train = subject.examples(subject.train.probe(MAX_TRAIN_EXAMPLES, seed=context.seed))
            test = subject.examples(subject.test.probe(MAX_TEST_EXAMPLES, seed=context.seed))
            labels = compare_labels(train.x, train.y, test.x, test.y, seed=context.seed)
            if subject.task.classes and not labels.unrelated:
                other += relabeled_class_findings(train.x, train.y, test.x, test.y, seed=context.seed)
        shifts = _with_description(subject, apart.findings, seed=context.seed)
        findings = (*copies.findings, *shifts, *labels.findings, *other)
        said = [copies.verdict, apart.verdict]
        if apart.shifted and not copies.has_leak:
            said.reverse()  # findings come first
        answer = " ".join((*said, *(finding.message for finding in (*labels.findings, *other))))
        definitions = (
            QuantityDefinition("r = d₁ / d₂", "distances to the two nearest training examples; near 0 for a copy"),
            QuantityDefinition(
                "AUC", "pairs of a test and a training example that a classifier distinguishes", "lopez2017revisiting"
            ),
        )
        values = _values(len(subject.test), copies, apart, labels)
        return StepResult(
            PageContent(answer, findings, values, (), definitions, stated=findings), SplitChecks(copies, apart, labels)
        )


def _with_description(subject: Subject, findings: tuple[Finding, ...], *, seed: int) -> tuple[Finding, ...]:
    """Adds to findings about shifted inputs a description of what differs, such as brightness, if known."""
    if subject.test is None or not any(finding.row is kinds.TRAIN_TEST_SHIFT for finding in findings):
        return findings
    x, z = (data.probe(MAX_TEST_EXAMPLES, seed=seed).x for data in (subject.train, subject.test))
    told = describe_shift(x, z)
    if told is None:
        return findings
    values = {"name": told.name, "train": told.train, "test": told.test, "hint": told.hint}
    return tuple(
        replace(finding, row=kinds.DESCRIBED_SHIFT, values={**finding.values, **values})
        if finding.row is kinds.TRAIN_TEST_SHIFT
        else finding
        for finding in findings
    )


def _row_findings(subject: Subject, *, seed: int) -> tuple[Finding, ...]:
    """Reports columns that differ between train and test, groups that are in both, and columns of row numbers."""
    if subject.test is None or len(subject.train) > MAX_GROUPED_EXAMPLES:
        return ()
    train = subject.examples(subject.train.probe(len(subject.train), seed=seed))
    test = subject.examples(subject.test.probe(MAX_TEST_EXAMPLES, seed=seed))
    classes = subject.task.classes
    drifted = drifted_column_findings(train.x, test.x, names=subject.columns)
    drifted += token_number_findings(train.x, test.x)
    drifted += (*standardized_alone_findings(test.x), *changed_image_findings(train.x, test.x))
    if classes:
        drifted += class_cue_findings(train.x, train.y, test.x, test.y)
        drifted += train_only_feature_findings(train.x, train.y, test.x, names=subject.columns)
    if not classes and subject.reads_targets:
        drifted += target_shift_findings(train.y, test.y)
    if not classes and not subject.asks_for_targets:
        return drifted
    found = drifted + row_number_findings(train.x, train.y, test.x, test.y, classes=classes, names=subject.columns)
    return (*found, *(group_findings(train.x, train.y, test.x, test.y, seed=seed) if classes else ()))


def _values(tests: int, copies: DataLeaks, apart: DataShift, labels: LabelComparison) -> tuple[Value, ...]:
    values = (
        Value("test examples", tests, id="test-examples"),
        Value("equal examples in train", copies.exact, meaning=f"by chance: {copies.expected:.3g}", id="exact-copies"),
        Value("nearly equal examples in train", copies.near, id="near-copies"),
        Value(
            "pairs of train and test examples that a classifier distinguishes",
            apart.auc,
            meaning="0.5 if both have the same distribution",
            id="shift-auc",
        ),
        Value("difference in class frequencies", apart.classes, id="class-shift"),
    )
    if not labels.classes:
        return values
    name, by = (
        "accuracy of a simple model on test labels minus accuracy on training labels",
        f"simple model; {labels.z:.2g} deviations",
    )
    return (*values, Value(name, labels.difference, meaning=by, id="label-difference"))
