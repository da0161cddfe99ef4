"""Examination step that describes the data: scale, constant features, duplicates, class balance."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnomon.checks.data.rows import example_hashes
from gnomon.checks.network.first_layer_input import input_of_first_layer
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.checks.run.guessing import MIN_EXAMPLES
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.results import Axis, Finding, Histogram, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult
from gnomon.examination.subject import Subject
from gnomon.findings import data as kinds
from gnomon.report import PageContent

MAX_EXAMPLES = 4096
"""Examples used, at most."""
MIN_EXAMPLES_PER_CLASS = 5
"""Mean number of examples of a class, at least; with fewer, chance decides what is learned about a class."""
FEW_EXAMPLES = 200
"""Above this number of examples classes may be rare: few-shot data sets have many classes."""
TRACED_EXAMPLES = 64
"""Examples used to see what the first layer receives."""
MAX_HISTOGRAM_NUMBERS = 20000
"""Numbers in the histogram, at most."""


@dataclass(frozen=True, slots=True)
class DataSummary(Record):
    """Result: the root mean square of real-valued inputs, and the frequency of the largest class; None if not
    applicable.
    """

    rms: float | None
    largest_class: float | None


@dataclass(frozen=True, slots=True)
class _Part(Record):
    """Numbers, findings and plots about either the inputs or the targets."""

    values: tuple[Value, ...] = ()
    findings: tuple[Finding, ...] = ()
    plots: tuple[Plot, ...] = ()


class DataStep(AbstractStep):
    """Examination step that describes the scale of inputs and targets and the balance of classes."""

    key, title, share = "data", "The data", 0.05
    question = "Do inputs and targets have a suitable scale, and is anything unusual about them?"
    gives = DataSummary
    essential = True

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        x = subject.train.probe(MAX_EXAMPLES, seed=context.seed).x
        floats = [t for t in input_tensors(x) if t.is_floating_point()]
        rms, inputs = None, _Part()
        if floats:
            flat = torch.cat([t.reshape(len(t), -1).double() for t in floats], 1)
            rms = float(flat.square().mean().sqrt())
            inputs = _inputs(flat, rms, alone=len(floats) == len(list(input_tensors(x))))
            inputs = replace(inputs, findings=_unless_scaled(subject, inputs.findings))
        y = subject.train.labels()
        assert y is not None  # never fails: an examination always has targets
        largest, targets = _classes(y.long(), subject.task.classes) if subject.task.classes else (None, _numbers(y))
        findings = _too_few(len(subject.train), subject.task.classes) + inputs.findings + targets.findings
        answer = " ".join(finding.message for finding in findings) or _facts(len(subject.train), rms, largest, y)
        notes = ("; ".join(subject.notes),) if subject.notes else ()
        values = (
            Value("training examples", len(subject.train), id="training-examples"),
            *inputs.values,
            *targets.values,
        )
        meaning = QuantityDefinition("rms = √(mean of x²)", f"over all features of at most {MAX_EXAMPLES} examples")
        content = PageContent(answer, findings, values, inputs.plots, (meaning,), stated=findings, notes=notes)
        return StepResult(content, DataSummary(rms, largest))


def _too_few(n: int, classes: int) -> tuple[Finding, ...]:
    """Reports a problem if there are too few examples to draw conclusions."""
    if n >= MIN_EXAMPLES:
        if classes < 3 or n >= MIN_EXAMPLES_PER_CLASS * classes or n > FEW_EXAMPLES:
            return ()
        values: dict[str, float] = {"examples": n, "classes": classes, "each": n / classes}
        values |= {"least": MIN_EXAMPLES_PER_CLASS, "better": 10 * MIN_EXAMPLES_PER_CLASS}
        return (Finding(kinds.FEW_PER_CLASS, "inputs", values, (Value("training examples", n),)),)
    values = {"examples": n, "least": MIN_EXAMPLES}
    return (Finding(kinds.TOO_FEW_EXAMPLES, "inputs", values, (Value("training examples", n),)),)


def _unless_scaled(subject: Subject, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Removes findings on the scale of inputs if the network normalizes its inputs itself."""
    if not any(finding.kind == "input-scale" for finding in findings):
        return findings
    given = input_of_first_layer(subject.module, subject.probe.some(TRACED_EXAMPLES).x)
    if given is None or signal_findings((), float(given.double().square().mean())):
        return findings
    return tuple(finding for finding in findings if finding.kind != "input-scale")


