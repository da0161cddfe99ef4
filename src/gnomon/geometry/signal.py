"""Signal propagation measured: what each layer of a module passes on, forwards and backwards.

For the output h of a layer, over the examples of a batch, its units and positions, and for a loss L,

    activation   mean of h^2                            gradient   mean of (n dL/dh)^2                  (1)
    correlation  mean over pairs of examples of <h(x), h(x')> / |h(x)| |h(x')|                          (2)
    dead         the share of units with one and the same output for all examples and positions        (3)
    update       |dL/dW|^2 / |W|^2 for the weights W of the layer: what a step changes of them          (4)

Layers are the modules without parts of their own, in the order in which they are called; functions called in between,
such as ``F.relu``, are seen through what the next layer makes of them.

Reference: [poole2016exponential], [schoenholz2017deep] for what (1) and (2) do in theory; [glorot2010understanding].

>>> import torch
>>> found = signal(nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1)), torch.randn(32, 4))
>>> [layer.name for layer in found.layers], [layer.kind for layer in found.layers]
(['0', '1', '2'], ['Linear', 'ReLU', 'Linear'])
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.checks import as_inputs, check_readable, check_seed
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, count, table, tensors, transform
from gnomon.core.pure import Pure, evaluating, undisturbed
from gnomon.core.record import Record
from gnomon.geometry.faults import Fault, Layer, faults
from gnomon.training.evaluate import Loss, Points, by_targets

CALL = "signal(module, x)"
FEWEST = 8
"""Examples from which on a unit that never changes is called dead."""
PAIRS = 128
"""Examples whose pairs are compared for (2)."""
FIRST = (nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.GroupNorm)
"""Layers whose units are on the axis after the examples'."""
LAST = (nn.Linear, nn.LayerNorm, nn.Embedding, nn.RNNBase, nn.MultiheadAttention)
"""Layers whose units are on the last axis."""


