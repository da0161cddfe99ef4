"""Examination step that checks which inputs matter, which parameters get gradients, and which outputs are random."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn

from gnomon.adapter.users_loss import call_user_loss
from gnomon.checks.network.batch_statistics import copy_with_batch_norm_statistics
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.changed_weights import changed_weight_findings
from gnomon.checks.network.gradient_hooks import gradient_hook_findings
from gnomon.checks.network.head import custom_loss_findings, head_findings, normalized_output_findings
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.checks.network.loss_coverage import loss_coverage_findings
from gnomon.checks.network.loss_direction import loss_direction_findings
from gnomon.checks.network.loss_minimum import loss_minimum_findings
from gnomon.checks.network.loss_scale import loss_scale_findings
from gnomon.checks.network.modes import dropout_noise_findings
from gnomon.checks.network.nan_gradients import nan_gradient_findings
from gnomon.checks.network.normalization import lagging_statistics, normalization_findings, small_batch_findings
from gnomon.checks.network.padding_index import padding_index_findings
from gnomon.checks.network.reach import (
    loss_gradients,
    parameters_in_optimizer,
    parts_that_change_outputs,
    parts_without_gradient,
    untrained_parameter_findings,
)
from gnomon.checks.network.registered import unregistered_layer_findings
from gnomon.checks.network.reshaped_axes import reshaped_axes_findings
from gnomon.checks.network.saturation import saturation_findings
from gnomon.checks.network.symmetric_units import symmetric_unit_findings
from gnomon.checks.run.decay import network_weight_decay_findings
from gnomon.checks.run.epsilon import optimizer_epsilon_findings
from gnomon.core.losses import AbstractLoss
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.findings import most_serious_first
from gnomon.report import PageContent

AFFORDABLE_EXAMPLE_COUNTS = (4, 8, 16, 32, 64)
"""Examples in a pass, chosen by time."""
EXAMPLES_OF_REPEATED_PASSES = 16
"""Number of examples in passes that are repeated many times."""
BATCH_SIZE_OF_STATISTICS = 32
"""Batch size with which running statistics catch up, if the user gave none."""
TOTAL_PASSES = 6
"""Cost of all passes, in training passes."""
MAX_TIME_FACTOR = 4
"""The step may take this multiple of its time share: its checks find most problems."""


@dataclass(frozen=True, slots=True)
class Wiring(Record):
    """Result: the names of the parameters that get a gradient from the loss."""

    reached: tuple[str, ...]


class WiringStep(AbstractStep):
    """Examination step that checks inputs, modes and batches by one forward and backward pass and changed forward
    passes.
    """

    key, title, share = "wiring", "Connections and loss", 0.05
    question = "Does every input affect the outputs, does every parameter get a gradient, and are results repeatable?"
    needs = (NetworkProfile,)
    gives = Wiring
    essential = True

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        module, allowed = subject.module, context.seconds
        n = largest_size_up_to(
            AFFORDABLE_EXAMPLE_COUNTS,
            context.seconds / max(TOTAL_PASSES * products[NetworkProfile].seconds_per_example, 1e-9),
        )
        some, few = subject.probe.some(n), subject.probe.some(min(EXAMPLES_OF_REPEATED_PASSES, n))
        gradients = loss_gradients(module, some.x, some.y, subject.loss_of) if subject.trainable else {}
        reached = tuple(name for name, g in gradients.items() if g is not None)
        checks: dict[str, Callable[[], tuple[Finding, ...]]] = {
            "the direction of the loss": partial(_loss_direction, subject, some),
            "the gradient": partial(_gradient, subject, some),
            "weights that forward changes": partial(changed_weight_findings, module, few.x),
            "padding in embeddings": partial(padding_index_findings, module, some.x),
            "equal units": partial(symmetric_unit_findings, module),
            "hooks on parameters": partial(_hooks, subject, few),
            "the epsilon of the optimizer": partial(optimizer_epsilon_findings, subject.optimizer, gradients),
            "reshaped axes": partial(reshaped_axes_findings, module, few.x),
            "weight decay": partial(network_weight_decay_findings, module, subject.optimizer, gradients),
            "the size of batches": partial(small_batch_findings, module, user_batch_size(subject), len(subject.train)),
            "the last operation": partial(_head, subject, some),
            "parameters without a gradient": partial(_reach, subject, few, reached),
            "layers in lists": partial(_find_unregistered, subject, few),
            "chance": partial(randomness_findings, module, few.x),
            "saturated units": lambda: saturation_findings(copy_with_batch_norm_statistics(module, some.x), some.x),
            "dropout": partial(dropout_noise_findings, module, some.x),
            "batch norm": partial(running_statistics_findings, subject, module, 4 * n),
            "inputs without effect": lambda: ignored_input_findings(
                copy_with_batch_norm_statistics(module, some.x), some.x
            ),
        }
        found: list[Finding] = []
        left = list(checks)
        while left and (context.seconds > -(MAX_TIME_FACTOR - 1) * allowed):
            found += checks[left.pop(0)]()
        findings = most_serious_first(found)
        total = sum(p.numel() for p in module.parameters())
        moved = sum(p.numel() for name, p in module.named_parameters() if name in reached)
        values = (
            Value("parameters", total, id="wired-parameters"),
            Value("parameters that receive a gradient", moved, id="reached-parameters"),
            Value("examples", n, id="wiring-examples"),
        )
        all_of = f"All {total:,} parameters receive a gradient"
        good = all_of if moved == total else f"{moved:,} of {total:,} parameters receive a gradient"
        good += "." if left else ", and the outputs for an example depend on that example alone."
        answer = findings[0].message if findings else good
        answer += f" Not checked because the time ran out: {', '.join(left)}." if left else ""
        return StepResult(
            PageContent(answer, findings, values, stated=findings[:1]),
            Wiring(reached),
            "unsure" if left else "answered",
        )


def user_batch_size(subject: Subject) -> int | None:
    """Returns the batch size that the user passed, or the batch size of the user's loader; None if there is none."""
    if subject.recipe.batch is not None or subject.recipe.loader is None:
        return subject.recipe.batch
    return len(next(subject.recipe.loader.batches()))


