"""Plans remembered: a module is read once for each shape of inputs, and again when anything about it has changed.

Reading traces the module, which takes a millisecond or two per layer: more than the kernel of a few hundred points.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.engine import Engine, engine
from gnomon.kernels.plan import LimitPlan, plan
from gnomon.program.laws import Init
from gnomon.program.read import read
from gnomon.program.trace import global_hooks

SMALL = 4096  # entries of a tensor whose values are compared; larger ones are weights, which only "measured" looks at
SHAPES = 16  # plans kept
PLAIN = (int, float, complex, bool, str, bytes, type(None), torch.Size, torch.dtype)


@dataclass(slots=True)
class Reading:
    """The plans of one module under one law, by shape of inputs.

    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> reading = Reading(net, "torch", standard=True)
    >>> first = reading.plan(torch.zeros(3, 2))
    >>> reading.plan(torch.ones(3, 2)) is first
    True
    >>> net[1] = nn.Tanh()
    >>> reading.plan(torch.ones(3, 2)) is first
    False
    """

    net: nn.Module
    init: Init
    standard: bool
    _seen: "_Snapshot | None" = None
    _engines: dict[tuple[Any, ...], Engine] = field(default_factory=dict)
    _duals: dict[Any, AbstractDual] = field(default_factory=dict)

    def plan(self, x: Tensor) -> LimitPlan:
        """The plan for inputs like x, whose values are not used."""
        return self.engine(x).plan

    def engine(self, x: Tensor) -> Engine:
        """The plan for inputs like x with the engine that was chosen for it."""
        if self.init == "measured":  # any weight may have changed
            return self._made(x)
        now = _Snapshot.of(self.net)
        if self._seen is None or not now.same(self._seen):
            self._seen = now
            self._engines.clear()
            self._duals.clear()
        key = (tuple(x.shape), x.device)
        if key not in self._engines:
            while len(self._engines) >= SHAPES:
                del self._engines[next(iter(self._engines))]
            self._engines[key] = self._made(x)
        return self._engines[key]

    def __reduce__(self) -> tuple[Any, ...]:
        """What was seen stays here: another process reads the module for itself."""
        return Reading, (self.net, self.init, self.standard)

    def _made(self, x: Tensor) -> Engine:
        return engine(plan(read(self.net, x), self.net, self.init, standard=self.standard, duals=self._duals))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All that a reading may depend on. Objects are kept, so that none is mistaken for a later one at its address."""

    objects: tuple[Any, ...]
    plain: tuple[Any, ...]
    values: tuple[Tensor, ...]

    @staticmethod
    def of(net: nn.Module) -> "_Snapshot":
        objects: list[Any] = list(global_hooks())
        plain: list[Any] = []
        values: list[Tensor] = []
        for name, module in net.named_modules():
            plain.append(name)
            objects += (module, type(module), type(module).forward)
            for key, value in vars(module).items():
                if isinstance(value, PLAIN):
                    plain += (key, value)
                elif key in ("_parameters", "_buffers"):
                    for tensor in value.values():
                        _tensor(tensor, objects, plain, values)
                elif isinstance(value, Tensor):
                    _tensor(value, objects, plain, values)
                elif isinstance(value, dict | list | tuple | set):
                    if value and key != "_modules":
                        plain += (key, repr(value))
                else:
                    objects.append(value)
        return _Snapshot(tuple(objects), tuple(plain), tuple(values))

    def same(self, other: "_Snapshot") -> bool:
        return (
            len(self.objects) == len(other.objects)
            and all(a is b for a, b in zip(self.objects, other.objects, strict=True))
            and self.plain == other.plain
            and all(torch.equal(a, b) for a, b in zip(self.values, other.values, strict=True))
        )


def _tensor(tensor: Tensor | None, objects: list[Any], plain: list[Any], values: list[Tensor]) -> None:
    objects.append(tensor)
    if tensor is not None:
        plain += (tensor._version, tensor.shape, tensor.requires_grad)
        if tensor.numel() <= SMALL and not tensor.is_meta:
            values.append(tensor.detach().clone())
