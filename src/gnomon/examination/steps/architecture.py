"""Examination step that reports parameters, memory, time of a training step, and whether wide-network theory
applies.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.core.errors import GnomonError
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.results import Axis, Bars, Finding, Hypothesis, Plot, Value, format_number
from gnomon.core.results.record import Record
from gnomon.core.results.value import HowValueWasObtained
from gnomon.examination.cost import StepCost, measure_step_cost
from gnomon.examination.pictures import layer_path_and_class
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, error_sentence
from gnomon.examination.subject import Subject
from gnomon.findings import network as kinds
from gnomon.program import Program, read_program
from gnomon.report import PageContent

TIMED_BATCH_SIZE = 32
"""Examples in the timed step."""
SHOWN_PARTS = 12
"""Parts whose size is plotted, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class NetworkProfile(Record):
    """How a network is built and what it costs: its layers as a `gnomon.program`, and the time of training steps."""

    program: Program | None
    reason: str
    cost: StepCost

    @property
    def seconds_per_example(self) -> float:
        """Returns the seconds that a forward and backward pass takes per example, in a batch of usual size."""
        return self.cost.passes(TIMED_BATCH_SIZE) / TIMED_BATCH_SIZE


class ArchitectureStep(AbstractStep):
    """Examination step that reports the number of parameters, the memory, and the time of training steps."""

    key, title, share = "architecture", "The network", 0.05
    question = "How many parameters does the network have, and how long does a training step take?"
    gives = NetworkProfile
    rests_on = ()

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        module, task = subject.module, subject.task
        sizes = {name: p.numel() for name, p in module.named_parameters()}
        total, size = sum(sizes.values()), sum(p.numel() * p.element_size() for p in module.parameters())
        cost = measure_step_cost(subject, context.clock, context.seconds)
        program, reason = _program(subject)
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
        n = min(TIMED_BATCH_SIZE, len(subject.probe))
        milliseconds = round(1e3 * cost.step(n), 3)
        values = (
            Value("parameters", total, id="parameters"),
            Value("parameter tensors", len(sizes), id="parameter-tensors"),
            Value("memory for parameters", *_memory(size), id="parameter-memory"),
            Value(
                "training step",
                milliseconds,
                unit="ms",
                meaning=f"forward, backward and update, {n} examples",
                id="training-step",
            ),
            Value("training examples", len(subject.train), id="examples"),
            *(() if subject.test is None else (Value("test examples", len(subject.test), id="held-out-examples"),)),
            Value("outputs", task.outputs, id="outputs"),
            *(() if task.reading is None else (Value("reading", task.reading.sentence, id="reading"),)),
            *(Value(f"parameters of {name}", count, id=f"parameters-of-{name}") for name, count in largest),
        )
        readable = Hypothesis("the infinite-width limit can be computed from the module", program is not None, reason)
        known = "" if program is not None else " The theory of very wide networks has no formula for this network."
        numbers = "one number" if task.outputs == 1 else f"{task.outputs} numbers"
        kind = f"distinguish {task.classes} classes" if task.classes else f"predict {numbers}"
        kind = kind if task.reading is None else task.reading.goal
        time = f"a training step on {n} examples takes {format_number(1e3 * cost.step(n))} ms"
        answer = f"It has {total:,} parameters to {kind}; {time}.{known}"
        content = PageContent(answer, _findings(subject), values, _sizes(subject.module), hypotheses=(readable,))
        return StepResult(content, NetworkProfile(program, reason, cost))


def _memory(size: int) -> tuple[float, None, HowValueWasObtained, str]:
    """Converts a number of bytes to a number in MiB, or in KiB if small, for the report.

    >>> _memory(2048)
    (2.0, None, 'exact', 'KiB')
    """
    unit, name = (2**20, "MiB") if size >= 2**20 else (2**10, "KiB")
    return round(size / unit, 3), None, "exact", name


def _sizes(module: nn.Module) -> tuple[Plot, ...]:
    """Plots the number of parameters of each submodule; only the largest submodules if there are many."""
    own = {name: sum(p.numel() for p in part.parameters(recurse=False)) for name, part in module.named_modules()}
    kinds = {name: _part_name(name, part) for name, part in module.named_modules()}
    largest = sorted((name for name in own if own[name]), key=lambda name: -own[name])[:SHOWN_PARTS]
    listed = [name for name in own if name in largest]
    if len(listed) < 2:
        return ()
    more = sum(1 for count in own.values() if count) - len(listed)
    words = (
        f"Number of parameters in each part of the network{f'; {more} smaller parts are left out' if more > 0 else ''}."
    )
    bars = Bars("parameters", [kinds[name] for name in listed], [float(own[name]) for name in listed])
    return (Plot("Parameters of each part", (bars,), Axis("parameters"), caption=words, id="parameters-of-each-part"),)


def _part_name(name: str, part: nn.Module) -> str:
    """Returns the name of a layer for the report: its path and class, or the names of its own parameters."""
    own = [key for key, _ in part.named_parameters(recurse=False)]
    if not any(True for _ in part.children()) or isinstance(part, nn.MultiheadAttention):
        return layer_path_and_class(name, part)
    return ", ".join(f"{name}.{key}".strip(".") for key in own)


def _findings(subject: Subject) -> tuple[Finding, ...]:
    if not any(True for _ in subject.module.parameters()):
        return (Finding(kinds.NO_PARAMETERS),)
    return () if subject.trainable else (Finding(kinds.FROZEN),)


def _program(subject: Subject) -> tuple[Program | None, str]:
    x = subject.probe.x
    if not isinstance(x, Tensor):
        return None, f"the network takes {len(list(input_tensors(x)))} input tensors, not one"
    if not x.is_floating_point():
        return None, "the inputs are integers"
    try:
        return read_program(subject.module, x[:2].double()), "every layer has a rule"
    except GnomonError as error:
        return None, error_sentence(error)
