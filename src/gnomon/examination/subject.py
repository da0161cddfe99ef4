"""What is examined: a network as it stands before training, its data, and what is asked of it."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.checks import as_inputs, as_targets, check_readable, check_seed
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, count, invoke, table, take
from gnomon.core.losses import AbstractLoss, CrossEntropy, Logistic, Squared
from gnomon.core.pure import evaluating, random_state, undisturbed
from gnomon.core.record import Record
from gnomon.training import AbstractOptimizer
from gnomon.training.native import Choice, named

CALL = "examine(module, train=(x, y))"


@dataclass(frozen=True, slots=True, eq=False)
class Points(Record):
    """Inputs and targets: classes (n,) as integers, or numbers (n, k)."""

    x: Inputs
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)

    def some(self, n: int, seed: int) -> "Points":
        """At most n of them, chosen by the seed, in their order."""
        if n >= len(self):
            return self
        draw = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))[:n].sort().values
        return Points(take(self.x, draw), self.y[draw])


@dataclass(frozen=True, slots=True, eq=False)
class Subject(Record):
    """A network, its data, the loss; ``classes`` is 0 for regression. The module is never changed."""

    module: nn.Module
    train: Points
    test: Points | None
    loss: AbstractLoss
    classes: int
    outputs: int
    optimizer: AbstractOptimizer | None
    name: str
    call: str = CALL

    def run(self, x: Inputs, module: nn.Module | None = None) -> Float[Tensor, "n k"]:
        """The outputs in evaluation, without gradients, in pieces of 256 examples."""
        module = self.module if module is None else module
        parts, n = [], count(x)
        with undisturbed(module), evaluating(module), random_state(0), torch.no_grad():
            for i in range(0, n, 256):
                piece = take(x, slice(i, i + 256))
                parts.append(table(invoke(module, piece, call=self.call), count(piece), self.call))
        return torch.cat(parts)

    def targets(self, y: Tensor) -> Float[Tensor, "n k"]:
        """Targets as a table of numbers: one-hot for classes, signs for two classes with one output."""
        return self.loss.targets(self.said(y), self.call, outputs=self.outputs).reshape(len(y), -1)

    def said(self, y: Tensor) -> Tensor:
        """Targets in the words of the loss: signs for two classes with one output, classes or numbers otherwise."""
        return 2.0 * y - 1.0 if isinstance(self.loss, Logistic) else y

    @property
    def trainable(self) -> bool:
        """Whether some parameter requires a gradient."""
        return any(p.requires_grad for p in self.module.parameters())

    @property
    def is_image(self) -> bool:
        """Whether inputs are one tensor (n, channels, height, width)."""
        return isinstance(self.train.x, Tensor) and self.train.x.dim() == 4


def subject(
    given: Any,
    train: Any,
    test: Any,
    *,
    optimizer: Choice | None,
    seed: int,
    name: str | None = None,
    call: str = CALL,
) -> Subject:
    """Check what was given and make a subject of it; every refusal names the call, what was found and the cure."""
    module = _module(given, check_seed(seed, call=call), call)
    points = _points(train, "train", module, call)
    others = None if test is None else _points(test, "test", module, call)
    outputs, found = _outputs(module, points, call)
    loss, classes = _task(points.y, outputs, others, call)
    points = Points(points.x, _column(points.y, classes))
    others = None if others is None else Points(others.x, _column(others.y, classes))
    if not bool(torch.isfinite(found).all()):
        where = "the outputs for the first examples hold NaN or infinity"
        raise InputError(lesson(call, where, "finite outputs", "Check the weights (a bad checkpoint?) and the inputs"))
    label = name or _name(given, module)
    rule = None if optimizer is None else named(optimizer, module, call)
    return Subject(module, points, others, loss, classes, outputs, rule, label, call)


def _name(given: Any, module: nn.Module) -> str:
    """That of the class, or of the function, unless these say nothing."""
    said = type(module).__name__ if given is module else getattr(given, "__name__", "")
    return "network" if said in ("", "<lambda>", "Sequential") else said


def _module(given: Any, seed: int, call: str) -> nn.Module:
    if isinstance(given, nn.Module):
        check_readable(given, call=call)
        return given
    if not callable(given):
        found = f"got a {type(given).__name__}"
        raise InputError(lesson(call, found, "a module or a function that builds one", "Pass model or build_model"))
    with random_state(seed):
        try:
            built = given()
        except (Exception, SystemExit) as reason:  # whatever the user's factory raises is a reason, not a crash of ours
            cure = "Give every argument a default, or pass lambda: build(...)"
            found = f"the factory raised {type(reason).__name__}: {reason}"[:200]
            raise InputError(lesson(call, found, "a factory without arguments", cure)) from reason
    if not isinstance(built, nn.Module):
        found = f"the factory returned a {type(built).__name__}"
        raise InputError(lesson(call, found, "a torch.nn.Module", "Return the module"))
    check_readable(built, call=call)
    return built


def _points(given: Any, which: str, module: nn.Module, call: str) -> Points:
    if not isinstance(given, tuple | list) or len(given) != 2:
        cure = f"Pass {which}=(inputs, targets)"
        raise InputError(lesson(call, f"{which} is a {type(given).__name__}", "a pair of inputs and targets", cure))
    x = as_inputs(given[0], module, call=call)
    return Points(x, as_targets(given[1], count(x), call=call))


def _outputs(module: nn.Module, points: Points, call: str) -> tuple[int, Tensor]:
    """How many outputs there are, and those of the first examples."""
    few = take(points.x, slice(0, min(4, len(points))))
    with undisturbed(module), evaluating(module), random_state(0), torch.no_grad():
        found = table(invoke(module, few, call=call), count(few), call)
    return found.shape[1], found


def _task(y: Tensor, outputs: int, others: Points | None, call: str) -> tuple[AbstractLoss, int]:
    """Loss and number of classes: integers are classes, real numbers are values to regress on."""
    if y.is_floating_point():
        columns = 1 if y.dim() == 1 else y.reshape(len(y), -1).shape[1]
        if columns != outputs:
            whole = y.dim() == 1 and bool((y == y.round()).all())
            found = f"the targets are {y.dtype} of shape {tuple(y.shape)} and the network has {outputs} outputs"
            cure = "For classes pass integers: y.long()" if whole else "Give each output its target"
            raise InputError(lesson(call, found, "targets that fit the outputs", cure))
        return Squared(), 0
    labels = y if others is None else torch.cat([y.flatten(), others.y.flatten().to(y)])
    if y.dim() != 1 or int(labels.min()) < 0:
        found = f"the labels have shape {tuple(y.shape)} and begin at {int(labels.min())}"
        raise InputError(
            lesson(call, found, "classes 0, 1, 2, ...", "Number the classes from 0, one number per example")
        )
    top = int(labels.max())
    if outputs == 1 and top == 1:
        return Logistic(), 2
    if top >= outputs:
        found = f"labels go up to {top} and the network has {outputs} outputs"
        raise InputError(lesson(call, found, "one output for each class", "Number classes from 0, or add outputs"))
    return CrossEntropy(), outputs


def _column(y: Tensor, classes: int) -> Tensor:
    return y.long() if classes else y.reshape(len(y), -1)
