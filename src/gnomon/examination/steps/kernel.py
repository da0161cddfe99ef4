"""Examination step that computes the tangent kernel of some examples, and how the labels relate to its eigenvectors."""

from dataclasses import dataclass
from math import nan, sqrt

import torch
from torch import Tensor, nn

from gnomon.checks.data.input_relation import label_input_test
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.metrics import effective_rank
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import random_state
from gnomon.core.results import Axis, Finding, Hypothesis, Line, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.levels import significance_level
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, StepSkipped, require_gradients
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.kernel_size import KernelMethod, choose_kernel_method
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.findings import data as data_kinds
from gnomon.findings import network as network_kinds
from gnomon.linalg.label_test import LabelTest, label_test
from gnomon.linalg.leave_one_out import LeaveOneOut, leave_one_out_of_modes
from gnomon.report import PageContent
from gnomon.tangent import kernel_spectrum
from gnomon.tangent.spectrum import KernelSpectrum

MIN_EXAMPLES_FOR_LABEL_TEST = 256
"""Minimum number of examples for calling labels unrelated to inputs."""
MIN_EXAMPLES_OUTSIDE_LARGEST_CLASS = 32
"""Minimum number of examples outside the largest class for calling labels unrelated."""
MAX_P_VALUE_OF_DOUBT = 0.05
"""p-value below which inputs suggest a relation. With it, 4 % of shuffled data sets stay undecided (0.01 < p <
0.05)."""
KERNEL_TIME_SHARE = 0.5
"""Share of its time that the kernel itself may take."""
MIN_OUTPUT_VARIATION = 1e-2
"""Relative variation of the outputs over examples at which the network distinguishes them."""
FRESH = (
    "Skipped: batch norm has seen no batch yet, and in eval mode all examples look the same to this network (constant "
    "tangent kernel). In training mode, with batch statistics, the network does distinguish the examples."
)


@dataclass(frozen=True, slots=True, eq=False)
class ProbeKernel(Record):
    """Result: the tangent kernel of a sample of examples, its eigenvalues, and tests of the labels.

    ``inputs`` is the same test of the labels by the inputs alone, None if it was not needed.
    """

    examples: Examples
    kernel: Tensor
    spectrum: KernelSpectrum
    prediction: LeaveOneOut
    labels: LabelTest
    means: KernelMethod
    inputs: LabelTest | None = None


class KernelStep(AbstractStep):
    """Examination step that computes eigenvalues, rank and label alignment of the tangent kernel, and tests the
    labels.
    """

    key, title, share = "kernel", "What it learns first", 0.12
    question = "Are the labels easy to learn for this network at initialization?"
    needs = (NetworkProfile,)
    gives = ProbeKernel

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        require_gradients(subject)
        if not subject.reads_targets:
            raise StepSkipped("Skipped: gnomon cannot interpret these integer targets; only your loss can.")
        means = choose_kernel_method(subject, products[NetworkProfile].cost, context)
        examples = subject.probe.some(means.affordable(context, KERNEL_TIME_SHARE))
        kernel = means.kernel(examples.x, context)
        if not bool(kernel.diagonal().max() > 0):
            raise StepSkipped("Skipped: the tangent kernel is zero because no parameter affects the outputs.")
        targets = subject.targets(examples.y)
        y = targets - targets.mean(0)
        if not bool(y.abs().max() > 0):
            raise StepSkipped("Skipped: all targets are the same, so there is nothing to learn.")
        centered = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
        if float(centered.abs().max()) <= 1e-6 * float(kernel.abs().max()):
            return (
                StepResult(PageContent(FRESH), state="unsure")
                if _wakes(subject, examples.x)
                else StepResult(_indistinct())
            )
        modes = kernel_spectrum(kernel, y)
        prediction = leave_one_out_of_modes(modes.values, modes.vectors, targets)
        labels = label_test(kernel, y, seed=context.seed)
        seen = labels.related or better_than_guess(prediction, accuracy_of_guessing(subject, examples.y))
        asked = None if seen else label_input_test(subject.probe.x, subject.targets(subject.probe.y), seed=context.seed)
        return self._result(subject, ProbeKernel(examples, kernel, modes, prediction, labels, means, asked))

    def _result(self, subject: Subject, product: ProbeKernel) -> StepResult:
        n, modes, labels = len(product.examples), product.spectrum, product.labels
        guess = accuracy_of_guessing(subject, product.examples.y)
        seen = labels.related or better_than_guess(product.prediction, guess)
        related = seen or product.inputs is not None and product.inputs.related
        hint = None if product.inputs is None else product.inputs.p_value
        doubtful = hint is not None and hint < MAX_P_VALUE_OF_DOUBT
        asked = min(n, len(subject.probe))
        few = guess is not None and (1 - guess) * asked < MIN_EXAMPLES_OUTSIDE_LARGEST_CLASS
        unsure = not related and (doubtful or few or asked < MIN_EXAMPLES_FOR_LABEL_TEST)
        findings = () if related or unsure else (_find_unrelated(product, guess, len(subject.probe)),)
        what = "targets" if guess is None else "labels"
        answer = _ease(modes.modes_for(0.9), n, labels, what)
        if related and not seen:
            answer += " However, the labels are related to the inputs, so training can still learn them."
        elif related and not labels.related:
            answer += (
                " However, the kernel predicts held-out labels better than guessing, so labels and inputs are related."
            )
        elif doubtful:
            answer += f" A test without the network suggests that labels and inputs are related (p-value {hint:.2g})."
        elif unsure:
            lack = (
                f"{n} examples are not enough"
                if asked < MIN_EXAMPLES_FOR_LABEL_TEST
                else "The examples outside the largest class are too few"
            )
            wanted = f"; {MIN_EXAMPLES_FOR_LABEL_TEST} would be" if asked < MIN_EXAMPLES_FOR_LABEL_TEST else ""
            answer += f" {lack} to tell whether labels are related to inputs{wanted}."
        hypotheses = (
            Hypothesis(
                "labels are related to inputs", None if unsure else related, f"p = {labels.p_value:.3g} for the kernel"
            ),
            Hypothesis("the probe examples represent the data", None, f"{n} of {len(subject.train)} examples"),
        )
        data = {"eigenvalues": modes.values, "captured": modes.captured}
        plots = _plot_learned_share(modes, what), _speeds(modes)
        content = PageContent(
            answer, findings, _values(product, classes=guess is not None), plots,
            _definitions(), hypotheses, data,
        )  # fmt: skip
        return StepResult(content, product, "unsure" if unsure else "answered")