def running_statistics_findings(subject: Subject, module: nn.Module, examples: int) -> tuple[Finding, ...]:
    """Reports batch norm layers whose running statistics do not fit the training data."""
    some = subject.probe.some(examples)
    return normalization_findings(module, some.x, some.y, subject.loss_of)


def trained_statistics_findings(subject: Subject, module: nn.Module, examples: int) -> tuple[Finding, ...]:
    """Returns the same for a module that was just trained; a warning if the statistics only lag behind the weights."""
    found = running_statistics_findings(subject, module, examples)
    some, batch = subject.probe.some(examples), user_batch_size(subject) or BATCH_SIZE_OF_STATISTICS
    return lagging_statistics(found, module, some.x, some.y, subject.loss_of, batch=batch)


def _head(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    module, loss = subject.module, subject.recipe.own_loss
    with preserve(module):
        out = output_tensor(run_module(module, examples.x))
        if not subject.task.classes and subject.asks_for_targets:
            module.train()
            if found := normalized_output_findings(output_tensor(run_module(module, examples.x)), examples.y):
                return found
        if loss is None or isinstance(loss, AbstractLoss):
            return head_findings(out, examples.y, subject.task.loss.name)
        return custom_loss_findings(out, examples.y, subject.loss_targets(examples.y), loss)


def _loss_direction(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    """Reports problems of the user's loss: ignored outputs or examples, a loss that falls as errors grow, unbalanced
    classes.
    """
    loss = subject.recipe.own_loss
    if loss is None or isinstance(loss, AbstractLoss):
        return ()
    with preserve(subject.module, grad=False):
        raw = run_module(subject.module, examples.x)
    if not isinstance(raw, Tensor):
        return ()
    own, y = partial(call_user_loss, loss), subject.loss_targets(examples.y)
    if found := loss_direction_findings(own, raw, y):
        return found
    if found := loss_scale_findings(own, raw, y) or loss_minimum_findings(own, raw, y):
        return found
    labels = subject.train.labels()
    return loss_coverage_findings(own, raw, y, None if labels is None else labels.to(raw.device))


def _gradient(subject: Subject, examples: Examples) -> tuple[Finding, ...]:
    module = subject.module
    if not subject.trainable:
        return ()
    with preserve(module, seed=0), warnings.catch_warnings():
        # Hides torch's warning about different shapes, which another finding reports.
        warnings.filterwarnings("ignore", message="Using a target size")
        return nan_gradient_findings(lambda: subject.loss_of(run_module(module, examples.x), examples.y))


def _hooks(subject: Subject, few: Examples) -> tuple[Finding, ...]:
    module = subject.module
    if not subject.trainable:
        return ()
    with preserve(module, seed=0):
        return gradient_hook_findings(module, lambda: subject.loss_of(run_module(module, few.x), few.y))


def _reach(subject: Subject, few: Examples, reached: tuple[str, ...]) -> tuple[Finding, ...]:
    module = subject.module
    if not subject.trainable:
        return ()  # The section on the network reports this error.
    parts = parts_without_gradient(module, reached)
    matter = parts_that_change_outputs(module, few.x, parts)
    compared = parts_that_change_outputs(
        module, few.x, {name: parts[name] for name in matter}, lambda returned: subject.loss_of(returned, few.y)
    )
    held = parameters_in_optimizer(module, subject.optimizer)
    return untrained_parameter_findings(
        module, reached, affecting_outputs=matter, affecting_loss=compared, in_optimizer=held
    )


def _find_unregistered(subject: Subject, few: Examples) -> tuple[Finding, ...]:
    module = subject.module
    with preserve(module, seed=0):
        return unregistered_layer_findings(module, lambda: subject.loss_of(run_module(module, few.x), few.y))
