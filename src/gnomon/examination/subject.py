"""Defines what is examined: the network, its data, a sample of the data, and the task.

>>> import torch
>>> x = torch.randn(30, 2)
>>> examined = build_subject(nn.Linear(2, 2), (x, (x[:, 0] > 0).long()), None, optimizer=None, seed=0, probe=10)
>>> examined.task.classes, len(examined.train), len(examined.probe)
(2, 30, 10)
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from gnomon.adapter.adapt import adapt_model_and_data
from gnomon.adapter.example_axis import LossOfReturned
from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.adapter.reading import OutputMeaning, TaskName
from gnomon.adapter.users_loss import call_user_loss
from gnomon.adapter.users_loss_view import NamedModelLoss, is_pair_with_several_targets
from gnomon.adapter.view import OutputSelection, select_output
from gnomon.checks.network.applied import is_minimal_at_targets
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.inputs.checks import check_seed
from gnomon.core.inputs.images import adapt_images
from gnomon.core.inputs.source import AbstractSource, Batch, data_source
from gnomon.core.losses import AbstractLoss, Squared
from gnomon.core.modules.outputs import output_rows, outputs_in_eval_mode
from gnomon.core.modules.source_lines import find_source_line
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.checkpointing import check_checkpointing
from gnomon.examination.first_outputs import first_outputs, labels_of_all_examples
from gnomon.examination.labels import IntegerClassSource, are_logits_of_labels, with_integer_classes
from gnomon.examination.names import check_class_names, column_names
from gnomon.examination.network import build_module, network_name
from gnomon.examination.recipe import Recipe, build_recipe, equivalent_theory_loss
from gnomon.examination.task import Examples, Task, task_of_targets
from gnomon.training.evaluate import Loss, loss_reads_classes
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["Subject", "build_subject"]

MAX_PROBE_EXAMPLES = 800
"""Maximum number of examples in the sample (the probe) that measurements share."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject(Record):
    """What is examined: a network with its data and its task. The network is never changed.

    ``probe`` is the sample of training examples that measurements share. ``recipe`` holds the training settings of
    the user; ``notes`` say what was done to the data before, and how inputs were changed so that the module takes them;
    ``columns``, ``class_names`` and ``vocabulary`` are the names of the columns of a table, of the classes and of the
    tokens, if they are known. ``build`` is the function that built the module, if the user passed one.
    """

    module: nn.Module
    name: str
    train: AbstractSource
    test: AbstractSource | None
    probe: Examples
    task: Task
    recipe: Recipe
    notes: tuple[str, ...]
    columns: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    build: Callable[[], Any] | None = None

    def source_of(self, finding: Finding) -> str:
        """Returns the line of the user's code that created the layer in a finding, such as "net.py:12"; "" if
        unknown.
        """
        line = find_source_line(self.module, finding.where, self.build) if finding.where else None
        return "" if line is None else str(line)

    def class_name(self, c: int) -> str:
        """Returns the name of a class; its index as text if classes have no names."""
        return self.class_names[c] if 0 <= c < len(self.class_names) else str(c)

    def examples(self, batch: Batch) -> Examples:
        """Returns inputs and targets of a batch, with targets in standard form."""
        return self.task.examples(batch)

    def outputs(self, x: Inputs, module: nn.Module | None = None) -> Float[Tensor, "n k"]:
        """Runs the network on inputs in eval mode without gradients; returns the outputs."""
        return outputs_in_eval_mode(self.module if module is None else module, x)

    def loss_of(self, outputs: Any, y: Tensor) -> Tensor:
        """Returns the mean loss of a module's outputs, by the user's loss or the default loss of the task."""
        loss = self.recipe.own_loss
        if loss is None or isinstance(loss, AbstractLoss):
            f = output_rows(outputs, len(y))
            if isinstance(self.task.loss, AbstractLossWithAxes):
                return self.task.loss.value(f, y)
            return self.task.loss.value(f, self.targets(y).to(f))
        return call_user_loss(loss, outputs, self.loss_targets(y))

    def targets(self, y: Tensor) -> Float[Tensor, "n k"]:
        """Converts targets to a matrix of real numbers; class labels become one-hot rows or signs."""
        return self.task.table(y)

    @property
    def optimizer(self) -> AbstractOptimizer | None:
        """Returns the optimizer that the user passed, or None."""
        return self.recipe.optimizer

    @property
    def loss(self) -> Loss:
        """Returns the loss that training minimizes: the user's own, or the default loss of the task."""
        return self.task.loss if self.recipe.own_loss is None else self.recipe.own_loss

    def loss_targets(self, y: Tensor) -> Tensor:
        """Converts targets of examples to the form that the loss takes."""
        if self.recipe.own_loss is None:
            return self.task.loss_targets(y)
        return y if self.task.classes else y.reshape(len(y), *self.task.shape)

    @property
    def reads_targets(self) -> bool:
        """Checks whether targets are classes or real numbers; only the user's loss understands other targets."""
        return self.task.classes > 0 or self.probe.y.is_floating_point()

    @property
    def asks_for_targets(self) -> bool:
        """Checks whether the loss is smallest if outputs equal targets, so that their difference is an error."""
        if self.task.classes or self.probe.y.shape[1] != self.task.outputs:
            return False
        loss = self.recipe.own_loss
        if loss is None or isinstance(loss, AbstractLoss):
            return True
        return is_minimal_at_targets(loss, self.loss_targets(self.probe.some(16).y))

    @property
    def trainable(self) -> bool:
        """Checks whether any parameter of the network requires a gradient."""
        return any(p.requires_grad for p in self.module.parameters())


