"""Builds the report's table of layers: output shape, parameters, signal, gradient, dead units and time of each."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from torch import Tensor, nn

from gnomon.checks.network.layer import LayerSignal
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.examination.pictures import layer_path_and_class
from gnomon.report.table import PageTable

__all__ = ["layer_table", "time_layers"]

MAX_ROWS = 60
"""Maximum number of rows; of more layers, those with parameters come first."""
TIMED_PASSES = 3
"""Number of forward passes; the fastest time of each layer counts."""


def time_layers(module: nn.Module, x: Inputs) -> tuple[dict[str, float], dict[str, str]]:
    """Measures the time of the forward pass and the output shape of each layer, by name.

    Cost: `TIMED_PASSES` forward passes.

    >>> import torch
    >>> sorted(time_layers(nn.Sequential(nn.Linear(3, 4)), torch.ones(2, 3))[1].items())
    [('0', '4')]
    """
    seconds: dict[str, float] = {}
    shapes: dict[str, str] = {}
    began: dict[str, float] = {}
    leaves = {name: part for name, part in module.named_modules() if name and not any(True for _ in part.children())}

    def start(name: str) -> Any:
        return lambda part, given: began.__setitem__(name, perf_counter())

    def end(name: str) -> Any:
        def stop(part: nn.Module, given: Any, returned: Any) -> None:
            taken = perf_counter() - began[name]
            seconds[name] = min(taken, seconds.get(name, taken))
            out = returned[0] if isinstance(returned, tuple) and returned else returned
            if isinstance(out, Tensor):
                shapes[name] = " × ".join(map(str, out.shape[1:])) or "1"

        return stop

    hooks = [part.register_forward_pre_hook(start(name)) for name, part in leaves.items()]
    hooks += [part.register_forward_hook(end(name)) for name, part in leaves.items()]
    try:
        with preserve(module, grad=False, seed=0):
            for _ in range(TIMED_PASSES):
                run_module(module, x)
    finally:
        for hook in hooks:
            hook.remove()
    return seconds, shapes


def layer_table(module: nn.Module, x: Inputs, layers: Sequence[LayerSignal]) -> tuple[PageTable, ...]:
    """Builds a table with one row per layer in the order in which they run; empty if nothing was measured.

    >>> import torch
    >>> from gnomon.checks import signal_propagation
    >>> net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> x = torch.ones(8, 3)
    >>> [row[:3] for row in layer_table(net, x, signal_propagation(net, x).layers)[0].rows]
    [('0 Linear', '4', 16), ('1 ReLU', '4', 0), ('2 Linear', '2', 10)]
    """
    seconds, shapes = time_layers(module, x)
    parts = dict(module.named_modules())
    measured = {layer.name: layer for layer in layers if layer.name in parts}
    names = [name for name in {**dict.fromkeys(measured), **dict.fromkeys(seconds)} if name in parts]
    sizes = {name: sum(p.numel() for p in parts[name].parameters()) for name in names}
    if len(names) > MAX_ROWS:
        names = [name for name in names if sizes[name]][:MAX_ROWS] or names[:MAX_ROWS]
    rows = []
    for name in names:
        layer = measured.get(name)
        signal, gradient, dead = (None, None, None) if layer is None else (layer.activation, layer.update, layer.dead)
        taken = None if name not in seconds else 1e3 * seconds[name]
        row = (
            layer_path_and_class(name, parts[name]),
            shapes.get(name, ""),
            sizes[name],
            signal,
            gradient,
            dead,
            taken,
        )
        rows.append(row)
    if not rows:
        return ()
    columns = ("layer", "output", "parameters", "signal", "gradient", "dead units", "forward ms")
    caption = (
        "The table shows each layer before training. Signal: mean square of the outputs. Gradient: |∂L/∂W|² / |W|². "
        "Dead units: units whose output is the same for all examples. Bars of signal and gradient are logarithmic."
    )
    bars = ("parameters", "signal", "gradient", "dead units", "forward ms")
    return (PageTable("Layers", columns, rows, bars, ("signal", "gradient"), ("dead units",), caption),)