def _ease(modes: int, n: int, labels: LabelTest, what: str) -> str:
    """Returns a sentence on how easy the labels are for the network, and whether they depend on the inputs at all."""
    easy = (
        f"The {what} are easy for this network"
        if modes <= n / 4
        else f"The {what} are moderately hard for this network"
        if modes <= n / 2
        else f"At initialization the {what} are hard for this network, as is common before training"
    )
    first = f"fitting 90 % of them takes {modes} of {n} modes of the tangent kernel"
    chance = f"(random {what}: about {0.9 * n:.0f})"
    better = "far better than" if labels.related else "no better than"
    return f"{easy}: {first} {chance}. The {what} fit {better} shuffled {what} (p-value {labels.p_value:.2g})."


def accuracy_of_guessing(subject: Subject, y: Tensor) -> float | None:
    """Returns the accuracy of always guessing the largest class; None for regression."""
    return float(torch.bincount(y).max()) / len(y) if subject.task.classes else None


def better_than_guess(prediction: LeaveOneOut, guess: float | None) -> bool:
    """Checks whether the kernel's leave-one-out predictions are significantly better than guessing."""
    n = len(prediction.targets)
    if guess is None or prediction.accuracy is None:
        return prediction.error < 1 - 2 / sqrt(n)
    return prediction.accuracy > guess + 3 * sqrt(guess * (1 - guess) / n)


def _find_unrelated(product: ProbeKernel, guess: float | None, asked: int) -> Finding:
    labels, accuracy = product.labels, product.prediction.accuracy
    score = "" if guess is None or accuracy is None else (
        f"; {accuracy:.1%} of held-out examples are predicted right (always guessing the largest class: {guess:.1%})"
    )  # fmt: skip
    inputs = 1.0 if product.inputs is None else product.inputs.p_value
    values = {"examples": len(product.examples), "p_value": labels.p_value, "asked": asked, "inputs_p_value": inputs}
    evidence = (
        Value("alignment with the labels", labels.alignment, labels.shuffled_interval),
        Value("smallest alignment that the test detects in 80 % of cases", labels.detectable),
    )
    return Finding(
        data_kinds.LABELS_UNRELATED, "labels", {**values, "score": score}, evidence, significance_level("labels")
    )


