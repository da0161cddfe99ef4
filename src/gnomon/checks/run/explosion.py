"""Finds the training step and the layer at which the outputs of a network start to explode.

Steps are taken again on a copy, and the root mean square q_l of each layer's outputs is followed. The explosion begins
at the first step at which some layer has

    q_l > `MAX_OUTPUT_GROWTH` times its value at the start, or is not finite                                         (1)

and at the first layer, in the order of calls, for which that holds.

Reference: [pascanu2013difficulty].

>>> import torch
>>> from gnomon.training import SGD
>>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
>>> x = torch.randn(32, 4)
>>> find_explosion(net, (x, x[:, :1]), loss=nn.functional.mse_loss, optimizer=SGD(50.0)).step <= 5
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import random_state, set_mode
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Result, Value
from gnomon.findings import training as kinds
from gnomon.training.optimizers import AbstractOptimizer

__all__ = ["TrainingExplosion", "find_explosion"]

MAX_OUTPUT_GROWTH = 1e3
"""Growth of a layer's outputs that no healthy training has."""


@dataclass(frozen=True, slots=True)
class TrainingExplosion(Result):
    """Result: the step (counted from 1) and the layer at which outputs exploded; step 0 if outputs did not explode."""

    step: int
    layer: str
    growth: float
    lr: float

    @property
    def verdict(self) -> str:
        """Says in one sentence at which step and in which layer training explodes."""
        if not self.step:
            return "No layer's outputs explode in the first steps."
        return f"Training explodes at step {self.step}, first in '{self.layer}': its outputs {self._size}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports the step and the layer at which training explodes."""
        if not self.step:
            return ()
        values = {"step": self.step, "size": self._size, "lr": self.lr}
        return (Finding(kinds.EXPLODING_LOSS, self.layer, values, (Value("step", self.step),), 0.0),)

    @property
    def _size(self) -> str:
        return "are no longer finite" if not isfinite(self.growth) else f"grew {self.growth:.1g} times"


@add_call_to_errors
def find_explosion(
    module: nn.Module,
    data: Any,
    *,
    loss: Callable[[Tensor, Tensor], Tensor],
    optimizer: AbstractOptimizer,
    steps: int = 40,
    batch: int = 32,
    seed: int = 0,
    late: Callable[[], bool] = lambda: False,
) -> TrainingExplosion:
    """Trains a copy of the module until a layer's outputs explode; reports the step and the layer.

    See equation (1) of the module docstring.
    ``late`` is called before each step except the first; the search ends if it returns True.

    Hypotheses: the explosion begins within these steps.
    Reference: [pascanu2013difficulty].
    Cost: at most ``steps`` training steps.

    >>> from gnomon.training import SGD
    >>> x = torch.randn(8, 2)
    >>> find_explosion(nn.Linear(2, 1), (x, x[:, :1]), loss=nn.functional.mse_loss, optimizer=SGD(0.1)).findings
    ()
    """
    sizes: dict[str, float] = {}
    first: dict[str, float] = {}
    x, y = data_source(data, module=module).pair()
    n = count_examples(x)
    with torch.inference_mode(False), torch.enable_grad(), random_state(seed):
        model = copy_module(module)
        moved = [p for p in model.parameters() if p.requires_grad]
        memory = optimizer.memory(moved)
        leaves = [(name, part) for name, part in model.named_modules() if not list(part.children())]
        for name, part in leaves:
            part.register_forward_hook(partial(_measure, name, sizes))
        with set_mode(model, "train"):
            for step in range(1, steps + 1):
                if step > 1 and late():
                    break
                index = torch.randint(0, n, (min(batch, n),))
                sizes.clear()
                slope = partial(_slope, model, take_examples(x, index), y[index.to(y.device)], loss, moved)
                optimizer.move(moved, slope, memory, step)
                first = first or dict(sizes)
                for name, size in sizes.items():
                    if not isfinite(size) or size > MAX_OUTPUT_GROWTH * max(first.get(name, size), 1e-6):
                        grown = size / max(first.get(name, 0.0), 1e-6)
                        return TrainingExplosion(step, name, grown, optimizer.lr)  # (1)
    return TrainingExplosion(0, "", 1.0, optimizer.lr)


def _measure(name: str, sizes: dict[str, float], part: nn.Module, args: Any, out: Any) -> None:
    if isinstance(out, Tensor) and out.is_floating_point() and name not in sizes:
        sizes[name] = float(out.detach().double().square().mean().sqrt())


def _slope(
    model: nn.Module, x: Inputs, y: Tensor, loss: Callable[[Tensor, Tensor], Tensor], moved: list[nn.Parameter]
) -> tuple[Tensor, Any]:
    with torch.enable_grad():
        value = loss(output_tensor(run_module(model, x)), y)
        return value.detach(), torch.autograd.grad(value, moved, allow_unused=True)