@dataclass(frozen=True, slots=True)
class Signal(Record):
    """Layers in the order of their calls, as equations (1) to (4) say, and the mean square of the inputs.

    ``inputs`` is None where no input is real. ``worst`` is the fault that weighs most, None for a healthy module.
    """

    layers: tuple[Layer, ...]
    inputs: float | None
    examples: int
    found: tuple[Fault, ...] = field(default=())

    @property
    def worst(self) -> Fault | None:
        """The fault that weighs most."""
        return self.found[0] if self.found else None

    def rate(self, quantity: str = "activation") -> float:
        """The mean change per layer with weights of log activation or log gradient, forwards; 0 for a single layer."""
        values = [getattr(layer, quantity) for layer in self.layers if layer.weighted]
        values = [v for v in values if v is not None and v > 0]
        return log(values[-1] / values[0]) / (len(values) - 1) if len(values) > 1 else 0.0

    @property
    def verdict(self) -> str:
        """One sentence, or two where a layer is at fault."""
        weighted = [layer for layer in self.layers if layer.weighted]
        if self.worst is not None:
            return f"{self.worst.what}. {self.worst.cure}."
        return f"Signals pass through {len(weighted)} layers with weights: no layer kills, shrinks or blows them up."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "layers": [asdict(layer) for layer in self.layers],
            "inputs": self.inputs,
            "examples": self.examples,
            "faults": [asdict(fault) for fault in self.found],
            "verdict": self.verdict,
        }

    def plot_data(self) -> dict[str, Any]:
        """Curves over layers as plain lists, for any drawing tool."""
        names = ("activation", "gradient", "correlation", "dead")
        lines = {name: [getattr(layer, name) for layer in self.layers] for name in names}
        return {"x": [layer.name for layer in self.layers], "x_label": "layer", "lines": lines}

    def plot(self, axes: Any = None) -> Any:
        """Draw activation and gradient of each layer with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt  # slow to import, and needed by this method alone

            axes = plt.subplots(layout="constrained")[1]
        data = self.plot_data()
        for name, color in (("activation", "#b5367a"), ("gradient", "#3b6fb5")):
            values = [v if v else float("nan") for v in data["lines"][name]]  # zero has no place on a logarithmic axis
            axes.plot(range(len(values)), values, ".-", color=color, label=f"{name}, mean square")
        axes.set(yscale="log", xlabel="layer, in the order of calls")
        axes.legend()
        return axes


def signal(module: nn.Module, x: Inputs, y: Array | None = None, *, loss: Loss | None = None, seed: int = 0) -> Signal:
    """What every layer passes on, forwards and backwards, with the layer at fault and the cure.

        activation = mean h^2,    gradient = mean (n dL/dh)^2                                         (1)

    Args:
        module: any module; read in eval mode, and left as it was.
        x: inputs as the module takes them: a tensor, a tuple, a dict.
        y: targets, as in `gnomon.train`; without them L is the sum of the outputs with random signs, over n.
        loss: as in `gnomon.train`.
        seed: of the random signs.

    Hypotheses: none; thresholds of the faults are those of `faults`.
    Reference: [schoenholz2017deep], [glorot2010understanding].
    Cost: one forward and one backward pass.

    >>> found = signal(nn.Linear(3, 5, bias=False), torch.eye(3))
    >>> bool(abs(found.layers[0].gradient - 1) < 1e-6)                         # random signs: dL/df = +-1 / n
    True
    """
    check_readable(module, call=CALL)
    seed = check_seed(seed, call=CALL)
    with undisturbed(module), evaluating(module):
        given = as_inputs(x, module, call=CALL)
        data = transform(lambda t: t.clone().requires_grad_() if t.is_floating_point() else t, given)
        n = count(data)
        loss = by_targets(y, call=CALL) if loss is None and y is not None else loss
        points = None if y is None or loss is None else Points.of(given, y, module, loss, CALL)
        f = Pure(module, {name: p.detach().requires_grad_() for name, p in module.named_parameters()}, {}, CALL)
        seen: list[dict[str, Any]] = []
        with _watching(module, n, seen):
            returned = f.returned(data)
        if points is None:
            value = _signs(table(returned, n, CALL), n, seed)
        else:
            value = points.loss_of(returned, points.targets)
        wanted = [*f.leaves.values(), *(t for t in tensors(data) if t.requires_grad)]
        if value.requires_grad and bool(value.detach().isfinite()):
            passed = torch.autograd.grad(value, wanted, allow_unused=True)  # and the hooks see gradients pass
            gradients = {id(w): g for w, g in zip(wanted, passed, strict=True) if g is not None}
            for row in seen:
                row["update"] = _update(row["weights"], gradients)
    if not seen:
        raise InputError(lesson(CALL, "no layer was called", "a module with layers", "Pass the module that computes"))
    layers = tuple(Layer(**{key: row[key] for key in Layer.__slots__}) for row in seen)
    squares = [float(t.detach().double().square().mean()) for t in tensors(data) if t.is_floating_point()]
    inputs = squares[0] if squares else None
    return Signal(layers, inputs, n, faults(layers, inputs))


@contextmanager
def _watching(module: nn.Module, n: int, seen: list[dict[str, Any]]) -> Iterator[None]:
    """Hooks on all layers that add a row for each call, and the gradient to the row when it passes."""
    axis = {"units": 1}

    def hook(name: str) -> Any:
        def watch(part: nn.Module, _args: Any, out: Any) -> None:
            h = next(iter(tensors(out)), None)
            if h is None or not h.is_floating_point() or h.dim() == 0:
                return
            axis["units"] = 1 if isinstance(part, FIRST) else -1 if isinstance(part, LAST) else axis["units"]
            calls = sum(row["layer"] is part for row in seen)
            weights = [p for p in part.parameters(recurse=False) if p.dim() > 1]
            row = _measured(h.detach(), n, axis["units"]) | {
                "name": name if calls == 0 else f"{name} (call {calls + 1})",
                "kind": type(part).__name__,
                "weighted": bool(weights),
                "zero": bool(weights) and all(not bool(w.detach().any()) for w in weights),
                "gradient": None,
                "update": None,
                "weights": weights,
                "layer": part,
            }
            seen.append(row)
            if h.requires_grad:
                h.register_hook(lambda g: row.__setitem__("gradient", float((n * g.detach().double()).square().mean())))

        return watch

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


def _measured(h: Tensor, n: int, axis: int) -> dict[str, Any]:
    """(1), (2) and (3) for one output; without (2) and (3) where the first axis does not count examples."""
    finite = bool(h.isfinite().all())
    row: dict[str, Any] = {"activation": float(h.double().square().mean()) if finite else None, "finite": finite}
    row |= {"correlation": None, "dead": None, "units": 1 if h.dim() < 2 else h.shape[axis]}
    row["size"] = h.numel() // n
    if not finite or h.dim() < 2 or len(h) != n or n < 2:
        return row
    flat = nn.functional.normalize(h[:PAIRS].flatten(1).double(), dim=1)
    m = len(flat)
    row["correlation"] = float((flat.sum(0).square().sum() - flat.square().sum()) / (m * (m - 1)))  # (2)
    units = h.movedim(axis, 0).flatten(1)
    if n >= FEWEST:
        row["dead"] = float((units.amax(1) == units.amin(1)).double().mean())  # (3)
    return row


def _update(weights: list[Tensor], gradients: dict[int, Tensor]) -> float | None:
    """(4), None for a layer without weights, or with zero ones, or that no gradient reaches by any way."""
    size = sum(float(w.detach().double().square().sum()) for w in weights)
    known = [gradients[id(w)].double().square().sum() for w in weights if id(w) in gradients]
    return float(torch.stack(known).sum()) / size if size and known else None  # (4)


def _signs(outputs: Tensor, n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(0, 2, outputs.shape, generator=generator) * 2 - 1
    return (outputs * signs.to(outputs)).sum() / n
