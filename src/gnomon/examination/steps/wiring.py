"""How the network is put together: what reaches the outputs, what the loss reaches, and what chance decides."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from gnomon.checks.network.applied import applied
from gnomon.checks.network.broadcast import broadcast_findings
from gnomon.checks.network.chance import chance_findings
from gnomon.checks.network.head import first_of, head_findings
from gnomon.checks.network.ignored import ignored_findings
from gnomon.checks.network.modes import mode_findings
from gnomon.checks.network.normalization import batch_size_findings, normalization_findings
from gnomon.checks.network.reach import lost_parts, reach_findings
from gnomon.checks.network.registered import registered_findings
from gnomon.checks.network.saturation import saturation_findings
from gnomon.checks.network.settled import settled
from gnomon.checks.run.decay import decay_findings, decay_of
from gnomon.core.inputs.arguments import Inputs, count, invoke, spread, table, tensor_of
from gnomon.core.losses import AbstractLoss
from gnomon.core.modules.pure import random_state, twin
from gnomon.core.modules.untouched import untouched
from gnomon.core.results import Finding, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import rung
from gnomon.examination.step import AbstractStep, Context, Products, StepResult
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.subject import Examples, Subject
from gnomon.findings import most_serious_first
from gnomon.report import Content
from gnomon.training.native import TorchOptimizer

SIZES, FEW, PASSES = (4, 8, 16, 32, 64), 16, 6
"""Examples of a pass, of those passes of which there are many, and what all passes cost in training passes."""
LONGER = 4
"""Times its share that the step may take: its checks are the ones that most faults are found by."""
PARTS = 8
"""Parts without a gradient whose effect on the outputs is measured one by one; that of others is measured at once."""
NAMES = {"CrossEntropyLoss": "cross-entropy", "cross_entropy": "cross-entropy", "BCEWithLogitsLoss": "logistic loss",
         "binary_cross_entropy_with_logits": "logistic loss", "MSELoss": "squared loss", "mse_loss": "squared loss",
         "L1Loss": "squared loss", "l1_loss": "squared loss", "SmoothL1Loss": "squared loss",
         "HuberLoss": "squared loss", "huber_loss": "squared loss", "NLLLoss": "negative log-likelihood",
         "nll_loss": "negative log-likelihood"}  # fmt: skip
"""Losses of torch, by what they ask of the outputs."""
APPLIED = {"softmax": "cross-entropy", "sigmoid": "logistic loss"}
"""What other losses ask for, by what they apply to the outputs."""


@dataclass(frozen=True, slots=True)
class Wiring(Record):
    """Names of the parameters that the loss reaches."""

    reached: tuple[str, ...]


class WiringStep(AbstractStep):
    """One pass forward and backward, and some passes with something changed."""

    key, title, share = "wiring", "How it is put together", 0.05
    question = "Does every input reach the outputs, the loss every parameter, and nothing depend on chance?"
    needs = (Profile,)
    gives = Wiring
    essential = True

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        module, allowed = subject.module, context.seconds
        n = rung(SIZES, context.seconds / max(PASSES * products[Profile].seconds_per_example, 1e-9))
        some, few = subject.probe.some(n), subject.probe.some(min(FEW, n))
        gradients = _gradients(subject, some)
        reached = tuple(name for name, g in gradients.items() if g is not None)
        checks: dict[str, Callable[[], tuple[Finding, ...]]] = {
            "weight decay": partial(_decay, subject, gradients),
            "the size of batches": partial(batch_size_findings, module, batch_of(subject), len(subject.train)),
            "the last operation": partial(_head, subject, some),
            "parameters without a gradient": partial(_reach, subject, few, reached),
            "layers in lists": partial(_registered, subject, few),
            "chance": partial(chance_findings, module, few.x),
            "saturated units": lambda: saturation_findings(settled(module, some.x, call=subject.call), some.x),
            "dropout": partial(mode_findings, module, some.x),
            "batch norm": partial(statistics, subject, module, 4 * n),
            "inputs without effect": lambda: ignored_findings(settled(module, some.x, call=subject.call), some.x),
        }
        found: list[Finding] = []
        left = list(checks)
        while left and (context.seconds > -(LONGER - 1) * allowed):
            found += checks[left.pop(0)]()
        findings = most_serious_first(found)
        total = sum(p.numel() for p in module.parameters())
        moved = sum(p.numel() for name, p in module.named_parameters() if name in reached)
        values = (
            Value("parameters", total, id="wired-parameters"),
            Value("parameters that the loss reaches", moved, id="reached-parameters"),
            Value("examples", n, id="wiring-examples"),
        )
        all_of = f"Every one of the {total:,} parameters receives a gradient"
        good = all_of if moved == total else f"{moved:,} of {total:,} parameters receive a gradient"
        good += "." if left else ", and the outputs for an example depend on that example alone."
        answer = findings[0].message if findings else good
        answer += f" There was no time to check {', '.join(left)}." if left else ""
        return StepResult(
            Content(answer, findings, values, stated=findings[:1]), Wiring(reached), "unsure" if left else "answered"
        )


def own_loss(subject: Subject) -> Any:
    """The loss that the user passed, None where there is none."""
    return subject.recipe.own_loss


def batch_of(subject: Subject) -> int | None:
    """The batch size that the user named, or that of the loader; None where there is none."""
    if subject.recipe.batch is not None or subject.recipe.loader is None:
        return subject.recipe.batch
    return len(next(subject.recipe.loader.batches()))


def targets_of(subject: Subject, y: Tensor) -> Tensor:
    """Targets as the loss of the subject takes them."""
    return subject.loss_targets(y)


def loss_of(subject: Subject, outputs: Any, y: Tensor) -> Tensor:
    """The mean loss of what the module returned, by the user's loss or by that of the task."""
    loss = own_loss(subject)
    if loss is None or isinstance(loss, AbstractLoss):
        f = table(outputs, len(y), subject.call)
        return subject.task.loss.value(f, subject.targets(y).to(f))
    return loss(tensor_of(outputs, subject.call), targets_of(subject, y))


