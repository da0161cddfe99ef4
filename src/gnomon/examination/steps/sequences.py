"""Examination step that checks sequence models: attention heads, memory length, and outputs that depend on later
inputs.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.layer_classes import RECURRENT
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module as run_module
from gnomon.core.results import Axis, Finding, Image, Plot, Value
from gnomon.core.results.record import Record
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
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
from gnomon.report import PageContent
from gnomon.sequences import (
    attention_maps,
    causality,
    head_ablation,
    lag_of_task,
    logit_scale,
    memory_length,
    predicts_next,
)
from gnomon.sequences.attention import AttentionMaps
from gnomon.sequences.batch import sequence_argument
from gnomon.sequences.observe import observe_attention
from gnomon.training import TrainingRun

MAX_EXAMPLES = 16
"""Sequences used, at most."""
SHOWN_HEADS = 2
"""Number of heads of a layer whose attention is drawn."""
MAX_NAMED_TOKENS = 24
"""Maximum number of tokens that are named along a map."""
MAX_ABLATED_HEADS = 64
"""Maximum number of heads that are switched off one by one."""


@dataclass(frozen=True, slots=True)
class SequenceChecks(Record):
    """Result: descriptions of the sequence checks that were made, and how many steps back the task needs to look."""

    looked: tuple[str, ...]
    lag: int | None


class SequencesStep(AbstractStep):
    """Examination step that runs those checks of sequence models that apply to the network.

    All measurements are free of sampling error, except the lag of the memory, which is found by a test at level
    1e-4."""

    key, title, share = "sequences", "Along the sequence", 0.03
    question = "Do attention and memory reach back far enough, and does any output see the future?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = SequenceChecks
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return True

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run = products.get(TrainingRun)
        model = subject.module if run is None or run.shortage or run.diverges else run.model
        some = subject.probe.some(MAX_EXAMPLES)
        heads = _count_heads(model, subject.probe.some(2).x)
        kinds = _kinds(subject, heads)
        if not kinds:
            raise StepSkipped("Skipped: no attention or recurrent layer, and the targets are not the next inputs.")
        passes = 6 + min(heads, MAX_ABLATED_HEADS) + ("next" in kinds) * _positions(some.x)
        cost = passes * len(some) * products[NetworkProfile].cost.each / 2
        if cost > context.seconds:
            raise out_of_time_error(f"{passes} passes over {len(some)} sequences", cost, context)
        findings: list[Finding] = []
        plots: list[Plot] = []
        looked: list[str] = []
        lag = lag_of_task(subject.probe.x, subject.probe.y) if "recurrence" in kinds else None
        if "next" in kinds:
            seen = causality(_with_positions_second(model, some.x), some.x)
            findings, looked = [*findings, *seen.findings], [*looked, seen.verdict]
        if "attention" in kinds:
            maps = attention_maps(model, some.x)
            findings, looked = [*findings, *maps.findings], [*looked, maps.verdict]
            if any(isinstance(m, nn.MultiheadAttention) for m in model.modules()):
                findings.extend(logit_scale(model, some.x).findings)
            plots.extend((*_heads(maps, some.x, subject), *maps.plots()))
            if heads <= MAX_ABLATED_HEADS:
                findings.extend(head_ablation(model, some.x).findings)
        if lag and isinstance(some.x, Tensor):  # At lag 0 only the last input matters, so nothing is remembered.
            kept = memory_length(model, some.x, lag=lag)
            findings.extend(kept.findings)
            looked.append(f"The targets depend on inputs {lag} steps back. {kept.verdict}")
            plots.extend(kept.plots())
        short = "" if run is None else run.shortage
        alone = (
            "No single time step is related to the targets, so gnomon cannot check how far back the memory must reach."
        )
        told = " ".join(looked) or alone
        answer = findings[0].message if findings else told
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if short and not findings else answer
        values = () if lag is None else (Value("lag of the task", lag, id="lag-of-the-task"),)
        content = PageContent(answer, tuple(findings), values, tuple(plots), stated=tuple(findings[:1]))
        return StepResult(content, SequenceChecks(tuple(looked), lag), "unsure" if short else "answered")


class _PositionsSecond(nn.Module):
    """A module that swaps the last two dimensions of another module's outputs, from (n, classes, positions)."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module, self.training = module, module.training

    def forward(self, x: Tensor) -> Tensor:
        return output_tensor(self.module(x)).transpose(1, 2)


def _with_positions_second(module: nn.Module, x: Inputs) -> nn.Module:
    """Swaps the last two dimensions of a module's outputs if positions are last; returns other modules unchanged."""
    if not isinstance(x, Tensor):
        return module
    with preserve(module, grad=False, seed=0):
        shape = output_tensor(run_module(module, x[:2])).shape
    return _PositionsSecond(module) if len(shape) == 3 and shape[1] != x.shape[1] == shape[2] else module


def _heads(maps: AttentionMaps, x: Inputs, subject: Subject) -> list[Plot]:
    """Plots the attention maps of one example, for the first heads of the first and last layer."""
    found: list[Plot] = []
    given = _tokens(x)
    for place in sorted({0, len(maps.maps) - 1}):
        heads = maps.maps[place][0]
        for head, seen in list(enumerate(heads))[:SHOWN_HEADS]:
            names: list[str] = []
            if given is not None and given.shape[1] == seen.shape[0]:
                words, tokens = subject.vocabulary, given[0].tolist()
                names = (
                    [words[t] if t < len(words) else str(t) for t in tokens] if len(tokens) <= MAX_NAMED_TOKENS else []
                )
            mark = Image("attention", seen.double().cpu(), names, names)
            words_ = (
                f"Head {head} of '{maps.layers[place]}' on one example: each row shows the tokens to which one "
                f"token attends."
            )
            title = f"Attention, {maps.layers[place]} head {head}"
            axes = Axis("token looked at"), Axis("token that looks")
            found.append(Plot(title, (mark,), *axes, words_, id=f"attention-{place}-{head}"))
    return found


def _kinds(subject: Subject, heads: int) -> tuple[str, ...]:
    """Returns which sequence checks apply: "attention", "recurrence", or "next" if targets are the next inputs."""
    reading = subject.task.reading
    found = {
        "attention": heads > 0,
        "recurrence": any(isinstance(m, RECURRENT) for m in subject.module.modules()),
        "next": predicts_next(subject.probe.x, subject.probe.y) or (reading is not None and reading.shift > 0),
    }
    return tuple(kind for kind, there in found.items() if there)


def _count_heads(model: nn.Module, x: Inputs) -> int:
    """Returns the number of attention heads that a forward pass runs."""
    try:
        return sum(call.heads for call in observe_attention(model, x))
    except InputError:
        return 0  # no attention


def _tokens(x: Inputs) -> Tensor | None:
    """Returns the tokens (n, times) among the inputs; None if there are none."""
    try:
        found = sequence_argument(x)[1]
    except InputError:
        return None
    return None if found.is_floating_point() else found


def _positions(x: Inputs) -> int:
    """Returns the length of the sequences among the inputs, 1 if there are none."""
    try:
        return sequence_argument(x)[1].shape[1]
    except InputError:
        return 1