def build_subject(
    network: Any,
    train: Any,
    test: Any,
    *,
    seed: int,
    optimizer: OptimizerChoice | None = None,
    name: str | None = None,
    probe: int = MAX_PROBE_EXAMPLES,
    plan: Callable[..., Recipe] = build_recipe,
    notes: Sequence[str] = (),
    columns: Sequence[str] = (),
    class_names: Sequence[str] = (),
    vocabulary: Sequence[str] = (),
    reading: TaskName | None = None,
    output: OutputSelection | None = None,
) -> Subject:
    """Validates the user's network, data and options, and joins them to one object; errors name the call and a fix.

    ``plan`` makes the recipe, of the module, the data, the optimizer and the call; ``notes`` and ``columns`` are kept.
    ``reading`` is the task that the user named, ``output`` the part of what the module returns that is its output.
    Cost: a forward pass on four examples, the labels of all, and a copy of the probe.

    >>> build_subject(nn.Linear(2, 1), (torch.eye(2), torch.ones(2)), None, seed=0).task.classes       # numbers
    0
    """
    seed = check_seed(seed)
    train, test = (list(data) if isinstance(data, Iterator) else data for data in (train, test))
    module = select_output(build_module(network, seed), output)
    made = plan(module, train, optimizer=optimizer)
    users_loss = None if isinstance(made.loss, AbstractLoss) else made.loss
    own = made.loss is not None or output is not None
    adapted = adapt_model_and_data(module, train, test, reading=reading, own_loss=own, users_loss=users_loss)
    if adapted.train is not train or adapted.module is not module:
        module, train, test = adapted.module, adapted.train, adapted.test
        made = plan(module, train, optimizer=optimizer)
    found = F.binary_cross_entropy_with_logits if reading == "labels" else adapted.loss
    if adapted.axis is not None and made.loss is not None and not isinstance(made.loss, AbstractLoss):
        made = replace(made, loss=LossOfReturned(made.loss, adapted.axis))
    if isinstance(found, NamedModelLoss):
        made, found = replace(made, loss=found), None  # The module computes the user's loss now.
    made = replace(made, loss=made.loss or found, batch=made.batch or adapted.batch)
    examples = _source(train, "train", module)
    others = None if test is None else _source(test, "test", module)
    changes = adapt_images(data_source(train).first(2).x, module)[1]
    check_checkpointing(module, examples.first(2).x)
    first, meaning = first_outputs(module, examples, made.loss, reading)
    if others is not None:
        _check_test(module, examples, others)
    if meaning is not None and meaning.loss is not None:
        shape = tuple(labels_of_all_examples(examples).shape[1:])
        task, made = Task(meaning.loss, 0, first.shape[1], shape), replace(made, loss=meaning.loss, given=True)
    else:
        if made.loss is None and reading is None and are_logits_of_labels(module, examples):
            examples, others = with_integer_classes(examples), None if others is None else with_integer_classes(others)
            notes = (*notes, 'targets of 0 and 1 were read as classes (task="numbers": as numbers)')
        unknown = None if isinstance(made.loss, AbstractLoss) or equivalent_theory_loss(made.loss) else made.loss
        classifies = unknown is None or first.shape[1] == 1 or loss_reads_classes(unknown, examples, module)
        task = task_of_targets(examples, others, first.shape[1], made.loss, classifies=classifies)
    task = replace(task, reading=_meaning(meaning, found, task))
    if (
        equivalent_theory_loss(made.loss) is not None
        and not isinstance(made.loss, type(task.loss))
        and isinstance(task.loss, Squared)
    ):
        made = replace(made, given=True)
    if task.classes and _are_numbers(examples):
        examples, others = with_integer_classes(examples), None if others is None else with_integer_classes(others)
        made = replace(made, loader=None if made.loader is None else IntegerClassSource(made.loader))
    if not bool(torch.isfinite(first).all()):
        where = "the outputs for the first examples hold NaN or infinity"
        raise InputError(where, accepted="finite outputs", fix="Check the weights (a bad checkpoint?) and the inputs")
    drawn = task.examples(examples.probe(probe, seed=seed))
    label = name or network_name(network)
    told = (*notes, *([" and ".join(changes)] if changes else []))
    known = task.classes or (0 if task.reading is None else task.reading.classes)
    names = check_class_names(class_names, known)
    words = tuple(map(str, vocabulary))
    headers, build = column_names(columns, drawn.x), None if isinstance(network, nn.Module) else network
    return Subject(module, label, examples, others, drawn, task, made, told, headers, names, words, build)


