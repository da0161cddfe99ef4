"""Uses PyTorch's optimizers in the training loop; accepts them as objects, classes, functions or names.

A class or a factory is called with the parameters of the model that is trained. An optimizer that was built on the
parameters of the caller's module is copied, options and state included, to the parameters of the trained copy; the
caller's own optimizer steps only if its module is trained in place.

>>> import torch
>>> resolve_optimizer("adamw", None)
Adam(lr=0.001, b1=0.9, b2=0.999, eps=1e-08, decay=0.01)
>>> resolve_optimizer(torch.optim.Adagrad, None)
TorchOptimizer(name='Adagrad', lr=0.01)
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gnomon.core.errors import InputError
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training.optimizers import SGD, AbstractOptimizer, Adam, Slope

__all__ = ["OptimizerChoice", "NAMES", "TorchOptimizer", "as_gradient_descent", "resolve_optimizer"]

OptimizerChoice = AbstractOptimizer | Optimizer | Callable[[Any], Optimizer] | str
"""An optimizer of `gnomon.training` or torch.optim, a class or function that makes one from parameters, or a name."""

NAMES: dict[str, AbstractOptimizer] = {"adam": Adam(), "adamw": Adam(decay=0.01), "sgd": SGD(1e-3)}
"""Optimizers by name, with the defaults of torch.optim."""


@dataclass(frozen=True, slots=True, eq=False)
class TorchOptimizer(AbstractOptimizer):
    """Wraps an optimizer of torch.optim or a subclass of it; `gnomon.train` creates this object from its argument.

    ``lr`` is the learning rate of the first parameter group, and ``groups`` are the options of each.
    """

    name: str
    lr: float
    groups: Sequence[Mapping[str, Any]] = field(repr=False, metadata=HIDDEN_IN_JSON)
    build: Callable[[Sequence[Tensor]], Optimizer] = field(repr=False, metadata=HIDDEN_IN_JSON)

    def memory(self, parameters: Sequence[Tensor]) -> Any:  # noqa: D102
        return self.build(parameters)

    def move(self, parameters: Sequence[Tensor], slope: Slope, memory: Any, count: int) -> None:  # noqa: D102
        before = [w.grad for w in parameters]

        def closure() -> Tensor:
            value, gradients = slope()
            for w, g in zip(parameters, gradients, strict=True):
                w.grad = g
            return value

        try:
            memory.step(closure)
        finally:
            for w, g in zip(parameters, before, strict=True):
                w.grad = g


def resolve_optimizer(choice: OptimizerChoice | None, module: nn.Module | None) -> AbstractOptimizer:
    """Converts a user's choice of optimizer (object, class, function or name) to one of gnomon's; Adam by default.

    Cost: for a class or a factory, one optimizer of a small parameter.

    >>> resolve_optimizer(None, None).name
    'Adam'
    """
    if choice is None:
        return Adam()
    if isinstance(choice, AbstractOptimizer):
        return choice
    if isinstance(choice, Optimizer):
        return _of_module(choice, module)
    if isinstance(choice, str) and choice.lower() in NAMES:
        return NAMES[choice.lower()]
    if isinstance(choice, str) or not callable(choice):
        fix = "Pass torch.optim.AdamW, lambda p: torch.optim.SGD(p, lr=0.1), SGD(lr), Adam(lr), or one of " + ", ".join(
            f'"{name}"' for name in NAMES
        )
        raise InputError(f"optimizer is {choice!r}", accepted="an optimizer", fix=fix)
    return _of_factory(choice)


def as_gradient_descent(optimizer: AbstractOptimizer | None) -> SGD | None:
    """Converts an optimizer to gnomon's `SGD` if it is plain gradient descent, including torch's SGD; None otherwise.

    >>> as_gradient_descent(resolve_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), None))
    SGD(lr=0.1, momentum=0.9, decay=0.0)
    """
    if isinstance(optimizer, SGD):
        return optimizer
    if not isinstance(optimizer, TorchOptimizer) or optimizer.name != "SGD":
        return None
    first, *others = [{key: value for key, value in g.items() if key in _SGD} for g in optimizer.groups]
    plain = not (first["dampening"] or first["nesterov"] or first["maximize"])
    if not plain or any(group != first for group in others):
        return None
    return SGD(float(first["lr"]), momentum=float(first["momentum"]), decay=float(first["weight_decay"]))


_SGD = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")


def _of_factory(factory: Callable[[Any], Optimizer]) -> TorchOptimizer:
    """Creates an optimizer from a user's function; first calls the function with a test parameter to see what it
    creates.
    """

    def build(parameters: Sequence[Tensor]) -> Optimizer:
        try:
            made = factory(list(parameters))
        except TypeError as reason:
            fix = "Pass a function of the parameters alone: lambda p: torch.optim.SGD(p, lr=0.1)"
            raise InputError(f"the optimizer's factory raised: {reason}", accepted="a factory", fix=fix) from reason
        if not isinstance(made, Optimizer):
            what = f"the optimizer's factory returned an object of type {type(made).__name__}"
            raise InputError(what, accepted="a torch.optim.Optimizer", fix="Return the optimizer")
        if not _held_parameters(made) <= {id(w) for w in parameters}:
            what = "the optimizer's factory ignored its argument and used other parameters"
            fix = "Use the argument, lambda p: torch.optim.SGD(p, lr=0.1), because a copy of the module is trained"
            raise InputError(what, accepted="the parameters passed to the factory", fix=fix)
        return made

    with torch.inference_mode(False):
        return _describe(build([nn.Parameter(torch.zeros(2, 2))]), build)


def _of_module(optimizer: Optimizer, module: nn.Module | None) -> TorchOptimizer:
    own = [] if module is None else [w for w in module.parameters() if w.requires_grad]
    if module is not None and not _held_parameters(optimizer) <= {id(w) for w in module.parameters()}:
        what = f"the {type(optimizer).__name__} holds parameters that the module does not have"
        fix = "Build it on module.parameters(), or pass a function: lambda p: torch.optim.SGD(p, lr=0.1)"
        raise InputError(what, accepted="an optimizer of this module", fix=fix)

    def build(parameters: Sequence[Tensor]) -> Optimizer:
        return (
            optimizer
            if all(a is b for a, b in zip(own, parameters, strict=True))
            else _copy_optimizer(optimizer, own, parameters)
        )

    return _describe(optimizer, build)


def _copy_optimizer(optimizer: Optimizer, own: Iterable[Tensor], other: Iterable[Tensor]) -> Optimizer:
    """Copies an optimizer so that the copy updates other parameters."""
    twin = object.__new__(type(optimizer))
    memo: dict[int, Any] = {id(a): b for a, b in zip(own, other, strict=True)} | {id(optimizer): twin}
    # A scheduler replaces ``step`` by a function tied to the original optimizer. The copy uses its class's method
    # instead.
    vars(twin).update(copy.deepcopy({k: v for k, v in vars(optimizer).items() if k != "step"}, memo))
    return twin


def _describe(optimizer: Optimizer, build: Callable[[Sequence[Tensor]], Optimizer]) -> TorchOptimizer:
    groups = tuple({k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups)
    return TorchOptimizer(type(optimizer).__name__, float(groups[0].get("lr", 1.0)), groups, build)


def _held_parameters(optimizer: Optimizer) -> set[int]:
    return {id(w) for group in optimizer.param_groups for w in group["params"]}
