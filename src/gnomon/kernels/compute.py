"""One computation of kernels: the data checked, the memory asked for, the engine of the plan run.

The walk from here to the arithmetic goes one way: the engine of the plan, its tape, its compiled loops.
"""

from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import BudgetError, InputError, lesson
from gnomon.core.machine.memory import human
from gnomon.kernels.cost import Needs, needs
from gnomon.kernels.engine import Engine
from gnomon.kernels.inputs import points, second, takes_tokens
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.reading import Reading
from gnomon.kernels.rules.data import DataRule


def kernels(
    reading: Reading,
    x1: Any,
    x2: Any,
    kinds: tuple[str, ...],
    dtype: torch.dtype,
    memory: int | None,
    *,
    compiled: bool = True,
) -> dict[str, Tensor]:
    """The kernels of the given kinds between two sets of points; ``x2=None`` is the first set again.

    With ``compiled=False`` torch computes them, which is slower, and the loops of kernels are not compiled.
    Cost: that of the engine.

    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> kernels(Reading(net, "torch", standard=True), torch.eye(2), None, ("ntk",), torch.float64, None)["ntk"].shape
    torch.Size([2, 2])
    """
    call = f"limit({type(reading.net).__name__}).{kinds[-1]}(x1, x2)"
    x = points(x1, "x1", call, tokens=takes_tokens(reading.net))
    y = x if x2 is None else second(x, x2, call)
    engine = reading.engine(x) if compiled else Engine(reading.plan(x), None)
    need = needs(engine.plan, len(x), len(y), kinds=kinds, word=dtype.itemsize, memory=memory)
    _check_memory(need, (len(x), len(y)), memory, call)
    with torch.set_grad_enabled(torch.is_grad_enabled() and (x.requires_grad or y.requires_grad)):
        for side in (x,) if x2 is None else (x, y):
            independent_features(engine.plan, side)
        return engine.run((x, y), kinds, dtype, need.tile, call)


def independent_features(plan: LimitPlan, x: Tensor) -> list[Tensor]:
    """The data as they enter the first layers; preprocessing of one input must not depend on the others.

    Cost: one pass over the data.

    >>> from torch import nn
    >>> reading = Reading(nn.Linear(2, 1), "torch", standard=True)
    >>> independent_features(reading.plan(torch.eye(2)), torch.eye(2))[0].shape
    torch.Size([2, 2])
    """
    functions = [rule.op.function for rule in plan.rules if isinstance(rule, DataRule)]
    data = [function(x) for function in functions]
    for function, whole in zip(functions, data, strict=True):
        alone = function(x[:1])
        if not torch.allclose(whole[:1], alone, rtol=1e-10, atol=1e-300):
            raise InputError(
                lesson(
                    f"limit({plan.program.name})",
                    "the preprocessing inside forward gives an input another value when it stands in another batch",
                    "outputs for one input do not depend on the rest of the batch",
                    "Normalize the data before calling, with fixed statistics",
                )
            )
    return data


def _check_memory(need: Needs, size: tuple[int, int], memory: int | None, call: str) -> None:
    room = need.free if memory is None else min(memory, need.free)
    if need.memory > room:
        raise BudgetError(
            lesson(
                call,
                f"the {size[0]} x {size[1]} kernel needs {human(need.memory)} "
                f"({human(need.result)} for the result) and {human(room)} may be used",
                "the result and one tile fit in memory",
                "Compute fewer rows at a time (x1[:k] against x2), ask for nngp alone, or use dtype=torch.float32",
            )
        )
