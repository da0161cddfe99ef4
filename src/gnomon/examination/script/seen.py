"""Stores what is recorded about each optimizer, scheduler, model and loader while a script runs.

>>> seen = OptimizerRecord.of(torch.optim.SGD(nn.Linear(2, 1).parameters(), 0.1), 0)
>>> seen.name, seen.sizes
('SGD', [2, 1])
"""

import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gnomon.examination.script.example_keys import ExampleKeys
from gnomon.examination.script.frozen import random_frozen_layers
from gnomon.examination.script.label_sample import InputNumbers, LabelSample
from gnomon.examination.script.series import ThinnedSeries

__all__ = [
    "LoaderRecord",
    "ModelRecord",
    "OptimizerRecord",
    "SchedulerRecord",
    "first_tensor",
    "is_mode_sensitive",
    "is_zero",
]

MAX_PARAMETERS_COMPARED = 32
"""Parameters of which a few weights are compared with the first ones, to see whether anything changes."""
WEIGHTS_COMPARED = 8
"""Weights of each compared parameter."""
DECAYING = ("SGD", "AdamW")
"""Optimizers in which weight decay multiplies the weights by 1 - lr * weight_decay in each step."""
BACKWARDS_BY_HAND = 100
"""First backward passes without an optimizer that are judged."""
MAX_METRICS = 1000
"""Metrics of a schedule that are kept."""
STEPS_TO_READ_DECAY = 20
"""First steps in which weight decay is read."""
MODE_SENSITIVE = (nn.modules.dropout._DropoutNd, nn.modules.batchnorm._BatchNorm)
"""Layers that behave differently in training and in eval mode."""