def _meaning(found: OutputMeaning | None, loss: Loss | None, task: Task) -> OutputMeaning | None:
    """Returns the meaning of the network's outputs, taking into account a loss that the model computes itself, if
    any.
    """
    if loss is None:
        return found
    labels = loss is F.binary_cross_entropy_with_logits
    return OutputMeaning("labels", numbers=task.outputs) if labels else OutputMeaning("model loss")


def _source(data: Any, which: str, module: nn.Module) -> AbstractSource:
    """Converts data to a data source with targets that the module accepts; raises an error if this is impossible."""
    if is_pair_with_several_targets(data):
        fix = "Pass loss=, a function of what the network returns and of these targets"
        raise InputError(f"{which} has several targets for each example", accepted="a loss that takes them", fix=fix)
    examples = data_source(data, module=module)
    if examples.first(1).y is None:
        kind = f"{which} is a {type(data).__name__} without targets"
        fix = f"Pass {which}=(inputs, targets), or batches that are pairs or dicts with 'labels'"
        raise InputError(kind, accepted="inputs with targets", fix=fix)
    return examples


def _check_test(module: nn.Module, train: AbstractSource, test: AbstractSource) -> None:
    """Raises an error if the module does not accept the test examples; sequences may have another length."""
    x = test.first(2).x
    shapes = [[tuple(t.shape[1:]) for t in input_tensors(part)] for part in (train.first(2).x, x)]
    try:
        outputs_in_eval_mode(module, x)
    except InputError:
        if shapes[0] == shapes[1]:
            raise
        given = [" and ".join(map(str, shape)) for shape in shapes]
        what = f"test inputs have shape {given[1]}, but the network accepts only the training inputs' shape {given[0]}"
        raise InputError(what, accepted="test inputs of this shape", fix="Prepare both sets in the same way") from None


def _are_numbers(data: AbstractSource) -> bool:
    y = data.first(1).y
    return y is not None and y.is_floating_point()