def _facts(n: int, rms: float | None, largest: float | None, y: Tensor) -> str:
    """Returns the sentence for data without problems: number of examples, targets, scale."""
    spread = f"the targets have a standard deviation of {float(y.double().std(correction=0)):.3g}"
    if not y.is_floating_point():
        spread = f"the targets have shape {tuple(y.shape[1:])}, whole numbers from {int(y.min())} to {int(y.max())}"
    kinds = spread if largest is None else f"the largest class has {largest:.1%} of them"
    size = "" if rms is None else f" The typical size of the inputs is {rms:.3g} (root mean square); about 1 is best."
    return f"There {'are' if n > 1 else 'is'} {n:,} training example{'s' if n > 1 else ''}; {kinds}.{size}"


def _inputs(flat: Tensor, rms: float, *, alone: bool) -> _Part:
    """Returns numbers and findings about one input tensor; ``alone`` says whether it is the only input."""
    spread = flat.std(0, correction=0)
    varying, constant = spread[spread > 0], int((spread == 0).sum())
    ratio = float(varying.max() / varying.min()) if len(varying) else 1.0
    values = (
        Value("root mean square of the inputs", rms, meaning="1 if each feature is standardized", id="input-rms"),
        Value("mean of the inputs", float(flat.mean()), id="input-mean"),
        Value("constant features", constant, meaning=f"of {flat.shape[1]}", id="constant-features"),
        Value("largest over smallest spread of a feature", ratio, id="spread-ratio"),
        Value(
            "examples that repeat an earlier example",
            len(flat) - len(set(example_hashes(flat))),
            meaning=f"of {len(flat)}",
            id="copies",
        ),
    )
    findings = []
    if alone and len(flat) > 1 and constant == flat.shape[1]:
        findings.append(Finding(kinds.CONSTANT_INPUTS, "inputs"))
    findings += signal_findings((), rms**2)  # The check of signals knows which scales of inputs are acceptable.
    return _Part(values, tuple(findings), (_histogram(flat),))


def _classes(y: Tensor, classes: int) -> tuple[float, _Part]:
    counts = torch.bincount(y, minlength=classes)
    largest, empty = float(counts.max() / counts.sum()), int((counts == 0).sum())
    values = (
        Value("largest class", f"{largest:.1%}", meaning="the accuracy of always guessing it", id="largest-class"),
        Value("smallest class", int(counts.min()), unit="examples", id="smallest-class"),
    )
    findings: tuple[Finding, ...] = ()
    if int((counts > 0).sum()) == 1 and len(y) > 1:
        findings = (Finding(kinds.ONE_CLASS, "labels"),)
    elif empty:
        findings = (Finding(kinds.EMPTY_CLASSES, "labels", {"empty": empty, "classes": classes}),)
    return largest, _Part(values, findings)


def _numbers(y: Tensor) -> _Part:
    if not y.is_floating_point():
        return _Part((Value("different targets", len(y.unique()), id="different-targets"),))
    return _Part((Value("spread of the targets", float(y.double().std(correction=0)), id="target-spread"),))


def _histogram(flat: Tensor) -> Plot:
    numbers = flat.reshape(-1)
    sample = numbers[:: max(1, len(numbers) // MAX_HISTOGRAM_NUMBERS)]
    words = (
        "This plot shows the distribution of the input values; networks learn best from values between about -3 and 3."
    )
    axes = Axis("value of an input feature"), Axis("how often", log=True)
    return Plot("Inputs", (Histogram.of("values", sample, bins=60),), *axes, words, id="inputs")