@dataclass(slots=True, eq=False)
class OptimizerRecord:
    """What was recorded about one optimizer; its smallest parameter with a gradient represents all parameters."""

    ref: "weakref.ref[Optimizer]"
    name: str
    number: int
    parameters: "list[weakref.ref[Tensor]]"
    sizes: list[int]
    steps: int = 0
    judged: int = 0
    stale: int = 0
    sampled: int = 0
    empty: int = 0
    changed: bool | None = False
    cleared: bool | None = None
    zeroed: bool = False
    probe: "weakref.ref[Tensor] | None" = None
    mark: tuple[int, int] = (0, 0)
    pending: list[int] = field(default_factory=list)
    rates: ThinnedSeries = field(default_factory=ThinnedSeries)
    rate: float | None = None
    missing: list[int] = field(default_factory=list)
    zero: list[int] = field(default_factory=list)
    weights: list[tuple[int, list[float]]] = field(default_factory=list)
    rebuilt: int = 0
    rebuilt_alike: int = 0
    replaced: bool = False
    movement: float | None = None
    settings: str = ""
    idle: int = 0
    repeated: int = 0
    shrinkage: float = 0.0
    last_backward: int = 0
    last_mark: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, optimizer: Optimizer, number: int) -> "OptimizerRecord":
        """Creates the record of an optimizer that was just built or stepped for the first time."""
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        seen = cls(
            weakref.ref(optimizer), type(optimizer).__name__, number, [weakref.ref(p) for p in parameters],
            [p.numel() for p in parameters],
        )  # fmt: skip
        seen.settings = repr(sorted(optimizer.defaults.items(), key=lambda item: item[0]))
        seen.missing, seen.zero = [0] * len(parameters), [0] * len(parameters)
        stride = max(1, len(parameters) // MAX_PARAMETERS_COMPARED)
        seen.weights = [(i, some_weights(parameters[i])) for i in range(0, len(parameters), stride)]
        return seen

    def has_parameters_of(self, other: "OptimizerRecord") -> bool:
        """Checks whether another optimizer of the same class was built for the same parameters."""
        first, last = (one.parameters[0]() if one.parameters else None for one in (self, other))
        return first is not None and first is last and (self.name, self.sizes) == (other.name, other.sizes)

    def grow(self, optimizer: Optimizer) -> None:
        """Adds parameters to the record that the script added to the optimizer later."""
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        for p in parameters[len(self.parameters) :]:
            self.parameters.append(weakref.ref(p))
            self.sizes.append(p.numel())
            self.missing.append(self.sampled - 1)  # This parameter was missing in all earlier samples.
            self.zero.append(0)

    def note_settings(self, optimizer: Optimizer, backwards: int) -> None:
        """Counts steps with learning rate zero, and steps that use the gradients of the step before once more.

        Also records the largest part of the weights that weight decay removes in a step, momentum included.
        """
        groups = optimizer.param_groups
        self.idle += self.rate == 0 and not any(float(group["lr"]) for group in groups)
        gradient = None if self.probe is None or (probe := self.probe()) is None else probe.grad
        mark = (0, 0) if gradient is None else (id(gradient), gradient._version)
        self.repeated += gradient is not None and 0 < backwards == self.last_backward and mark == self.last_mark
        self.last_backward, self.last_mark = backwards, mark
        if self.name in DECAYING and self.steps <= STEPS_TO_READ_DECAY:
            for group in groups:
                part = float(group["lr"]) * float(group["weight_decay"]) / (1 - float(group.get("momentum", 0)))
                self.shrinkage = max(self.shrinkage, part)

    def look_for_change(self) -> None:
        """Records whether some sampled weights of the optimizer have changed since the start."""
        if self.changed is not False:
            return
        for i, before in self.weights:
            parameter = self.parameters[i]()
            if parameter is not None and some_weights(parameter) != before:
                self.changed = True
                return

    def note_movement(self) -> None:
        """Records how far some weights have moved since the start, relative to their size."""
        moved = size = 0.0
        for i, before in self.weights:
            parameter = self.parameters[i]()
            if parameter is not None and parameter.device.type == "cpu":
                moved += sum((x - y) ** 2 for x, y in zip(some_weights(parameter), before, strict=False))
                size += sum(y * y for y in before)
        self.movement = (moved / size) ** 0.5 if size else None

    def find_probe(self) -> Tensor | None:
        """Returns the parameter that represents all parameters of the optimizer; chooses another if it gets no
        gradients any more.
        """
        if self.probe is not None:
            return self.probe()
        known = [p for ref in self.parameters if (p := ref()) is not None and p.grad is not None]
        known = [p for p in known if p.grad is not None and not is_zero(p.grad)]
        if not known:
            return None
        probe = min(known, key=lambda p: p.numel())
        self.probe = weakref.ref(probe)
        return probe


@dataclass(slots=True, eq=False)
class SchedulerRecord:
    """What was recorded about one learning rate scheduler and its optimizer."""

    name: str
    optimizer: OptimizerRecord | None
    length: int | None
    initial: float
    calls: int = 0
    before: int = 0
    at_first_step: float | None = None
    late_calls: int = 0
    mode: str = ""
    metrics: list[float] = field(default_factory=list)

    def note_call(self, rate: float, metric: object) -> None:
        """Records a call of step(), with the metric that a schedule like `ReduceLROnPlateau` gets."""
        self.calls += 1
        if self.optimizer is not None and self.optimizer.replaced:
            self.late_calls += 1
        elif self.optimizer is not None and not self.optimizer.steps:
            self.before += 1
            self.at_first_step = rate
        if self.mode and len(self.metrics) < MAX_METRICS and isinstance(metric, int | float | Tensor):
            self.metrics.append(float(metric))


@dataclass(slots=True, eq=False)
class ModelRecord:
    """What was recorded about one module; ``inner`` modules are parts of a module that the script calls."""

    ref: "weakref.ref[nn.Module]"
    kind: str
    name: str = ""
    inner: bool = False
    size: int = 0
    layers: str = ""
    trained: int = 0
    trained_in_eval: int = 0
    first_in_eval: int = 0
    validated: int = 0
    in_training: int = 0
    first_in_training: int = 0
    with_graph: int = 0
    pending_train: int = 0
    pending_eval: int = 0
    last_training: bool = True
    loaded: bool = False
    missing: tuple[tuple[str, int], ...] = ()
    last_validation: int = 0
    unchanged: bool | None = None
    weights: list[float] = field(default_factory=list)
    dropped_in_eval: int = 0
    single_examples: int = 0
    random_frozen: tuple[tuple[str, int], ...] | None = None
    key: int = 0
    hand_judged: int = 0
    hand_stale: int = 0
    hand_weights: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, module: nn.Module) -> "ModelRecord":
        """Creates the record of a module that is called for the first time."""
        kinds = [type(m).__name__ for m in module.modules() if is_mode_sensitive(m)]
        size = sum(p.numel() for p in module.parameters())
        return cls(weakref.ref(module), type(module).__name__, size=size, layers=", ".join(dict.fromkeys(kinds)))

    def note_update_by_hand(self) -> None:
        """Records whether gradients were cleared before a backward pass, if the script changed weights since the last.

        Reads the first backward passes only.
        """
        module = self.ref()
        if module is None or self.hand_judged >= BACKWARDS_BY_HAND:
            return
        probe = min((p for p in module.parameters() if p.requires_grad), key=lambda p: p.numel(), default=None)
        if probe is None:
            return
        weights = some_weights(probe)
        if self.hand_weights and weights != self.hand_weights:
            self.hand_judged += 1
            self.hand_stale += probe.grad is not None and not is_zero(probe.grad)
        self.hand_weights = weights

    def note_frozen(self, module: nn.Module) -> None:
        """Records frozen layers with random weights; those that change later, such as moving averages, do not count."""
        if self.random_frozen != ():
            self.random_frozen = random_frozen_layers(module)

    def note_validation(self, module: nn.Module, step: int) -> None:
        """Records a forward pass without gradients, and whether a few weights are the ones at the first such pass."""
        if not self.validated:
            self.weights = weights_of_model(module)
        elif step != self.last_validation and self.unchanged is not False:
            self.unchanged = weights_of_model(module) == self.weights
        self.validated += 1
        self.last_validation = step


