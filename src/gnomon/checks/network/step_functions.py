"""Finds step functions in ``forward``, such as rounding, which pass no gradient to the layers before them.

Weights that get an exact zero as gradient do not change in training. If weights did not change and forward calls a
function whose derivative is zero everywhere, this function is the reason.

Hypotheses: training without weight decay, or the weights would shrink.

>>> import torch
>>> from gnomon.core.modules.copies import copy_module
>>> class Net(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.first, self.last = nn.Linear(2, 3), nn.Linear(3, 1)
...     def forward(self, x):
...         return self.last(self.first(x).round())
>>> before = Net()
>>> after = copy_module(before)
>>> _ = nn.init.zeros_(after.last.weight), nn.init.zeros_(after.last.bias)
>>> step_function_findings(before, after, torch.randn(4, 2))[0].values["function"]
'round'
"""

from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["step_function_findings"]

STEP_FUNCTIONS = ("round", "floor", "ceil", "trunc", "sign", "heaviside", "argmax", "bucketize", "one_hot")
"""Functions whose derivative is zero everywhere, or that return integers."""
EXAMPLES_IN_PASS = 2
"""Examples in the pass that looks for them."""
MAX_NAMED_LAYERS = 3
"""Layers named in the message, at most."""


def step_function_findings(before: nn.Module, after: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if training left some weights unchanged and ``forward`` calls a step function such as
    ``round``.

    Chance raises no false alarm.
    Cost: comparing the weights, and a forward pass.

    >>> import torch
    >>> net = nn.Linear(2, 1)
    >>> step_function_findings(net, net, torch.zeros(2, 2))                # nothing was trained
    ()
    """
    trained = dict(after.named_parameters())
    same = [name for name, p in before.named_parameters()
            if p.requires_grad and p.dim() > 1 and name in trained and bool((p == trained[name]).all())]  # fmt: skip
    moved = any(name in trained and bool((p != trained[name]).any()) for name, p in before.named_parameters())
    if not same or not moved:
        return ()
    with preserve(after, grad=False, seed=0), _Names() as seen:
        run_module(after, take_examples(x, slice(0, EXAMPLES_IN_PASS)))
    called = next((name for name in STEP_FUNCTIONS if name in seen.names or f"{name}_" in seen.names), None)
    if called is None:
        return ()
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in same))
    values = {"names": ", ".join(f"'{name}'" for name in layers[:MAX_NAMED_LAYERS]), "function": called}
    return (Finding(kinds.STEP_FUNCTION, layers[0], values, (), 0.0),)


class _Names(TorchFunctionMode):
    """Context manager that records the names of torch functions that are called in its block."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))
