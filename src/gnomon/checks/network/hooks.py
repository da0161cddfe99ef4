"""Collects statistics of each layer's outputs and gradients over several batches, with hooks.

The quantities are defined in `signal_propagation`. Means over examples are sums over batches, weighted by their size;
extremes of a unit are extremes of batches; correlations are between the first examples.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.core.inputs.arguments import input_tensors

MIN_EXAMPLES_FOR_DEAD_UNITS = 8
"""Minimum number of examples for calling a constant unit dead."""
MAX_CORRELATED_EXAMPLES = 128
"""Examples whose pairwise correlations are computed, at most."""
FIRST = (nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.GroupNorm)
"""Layers whose units are on axis 1."""
LAST = (nn.Linear, nn.LayerNorm, nn.Embedding, nn.RNNBase, nn.MultiheadAttention)
"""Layers whose units are on the last axis."""


@dataclass(slots=True, eq=False)
class LayerSums:
    """Statistics of one layer call, summed over batches; ``counted`` is the number of examples so far."""

    name: str
    kind: str
    weights: Sequence[Tensor]
    units: int
    size: int
    counted: int = 0
    finite: bool = True
    squares: float = 0.0
    gradients: float = 0.0
    reached: int = 0
    comparable: bool = True
    low: Tensor | None = None
    high: Tensor | None = None
    directions: list[Tensor] = field(default_factory=list)

    def add(self, h: Tensor, n: int, axis: int) -> None:
        """Adds a layer's outputs for n examples to the statistics; ``axis`` is the dimension of units or channels."""
        self.counted += n
        self.finite = self.finite and bool(h.isfinite().all())
        self.comparable = self.comparable and self.finite and h.dim() > 1 and len(h) == n
        if not self.finite:
            return
        self.squares += n * float(h.double().square().mean())
        if self.comparable:
            self._compare(h, axis)

    def _compare(self, h: Tensor, axis: int) -> None:
        units = h.movedim(axis, 0).flatten(1)
        low, high = units.amin(1), units.amax(1)
        if self.low is None or self.high is None:
            self.low, self.high = low, high
        elif self.low.shape == low.shape:
            self.low, self.high = torch.minimum(self.low, low), torch.maximum(self.high, high)
        else:
            self.comparable = False
        left = MAX_CORRELATED_EXAMPLES - sum(map(len, self.directions))
        if left > 0:
            self.directions.append(nn.functional.normalize(h[:left].flatten(1).double(), dim=1))

    def add_gradient(self, g: Tensor, n: int) -> None:
        """Adds the gradient of the loss with respect to a layer's outputs for n examples to the statistics."""
        self.gradients += n * float((n * g.double()).square().mean())
        self.reached += n

    def result(self, sums: dict[int, Tensor] | None) -> LayerSignal:
        """Returns the layer's statistics averaged over batches; ``sums`` holds the gradients of its weights."""
        filled: Literal["none", "zero", "nonzero"] = "none"
        if self.weights:
            filled = "nonzero" if any(bool(w.detach().any()) for w in self.weights) else "zero"
        gradient = self.gradients / self.reached if self.reached and sums is not None else None
        backward = BackwardStatistics(gradient, None if sums is None else _update(self.weights, sums))
        activation = self.squares / self.counted if self.finite else None
        forward = ForwardStatistics(activation, self._correlation(), self._dead())
        fan = max(1.0, sum(w.numel() for w in self.weights) / max(1, self.units))
        return LayerSignal(self.name, self.kind, filled, self.units, self.size, forward, backward, fan)

    def _correlation(self) -> float | None:
        if not self.comparable or self.counted < 2 or len({d.shape[1] for d in self.directions}) != 1:
            return None
        unit = torch.cat(self.directions)
        m = len(unit)
        return float((unit.sum(0).square().sum() - unit.square().sum()) / (m * (m - 1)))

    def _dead(self) -> float | None:
        if not self.comparable or self.low is None or self.high is None or self.counted < MIN_EXAMPLES_FOR_DEAD_UNITS:
            return None
        return float((self.high == self.low).double().mean())


@contextmanager
def record_layers(module: nn.Module, n: int, sums: dict[str, LayerSums]) -> Iterator[None]:
    """Context manager that adds hooks to all layers; the hooks collect statistics of outputs and gradients of a batch.

    >>> net, sums = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), {}
    >>> with record_layers(net, 4, sums):
    ...     _ = net(torch.ones(4, 2))
    >>> [(name, layer.units, layer.counted) for name, layer in sums.items()]
    [('0', 3, 4), ('1', 3, 4)]
    """
    axis = {"units": 1}
    calls: dict[str, int] = {}

    def hook(name: str) -> Any:
        def add(part: nn.Module, _args: Any, out: Any) -> None:
            h = next(iter(input_tensors(out)), None)
            if h is None or not h.is_floating_point() or h.dim() == 0:
                return
            axis["units"] = 1 if isinstance(part, FIRST) else -1 if isinstance(part, LAST) else axis["units"]
            calls[name] = calls.get(name, 0) + 1
            key = name if calls[name] == 1 else f"{name} (call {calls[name]})"
            units = 1 if h.dim() < 2 else h.shape[axis["units"]]
            weights = [p for p in part.parameters(recurse=False) if p.dim() > 1]
            layer = sums.setdefault(key, LayerSums(key, type(part).__name__, weights, units, h.numel() // n))
            layer.add(h.detach(), n, axis["units"])
            if h.requires_grad:
                h.register_hook(lambda g: layer.add_gradient(g.detach(), n))

        return add

    handles = [
        part.register_forward_hook(hook(name or type(part).__name__))
        for name, part in module.named_modules()
        if not any(True for _ in part.children()) or isinstance(part, nn.MultiheadAttention)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _update(weights: Sequence[Tensor], sums: dict[int, Tensor]) -> float | None:
    """Returns the squared norm of a layer's weight gradient divided by the squared norm of its weights; None without
    gradient.
    """
    size = sum(float(w.detach().double().square().sum()) for w in weights)
    known = [sums[id(w)].double().square().sum() for w in weights if id(w) in sums]
    return float(torch.stack(known).sum()) / size if size and known else None
