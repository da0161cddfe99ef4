"""Fixes that leave out one operation of ``forward`` that has no parameters, or make a saturated softmax softer.

An operation can be left out if it returns a tensor of the shape of its first argument: clamp, abs, round, a constant
factor, a normalization without weights, an activation before the first or after the last layer. Activations between
layers stay.

    softmax(s) -> softmax(s / d),    d = standard deviation of the scores at the start of training              (1)
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.rewrite import SOFTMAX, Rewritten
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES", "Operation", "removable_operations"]

ACTIVATIONS = frozenset({
    "relu", "relu_", "gelu", "silu", "mish", "leaky_relu", "elu", "selu", "celu", "softplus", "tanh", "tanh_",
    "sigmoid", "sigmoid_", "hardswish", "relu6", "prelu", "softsign", "hardtanh",
})  # fmt: skip
"""Functions that are usual between layers, and left out only before the first or after the last layer."""
OTHERS = frozenset({
    "softmax", "log_softmax", "clamp", "clamp_", "clip", "abs", "abs_", "round", "floor", "ceil", "trunc", "sign",
    "exp", "log", "log1p", "sqrt", "square", "pow", "mul", "mul_", "div", "div_", "true_divide", "floor_divide", "add",
    "sub", "normalize", "layer_norm", "instance_norm", "detach", "flip", "roll", "cumsum", "sort", "masked_fill", "neg",
    "nan_to_num", "threshold", "hardshrink", "softshrink", "dropout", "__mul__", "__truediv__", "__floordiv__",
    "__imul__", "__itruediv__", "__pow__", "__rmul__", "__sub__", "__add__", "__rsub__", "__rtruediv__", "remainder",
})  # fmt: skip
"""Other functions that can be left out."""
SYMBOLS = {
    "__mul__": "*", "__rmul__": "*", "__imul__": "*", "mul": "*", "__truediv__": "/", "__itruediv__": "/", "div": "/",
    "__floordiv__": "//", "__pow__": "**", "pow": "**", "__sub__": "-", "sub": "-", "__add__": "+", "add": "+",
}  # fmt: skip
"""Names of operators in messages."""
MAX_OPERATIONS = 8
"""Operations that are left out in turn, at most."""
PROBE_EXAMPLES = 16
"""Examples in the pass that lists operations."""
SATURATED_WEIGHT = 0.8
"""A softmax counts as saturated before training if the mean of its largest weight is at least this."""


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Record):
    """One call in forward that can be left out: its function, its number among calls of this function, and words.

    ``place`` is "before the first layer", "between the layers" or "after the last layer".

    >>> Operation(torch.abs, 0, "abs", "after the last layer").words
    'abs'
    """

    function: Any
    number: int
    words: str
    place: str


class _CallsToLeaveOut(TorchFunctionMode):
    """A torch function mode that lists calls: those with parameters, and those that could be left out."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[Any] = Counter()
        self.rows: list[tuple[Any, int, str, str] | None] = []  # None for a call with parameters

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        given = args[0] if args else options.get("input")
        before = given.detach().clone() if isinstance(given, Tensor) and given.is_floating_point() else None
        version = getattr(given, "_version", None)
        made = func(*args, **options)
        name = getattr(func, "__name__", "").removesuffix("__get__")
        number = self.counts[func]
        self.counts[func] += 1
        if any(isinstance(a, nn.Parameter) for a in _flat((args, options))):
            self.rows.append(None)
        elif before is not None and name in ACTIVATIONS | OTHERS and _can_be_left_out(before, made, args, options):
            in_place = version != getattr(given, "_version", None) and given is not made
            self.rows += [] if in_place else [(func, number, name, _words(name, args, options))]
        return made


def removable_operations(module: nn.Module, x: Inputs) -> tuple[Operation, ...]:
    """Returns the operations of a forward pass that can be left out, those after the last layer first.

    Cost: one forward pass.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2), nn.Sigmoid())
    >>> [(one.words, one.place) for one in removable_operations(net, torch.ones(3, 2))]
    [('sigmoid', 'after the last layer')]
    """
    with preserve(module, seed=0), _CallsToLeaveOut() as seen:
        run_module(module, x)
    layers = [i for i, row in enumerate(seen.rows) if row is None]
    if not layers:
        return ()
    places: dict[str, list[Operation]] = {"after the last layer": [], "before the first layer": [], BETWEEN: []}
    for i, row in enumerate(seen.rows):
        if row is None:
            continue
        place = "before the first layer" if i < layers[0] else "after the last layer" if i > layers[-1] else BETWEEN
        if place == BETWEEN and row[2] in ACTIVATIONS:
            continue
        places[place].append(Operation(row[0], row[1], row[3], place))
    places["after the last layer"].reverse()
    return tuple(one for group in places.values() for one in group)[:MAX_OPERATIONS]


