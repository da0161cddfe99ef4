"""What the network is: layers, parameters, memory, the time of a step, and whether theory can read it."""

import torch
from torch import Tensor

from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError
from gnomon.core.inputs import count, invoke, table, take, tensors
from gnomon.core.pure import evaluating, random_state, undisturbed
from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.program import read
from gnomon.report import Hypothesis, Section, Value
from gnomon.report.page import shown

BATCH = 32


class Architecture(AbstractStep):
    """Parameters, memory and cost."""

    key, title, share = "architecture", "The network", 0.05
    question = "What is it made of, what does a step cost, and can its infinite-width limit be read off it?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        module = subject.module
        sizes = {name: p.numel() for name, p in module.named_parameters()}
        total, bytes_ = sum(sizes.values()), sum(p.numel() * p.element_size() for p in module.parameters())
        seconds = step_seconds(subject, context.clock)
        program, reason = _program(subject)
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
        n = min(BATCH, len(subject.train))
        values = (
            Value("parameters", total),
            Value("tensors of parameters", len(sizes)),
            Value("memory of parameters", round(bytes_ / 2**20, 3), unit="MiB"),
            Value(
                "training step", round(1e3 * seconds * n, 3), unit="ms", meaning=f"forward and backward, {n} examples"
            ),
            Value("training examples", len(subject.train)),
            Value("outputs", subject.outputs),
            *(Value(f"parameters of {name}", size) for name, size in largest),
        )
        readable = Hypothesis("the infinite-width limit can be read off the module", program is not None, reason)
        told = "theory can read it" if program is not None else "theory cannot read it, so it is measured instead"
        kind = f"{subject.classes} classes" if subject.classes else f"{subject.outputs} real outputs"
        time = f"{shown(1e3 * seconds * n)} ms for a step of {n}"
        answer = f"{subject.name}: {total:,} parameters, {kind}, {time}; {told}."
        section = Section(self.key, self.title, self.question, answer, "good", values, hypotheses=(readable,))
        return Outcome(section, {"program": program, "unread": reason, "seconds per example": seconds})


def step_seconds(subject: Subject, clock: Clock) -> float:
    """Seconds of a forward and a backward pass, per example, the smaller of two."""
    x = take(subject.train.x, slice(0, BATCH))
    parameters = [p for p in subject.module.parameters() if p.requires_grad]
    best = float("inf")
    with undisturbed(subject.module), evaluating(subject.module), torch.enable_grad(), random_state(0):
        for _ in range(2):
            start = clock()
            out = table(invoke(subject.module, x), count(x), "examine")
            if parameters and out.requires_grad:
                torch.autograd.grad(out.square().sum(), parameters, allow_unused=True)
            best = min(best, clock() - start)
    return best / count(x)


def _program(subject: Subject) -> tuple[object | None, str]:
    if not isinstance(subject.train.x, Tensor):
        return None, f"it takes {len(list(tensors(subject.train.x)))} tensors, not one"
    if not subject.train.x.is_floating_point():
        return None, "its inputs are integers"
    try:
        return read(subject.module, subject.train.x[:2].double()), "every layer has a rule"
    except GnomonError as reason:
        return None, str(reason)
