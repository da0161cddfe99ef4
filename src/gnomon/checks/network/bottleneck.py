"""Finds layers with too few units to pass on the information that the outputs need.

A layer with u numbers per example is a bottleneck if u is small compared with the number of outputs and everything
passes through it: if its outputs are replaced by their mean over the examples, the network gives every example the same
outputs,

    max |f(x; h = mean h) - mean f| <= 1e-4 max |f(x) - mean f|                                                (1)

Hypotheses: the network fits its training examples far worse than a simple model does.

>>> import torch
>>> net = nn.Sequential(nn.Linear(8, 1), nn.ReLU(), nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 6))
>>> bottleneck_findings(net, torch.randn(50, 8))[0].where
'0'
>>> bottleneck_findings(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6)), torch.randn(50, 8))
()
"""

from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, take_examples
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds

__all__ = ["bottleneck_findings"]

EXAMPLES_IN_PASS = 64
"""Examples in a pass."""
MAX_UNITS_PER_OUTPUT = 0.5
"""A layer is narrow if it has at most this many numbers for each output of the network."""
MIN_NARROW_UNITS = 1
"""A layer with this many units is narrow for more than two outputs, whatever their number."""
REMAINING_SPREAD = 1e-4
"""Largest spread (1) of the outputs that counts as none."""
USUAL_UNITS = 64
"""Width that is proposed, at least."""


def bottleneck_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports the narrowest layer that all information passes through, if it is too narrow for the number of outputs.

    Cost: one forward pass, and one for each narrow layer.

    >>> import torch
    >>> bottleneck_findings(nn.Linear(4, 3), torch.randn(9, 4))
    ()
    """
    few = take_examples(x, slice(0, EXAMPLES_IN_PASS))
    with preserve(module, seed=0, grad=False):
        f = run_to_rows(module, few)
        if f.shape[1] == sum(t[0].numel() for t in input_tensors(few)):
            return ()  # The network returns as many numbers as it gets: an autoencoder, which is narrow on purpose.
        widths = _widths(module, few)
        narrow = sorted((width, name) for name, width in widths.items() if _is_narrow(width, f.shape[1]))
        spread = float((f - f.mean(0)).abs().max())
        for width, name in narrow:
            left = _with_mean_at(module, name, few)
            if spread > 0 and float((left - left.mean(0)).abs().max()) <= REMAINING_SPREAD * spread:
                layer = module.get_submodule(name)
                units = f"{width} number{'s' if width > 1 else ''}"
                values = {"layer": type(layer).__name__, "units": units, "outputs": f.shape[1]}
                values |= {"wider": max(USUAL_UNITS, 4 * f.shape[1])}
                return (Finding(kinds.BOTTLENECK, name, values, (Value("numbers per example", width),), 0.0),)
    return ()


def _is_narrow(width: int, outputs: int) -> bool:
    return outputs > 2 and (width <= MAX_UNITS_PER_OUTPUT * outputs or width <= MIN_NARROW_UNITS)


def _widths(module: nn.Module, x: Inputs) -> dict[str, int]:
    """Returns the number of outputs per example for each layer with weights that runs once in a forward pass."""
    seen: dict[str, list[int]] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            if isinstance(output, Tensor) and output.dim() > 0 and len(output) == count_examples(x):
                seen.setdefault(name, []).append(output[0].numel())

        return hook

    handles = [part.register_forward_hook(keep(name)) for name, part in module.named_modules()
               if isinstance(part, AFFINE_LAYERS)]  # fmt: skip
    try:
        run_to_rows(module, x)
    finally:
        for handle in handles:
            handle.remove()
    return {name: sizes[0] for name, sizes in seen.items() if len(sizes) == 1}


def _with_mean_at(module: nn.Module, name: str, x: Inputs) -> Tensor:
    """Runs the network with one layer's outputs replaced by their mean over all examples."""

    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        return output.mean(0, keepdim=True).expand_as(output)

    handle = module.get_submodule(name).register_forward_hook(hook)
    try:
        return run_to_rows(module, x)
    finally:
        handle.remove()