BETWEEN = "between the layers"
"""The place of an operation that has layers before and after it."""


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [one for part in value for one in _flat(part)]
    return [one for part in value.values() for one in _flat(part)] if isinstance(value, dict) else [value]


def _can_be_left_out(given: Tensor, made: Any, args: Any, options: Any) -> bool:
    """Returns whether a call changes a tensor but not its shape, and takes nothing else that is learned."""
    if not isinstance(made, Tensor) or made.shape != given.shape or not made.is_floating_point():
        return False
    if any(isinstance(other, Tensor) and other.requires_grad for other in _flat((args[1:], options))):
        return False
    return not torch.equal(made.detach(), given) or (
        not made.requires_grad and bool(getattr(args[0], "requires_grad", 0))
    )


def _words(name: str, args: Any, options: Any) -> str:
    """Returns a call as words, with its numbers: "clamp(0, 1)", "/ 100"."""
    numbers = [f"{a:g}" for a in args[1:] if isinstance(a, int | float) and not isinstance(a, bool)]
    numbers += [f"{key}={a:g}" for key, a in options.items() if isinstance(a, int | float) and not isinstance(a, bool)]
    if name in SYMBOLS:
        return f"{SYMBOLS[name]} {numbers[0]}" if numbers else f"the operation {SYMBOLS[name]}"
    return f"{name}({', '.join(numbers)})" if numbers else name


class _Skip:
    """Replaces one call of a function by its first argument."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        given = args[0] if args else options["input"]
        return given if number == self.number else function(*args, **options)


def leave_out(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: leaves out one operation without parameters; one change for each."""
    made = []
    for one in removable_operations(trial.module, subject.probe.some(PROBE_EXAMPLES).x):
        changed = Rewritten(trial.module, frozenset({one.function}), _Skip(one.number))
        line = diff(f"x = {one.words}(x)" if one.words.isidentifier() else f"{one.words}", "")
        made.append(TrialChange(replace(trial, module=changed), f"without '{one.words}' {one.place}", line))
    return tuple(made)


class _Softer:
    """Divides the scores of each saturated softmax by a constant."""

    def __init__(self, sizes: dict[int, float]) -> None:
        self.sizes = sizes

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        size = self.sizes.get(number)
        if size is None or not args:
            return function(*args, **options)
        return function(args[0] / size, *args[1:], **options)


class _Scores:
    """Records the size of the scores of each saturated softmax."""

    def __init__(self) -> None:
        self.sizes: dict[int, float] = {}
        self.calls = 0

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        made: Tensor = function(*args, **options)
        self.calls = number + 1
        finite = args[0].detach()[args[0].detach().isfinite()] if args else torch.zeros(0)
        dim = options.get("dim", args[1] if len(args) > 1 else -1)
        if finite.numel() > 1 and float(made.detach().amax(dim).mean()) > SATURATED_WEIGHT:
            self.sizes[number] = max(float(finite.std()), 1.0)
        return made


def soften_saturated_softmax(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: divides the scores of saturated softmax functions inside the network by their standard deviation.

    See equation (1) of the module docstring.
    """
    seen = _Scores()
    call: Callable[..., Any] = seen
    with preserve(trial.module, grad=False, seed=0):
        run_module(Rewritten(trial.module, SOFTMAX, call), subject.probe.some(PROBE_EXAMPLES).x)
    sizes = {number: size for number, size in seen.sizes.items() if size > 1}
    if not sizes:
        return ()
    largest = max(sizes.values())
    changed = replace(trial, module=Rewritten(trial.module, SOFTMAX, _Softer(sizes)))
    line = diff("scores.softmax(-1)", f"(scores / {largest:.3g}).softmax(-1)  # for dot products: / width ** 0.5")
    return (TrialChange(changed, f"scores divided by {largest:.3g} before the softmax", line),)


FIXES = (Fix("leave-out", leave_out), Fix("sharpness-of-softmax", soften_saturated_softmax))
