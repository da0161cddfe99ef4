"""Measures oversmoothing: each graph convolution makes the features of connected nodes more similar.

    d_l = |H_l - P H_l| / |H_l|,   P the projection on span(1, D^(1/2) 1) of every connected part          (1)
    |M^l x - P x| <= rho^l |x|,    rho = max(|lambda_2|, |lambda_min|) of M = D^(-1/2) (A + I) D^(-1/2)    (2)

(2) is the rate of a linear network, and an upper bound for ReLU networks with weights of norm one.
"""

from dataclasses import dataclass
from math import exp, log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Scatter, Value
from gnomon.findings import structured as kinds
from gnomon.graphs.graph import adjacency, call_on_graph
from gnomon.graphs.spectrum import distances

__all__ = ["Oversmoothing", "oversmoothing", "propagation_norm", "smoothing_rate"]

MIN_RELATIVE_DISTANCE = 0.05
"""Node features that differ by less than this share of their size cannot be distinguished by the next layer."""
ROUNDING_SHARE = 1e-6
"""Distances below this are rounding errors."""


@dataclass(frozen=True, slots=True)
class Oversmoothing(Result):
    """Result: how different node features are after each layer, and the rate that theory predicts.

    See equations (1) and (2) of the module docstring.

    >>> round(Oversmoothing(("0", "1", "2"), (1.0, 0.5, 0.25), 0.5).rate, 9)
    0.5
    """

    layers: tuple[str, ...]
    distance: tuple[float, ...]
    predicted: float

    @property
    def rate(self) -> float:
        """Returns the factor by which differences between node features change per layer, fitted over all layers."""
        points = [(i, log(d)) for i, d in enumerate(self.distance) if d > ROUNDING_SHARE]
        if len(points) < 2:
            return 0.0
        mx, my = (sum(p[k] for p in points) / len(points) for k in (0, 1))
        slope = sum((i - mx) * (v - my) for i, v in points) / sum((i - mx) ** 2 for i, _ in points)
        return exp(slope)

    @property
    def verdict(self) -> str:
        """Says how similar the features of nodes are at the last layer."""
        depth = len(self.layers)
        each = (
            f" Each layer multiplies the difference between nodes by {self.rate:.2g} (linear network: "
            f"{self.predicted:.2g})."
            if depth > 1
            else ""
        )
        return (
            f"After {depth} layer{'s' if depth > 1 else ''} that use{'' if depth > 1 else 's'} the graph, the features "
            f"of different nodes still differ by {self.distance[-1]:.0%} of their size (near 0 % nodes could not be "
            f"distinguished).{each}"
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the features of nodes can no longer be distinguished."""
        if self.distance[-1] >= MIN_RELATIVE_DISTANCE:
            return ()
        first = next(i for i, d in enumerate(self.distance) if d < MIN_RELATIVE_DISTANCE)
        evidence = (Value("difference at the end", self.distance[-1]), Value("rate", self.rate))
        return (Finding(kinds.OVERSMOOTHED, self.layers[first], {"limit": MIN_RELATIVE_DISTANCE}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the differences between node features by layer, with the rate that theory predicts."""
        depth = list(range(1, len(self.distance) + 1))
        theory = [self.distance[0] * self.predicted ** (i - 1) for i in depth]
        lines = (Scatter("measured", depth, list(self.distance), 0), Line("linear network", depth, theory, color=0))
        return (
            Plot(
                "Difference of nodes",
                lines,
                Axis("layer"),
                Axis("relative difference", log=True),
                "How much features of different nodes differ, relative to their size; at 0 all nodes look the same.",
                id="difference-of-nodes",
            ),
        )


@add_call_to_errors
def propagation_norm(graph: Any) -> float:
    """Returns the spectral norm of a graph convolution's propagation matrix; at most 1, so features cannot blow up.

        |D^(-1/2) (A + I) D^(-1/2)|_2 = 1    for every undirected graph, with eigenvector D^(1/2) 1              (1)

    A norm above 1 means that the graph has negative weights or is directed.
    Hypotheses: weights are not negative.
    Reference: [kipf2017semi].
    Cost: nodes^3.

    >>> round(propagation_norm(torch.ones(4, 4) - torch.eye(4)), 12)
    1.0
    """
    a = adjacency(graph) + torch.eye(len(adjacency(graph)), dtype=torch.float64)
    scale = a.sum(1).rsqrt()
    return float(torch.linalg.matrix_norm(scale[:, None] * a * scale, 2))  # (1)


@add_call_to_errors
def smoothing_rate(graph: Any) -> float:
    """Returns the factor by which one graph convolution shrinks the differences between nodes.

    See equation (2) of the module docstring.

        rho = max(|lambda_2|, |lambda_min|) of D^(-1/2) (A + I) D^(-1/2)                                   (1)

    Hypotheses: an undirected, connected graph. If the graph has several parts, the slowest part counts.
    Reference: [oono2020graph].
    Cost: nodes^3.

    >>> round(smoothing_rate(torch.ones(4, 4) - torch.eye(4)), 12)      # complete: alike after one layer
    0.0
    """
    a = adjacency(graph) + torch.eye(len(adjacency(graph)), dtype=torch.float64)
    scale = a.sum(1).rsqrt()
    values = torch.linalg.eigvalsh(scale[:, None] * a * scale)
    parts = len({tuple(row) for row in torch.isinf(distances(a)).tolist()})
    below = values[: len(values) - parts]
    return float(below.abs().max()) if len(below) else 0.0  # (1)


@add_call_to_errors
def oversmoothing(module: nn.Module, x: Tensor, graph: Any) -> Oversmoothing:
    """Measures how similar the features of nodes are after each layer that receives the graph.

    Args:
        module: called as ``module(x, graph)``; its layers also receive the graph, or an object like it.
        x: features of the nodes, (nodes, channels), or of several graphs, (n, nodes, channels).
        graph: a matrix, an edge list or Data of PyTorch Geometric, as the module takes it; or n matrices.

    Hypotheses: layers return node features, (nodes, channels) or (n, nodes, channels).
    Reference: [oono2020graph].
    Cost: one forward pass, and nodes^3 for the rate.

    >>> class Mean(nn.Module):
    ...     def forward(self, x, a):
    ...         return a @ x
    >>> ring = (torch.eye(6) + torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)) / 3
    >>> found = oversmoothing(Mean(), torch.randn(6, 2), ring)
    >>> found.distance[0] < 1
    True
    """
    check_module(module)
    met: list[tuple[str, Tensor, bool]] = []
    inner = [f"{name}." for name, m in module.named_modules() if name and hasattr(m, "propagate")]  # one layer each
    parts = [(n, m) for n, m in module.named_modules() if n and not any(n.startswith(prefix) for prefix in inner)]
    with preserve(module, grad=False):
        shape = x.shape[:-1]  # shape is (nodes,) or (batch, nodes)
        hooks = [m.register_forward_hook(_watch(name, shape, met), with_kwargs=True) for name, m in parts]
        try:
            out = call_on_graph(module, x, graph)
        finally:
            for hook in hooks:
                hook.remove()
    given = [(name, h) for name, h, graphs in met if graphs]
    given = [(name, h) for name, h in given if not any(other.startswith(f"{name}.") for other, _ in given)]
    # Uses only layers that get the graph as an argument, or all layers if none gets it.
    seen = given or [(name, h) for name, h, _ in met]
    if not seen and isinstance(out, Tensor) and out.shape[:-1] == shape:
        seen = [("output", out)]
    if not seen:
        found = "no layer returns node features"
        raise InputError(found, accepted="layers on (nodes, channels)", fix="Pass a graph network")
    graphs = [adjacency(g, nodes=shape[-1]) for g in ([graph] if len(shape) == 1 else list(graph))]
    spaces = [_fully_smoothed_basis(a) for a in graphs]
    gaps = []
    for _, h in seen:
        each = h.double().cpu().reshape(len(graphs), shape[-1], -1)
        gaps.append(sum(_distance(one, space) for one, space in zip(each, spaces, strict=True)) / len(graphs))
    rate = sum(smoothing_rate(a) for a in graphs) / len(graphs)
    return Oversmoothing(tuple(name for name, _ in seen), tuple(gaps), rate)


def _watch(name: str, shape: torch.Size, met: list[tuple[str, Tensor, bool]]) -> Any:
    def hook(_: nn.Module, args: tuple[Any, ...], options: dict[str, Any], out: Any) -> None:
        several = len(args) + len(options) > 1  # whether the layer gets more than features, such as a graph
        if isinstance(out, Tensor) and out.dim() == len(shape) + 1 and out.shape[:-1] == shape:
            met.append((name, out.detach(), several))

    return hook


def _fully_smoothed_basis(a: Tensor) -> Tensor:
    """Returns an orthonormal basis of the node features that graph convolutions leave unchanged (fully smoothed)."""
    together = ~torch.isinf(distances(a))
    columns = []
    for row in {tuple(r) for r in together.tolist()}:
        part = torch.tensor(row, dtype=torch.float64)
        columns += [part, part * (a.sum(1) + 1).sqrt()]
    basis, sizes, _ = torch.linalg.svd(torch.stack(columns, 1), full_matrices=False)
    return basis[:, sizes > 1e-9 * sizes[0]]


def _distance(h: Tensor, space: Tensor) -> float:
    size = float(h.norm())
    return float((h - space @ (space.T @ h)).norm()) / size if size else 0.0  # (1)