@dataclass(slots=True, eq=False)
class LoaderRecord:
    """What was recorded about one ``DataLoader`` and its batches."""

    length: int | None
    batches: int = 0
    passes: int = 0
    in_pass: int = 0
    single: int = 0
    backwards: int = 0
    forwards: int = 0
    compared: int = 0
    equal: int = 0
    inputs_compared: int = 0
    inputs_equal: int = 0
    last: tuple[float, ...] | None = None
    labels: list[tuple[int, int]] = field(default_factory=list)
    classes: Counter[int] = field(default_factory=Counter)
    loader: Any = None
    data: Any = None
    data_number: int | None = None
    in_order: bool = False
    longest: int = 0
    steps_train: int = 0
    steps_eval: int = 0
    returns: int = 0
    keys: ExampleKeys = field(default_factory=ExampleKeys)
    sample: LabelSample = field(default_factory=LabelSample)
    numbers: InputNumbers = field(default_factory=InputNumbers)
    first_inputs: list[tuple[float, ...]] = field(default_factory=list)


def weights_of_model(module: nn.Module) -> list[float]:
    """Returns a few weights of the first and of the last parameter of a model."""
    parameters = list(module.parameters())
    return [value for parameter in (parameters[:1] + parameters[-1:]) for value in some_weights(parameter)]


def some_weights(parameter: Tensor) -> list[float]:
    """Returns a few weights of a parameter as numbers, to detect changes; an empty list if they cannot be read."""
    if parameter.layout != torch.strided or not parameter.numel() or parameter.is_meta:
        return []
    flat = parameter.detach().reshape(-1)
    stride = max(1, flat.numel() // WEIGHTS_COMPARED)
    return [float(abs(v)) if isinstance(v, complex) else float(v) for v in flat[::stride][:WEIGHTS_COMPARED].tolist()]


def is_zero(gradient: Tensor) -> bool:
    """Checks whether a CPU gradient is zero everywhere; False on other devices, because reading would block.

    >>> is_zero(torch.zeros(3)), is_zero(torch.ones(3))
    (True, False)
    """
    if gradient.device.type != "cpu" or gradient.layout != torch.strided:
        return False
    return not bool(gradient.any())


def first_tensor(value: Any) -> Tensor | None:
    """Returns the first tensor in nested tuples, lists and dicts.

    >>> first_tensor({"x": [torch.ones(2)]}).shape
    torch.Size([2])
    """
    if isinstance(value, Tensor):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    for part in parts:
        if (found := first_tensor(part)) is not None:
            return found
    return None


def is_mode_sensitive(module: nn.Module) -> bool:
    """Checks whether a layer behaves differently in train and eval mode, such as dropout.

    >>> is_mode_sensitive(nn.Dropout(0.5)), is_mode_sensitive(nn.Dropout(0.0)), is_mode_sensitive(nn.LayerNorm(3))
    (True, False, False)
    """
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        return module.track_running_stats
    rate = getattr(module, "dropout", 0.0) if isinstance(module, nn.RNNBase | nn.MultiheadAttention) else 0.0
    return (isinstance(module, MODE_SENSITIVE) and getattr(module, "p", 1.0) > 0) or (
        isinstance(rate, float) and rate > 0
    )