def _wakes(subject: Subject, x: Inputs) -> bool:
    """Checks whether outputs that are equal for all examples become different if batch norm uses batch statistics.

    In eval mode a norm that has seen no batch does nothing, and small weights may leave only biases.
    """
    module = copy_module(subject.module).eval()
    norms = [part for part in module.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    for part in norms:
        part.train()
    if not norms:
        return False
    with torch.no_grad(), random_state(0):
        f = run_to_rows(module, x).double()
    return bool((f - f.mean(0)).norm() > MIN_OUTPUT_VARIATION * f.norm())


def _indistinct() -> PageContent:
    finding = Finding(network_kinds.INDISTINCT_EXAMPLES)
    return PageContent(finding.message, (finding,), stated=(finding,))


def _values(product: ProbeKernel, *, classes: bool) -> tuple[Value, ...]:
    modes, labels, prediction, n = product.spectrum, product.labels, product.prediction, len(product.examples)
    positive = modes.values[modes.values > modes.values[0] * n * torch.finfo(torch.float32).eps]
    condition, usual = float(positive[0] / positive[-1]), labels.shuffled_interval
    slowest = "how many times longer the slowest mode takes to learn than the fastest"
    shuffled = f"shuffled labels: {usual.low:.3g} to {usual.high:.3g} (95 %)"
    against = f"against {len(labels.shuffled)} shuffles of the labels"
    values = (
        Value(
            "probe examples",
            n,
            meaning="of one random combination of the outputs" if product.means.combined else "",
            id="probe-examples",
        ),
        Value("largest eigenvalue", float(modes.values[0]), id="largest-eigenvalue"),
        Value("condition number", condition, meaning=slowest, id="condition-number"),
        Value(
            "effective rank",
            effective_rank(modes.values),
            meaning=f"number of modes that the network can distinguish in practice, of {n}",
            id="effective-rank",
        ),
        Value(
            "modes that explain 90 % of the labels",
            modes.modes_for(0.9),
            meaning=f"of {n} modes",
            id="modes-for-90-percent",
        ),
        Value("alignment with the labels", labels.alignment, meaning=shuffled, id="label-alignment"),
        Value("p-value of the alignment", labels.p_value, meaning=against, id="alignment-p-value"),
    )
    if classes:
        accuracy = prediction.accuracy or 0.0
        name = "leave-one-out accuracy of the kernel"
        return (*values, Value(name, accuracy, prediction.accuracy_interval, "estimate", id="leave-one-out-accuracy"))
    return (
        *values,
        Value(
            "leave-one-out error of the kernel",
            prediction.error,
            meaning="1 means no better than predicting the mean",
            id="leave-one-out-error",
        ),
    )


def _plot_learned_share(modes: KernelSpectrum, what: str) -> Plot:
    """Plots which fraction of the labels the fastest-learned kernel eigenvectors contain, and their share of learning
    speed.
    """
    places, share = range(1, len(modes.values) + 1), modes.values.clamp(min=0).cumsum(0)
    marks = [] if modes.captured is None else [Line(what, places, modes.captured)]
    marks.append(Line("learning speed", places, share / share[-1].clamp(min=1e-300), "dashed"))
    words = (
        f"If the curve of the {what} rises early, training fits the {what} soon. Dashed: the share of the total "
        f"learning "
        "speed that these modes have."
    )
    axes = Axis("modes, fastest first", log=True), Axis("cumulative share", limits=(0.0, 1.02))
    return Plot("What is learned first", tuple(marks), *axes, words, id="kernel-modes")


def _speeds(modes: KernelSpectrum) -> Plot:
    """Plots the kernel's eigenvalues, which are the speeds at which the network learns the eigenvectors."""
    rounding = float(modes.values[0]) * len(modes.values) * torch.finfo(torch.float32).eps
    positive = [float(v) if v > rounding else nan for v in modes.values]
    line = Line("eigenvalue", range(1, len(positive) + 1), positive)
    words = (
        "The eigenvalue of a mode is its speed of learning: a mode with a tenth of the eigenvalue takes ten times as "
        "many steps."
    )
    return Plot(
        "How fast each mode is learned",
        (line,),
        Axis("mode, fastest first"),
        Axis("eigenvalue", log=True),
        words,
        id="kernel-spectrum",
    )


def _definitions() -> tuple[QuantityDefinition, ...]:
    return (
        QuantityDefinition(
            "Θ(x, x′) = (1/k) Σₐ ⟨∂fₐ(x)/∂w, ∂fₐ(x′)/∂w⟩",
            "the tangent kernel at the current weights",
            "jacot2018neural",
        ),
        QuantityDefinition(
            "A = ⟨HΘH, yyᵀ⟩ / (|HΘH| |yyᵀ|)", "alignment with the centered labels", "cortes2012algorithms"
        ),
        QuantityDefinition("f₋ᵢ(xᵢ) = yᵢ − cᵢ / Gᵢᵢ,  G = (Θ + r)⁻¹", "leave one out", "rasmussen2006gaussian"),
    )