def _gradients(subject: Subject, examples: Examples) -> dict[str, Tensor | None]:
    """Of the mean loss in training mode; None where a parameter is not reached."""
    if not subject.trainable:
        return {}
    module = twin(subject.module, call=subject.call).train()  # a copy, for batch norm writes to its buffers
    own = {name: p for name, p in module.named_parameters() if p.requires_grad}
    with warnings.catch_warnings(), random_state(0), torch.inference_mode(False), torch.enable_grad():
        warnings.filterwarnings("ignore", message="Using a target size")  # a finding says so
        value = loss_of(subject, invoke(module, examples.x, call=subject.call), examples.y)
        if not value.requires_grad:
            return dict.fromkeys(own)
        grads = torch.autograd.grad(value, list(own.values()), allow_unused=True)
    return dict(zip(own, grads, strict=True))


def _head(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    module, loss = subject.module, own_loss(subject)
    with untouched(module), torch.enable_grad():
        out = tensor_of(invoke(module, examples.x, call=subject.call), subject.call)
        name = subject.task.loss.name
        y = targets_of(subject, examples.y)
        if loss is not None and not isinstance(loss, AbstractLoss):
            first = first_of(out, y.shape[1]) if y.dim() == 2 and out.dim() == 2 else None
            if first is not None:  # of outputs side by side these are the ones that the targets are for
                loss, out = partial(_beside, loss, out[:, y.shape[1] :].detach()), first
            name = NAMES.get(getattr(loss, "__name__", type(loss).__name__), "") or APPLIED.get(
                applied(loss, out, y), ""
            )
        found = head_findings(out, examples.y, name)
    if loss is None or isinstance(loss, AbstractLoss):
        return found
    return (*found, *broadcast_findings(out, y, loss))


def _beside(loss: Any, rest: Tensor, first: Tensor, y: Tensor) -> Tensor:
    """The loss as a function of the first columns of the outputs."""
    return loss(torch.cat([first, rest], 1), y)


def _reach(subject: Subject, few: Examples, reached: tuple[str, ...]) -> tuple[Finding, ...]:
    module = subject.module
    if not any(p.requires_grad for p in module.parameters()):
        return ()  # said where the network is described
    lost = lost_parts(module, reached)
    matter, others = [name for name in list(lost)[:PARTS] if _matters(module, few.x, lost[name])], list(lost)[PARTS:]
    if others and _matters(module, few.x, [name for part in others for name in lost[part]]):
        matter += others
    held = None
    if isinstance(subject.optimizer, TorchOptimizer):
        own = {name: p for name, p in module.named_parameters() if p.requires_grad}
        made = subject.optimizer.build(list(own.values()))
        ids = {id(p) for group in made.param_groups for p in group["params"]}
        held = [name for name, p in own.items() if id(p) in ids]
    return reach_findings(module, reached, matter=matter, held=held)


def _registered(subject: Subject, few: Examples) -> tuple[Finding, ...]:
    module = subject.module
    with untouched(module), random_state(0):
        return registered_findings(module, lambda: loss_of(subject, invoke(module, few.x, call=subject.call), few.y))


def _matters(module: nn.Module, x: Inputs, names: list[str]) -> bool:
    """Whether outputs change where these parameters do."""
    own = dict(module.named_parameters())
    with untouched(module), random_state(0), torch.no_grad():
        chosen = {name: own[name] for name in names}
        changed = {name: p + torch.randn_like(p) * (p.std(correction=0) + 0.1) for name, p in chosen.items()}
        first = table(invoke(module, x), count(x), "examine(module, train=(x, y))").clone()

        def run(*args: Any, **kwargs: Any) -> Any:
            return functional_call(module, changed, args, kwargs)

        other = table(spread(run, x), count(x), "examine(module, train=(x, y))")
    return bool((first - other).abs().max() > 1e-5 * first.abs().max())


def _decay(subject: Subject, gradients: dict[str, Tensor | None]) -> tuple[Finding, ...]:
    if subject.optimizer is None:
        return ()
    decay, apart = decay_of(subject.optimizer)
    rows = {id(part.weight) for part in subject.module.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)}
    pairs = [(p.detach(), gradients[name]) for name, p in subject.module.named_parameters()
             if p.dim() > 1 and gradients.get(name) is not None and id(p) not in rows]  # fmt: skip
    squares = sum(float(w.double().square().sum()) for w, _ in pairs)
    slopes = sum(float(g.double().square().sum()) for _, g in pairs if g is not None)
    entries = max(1, sum(w.numel() for w, _ in pairs))
    return decay_findings(
        decay, weights=sqrt(squares), rms=sqrt(squares / entries), gradient=sqrt(slopes), decoupled=apart
    )


def statistics(subject: Subject, module: nn.Module, examples: int) -> tuple[Finding, ...]:
    """Whether the running statistics of batch norm in a module are those of the training data."""
    some = subject.probe.some(examples)
    return normalization_findings(module, some.x, some.y, partial(loss_of, subject))
