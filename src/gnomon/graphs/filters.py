"""Measures how a linear graph layer amplifies or damps each graph frequency (Laplacian eigenvector).

    L = U diag(lambda) U^T,   response(lambda_k) = u_k . f(u_k),   leak_k = |f(u_k) - response u_k| / |f(u_k)|   (1)

A polynomial filter p(L) has response p(lambda) and no leakage. Low frequencies are smooth over the graph.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Plot, Result, Scatter
from gnomon.graphs.graph import adjacency

__all__ = ["FilterResponse", "filter_response"]


@dataclass(frozen=True, slots=True)
class FilterResponse(Result):
    """Result: a graph layer's factor at each graph frequency, and the fraction of the output at other frequencies.

    >>> FilterResponse((0.0, 2.0), (1.0, 0.2), (0.0, 0.0)).verdict
    'A low-pass filter: a response of 1 at the lowest frequency and 0.2 at the highest; up to 0.0% of an output is at
    other frequencies than its input.'
    """

    frequencies: tuple[float, ...]
    response: tuple[float, ...]
    leak: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """States which graph frequencies the layer lets pass."""
        low, high = abs(self.response[0]), abs(self.response[-1])
        kind = "A low-pass" if low > 2 * high else "A high-pass" if high > 2 * low else "Neither a low- nor a high-pass"
        return (
            f"{kind} filter: a response of {self.response[0]:.3g} at the lowest frequency and {self.response[-1]:.3g} "
            f"at the highest; up to {max(self.leak):.1%} of an output is at other frequencies than its input."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the factor by which the graph layer multiplies each graph frequency."""
        marks = (Scatter("response", list(self.frequencies), list(self.response)),)
        return (Plot("Filter", marks, Axis("frequency"), Axis("response")),)


@add_call_to_errors
def filter_response(layer: Any, graph: Any, *, normalized: bool = True) -> FilterResponse:
    """Returns the factor by which a linear graph layer multiplies each frequency of a graph.

    See equation (1) of the module docstring.

    Args:
        layer: a function of features (nodes, 1), such as ``lambda x: chebyshev_filter(x, laplacian, c)``.
        graph: a matrix, an edge list or an object with ``edge_index``; its Laplacian gives the frequencies.
        normalized: if True, uses the frequencies of I - D^(-1/2) A D^(-1/2), in [0, 2]; otherwise of D - A.

    Hypotheses: the layer is linear. For repeated frequencies the eigenvectors are not unique.
    Reference: [defferrard2016convolutional].
    Cost: nodes^3 operations, and one call for each node.

    >>> ring = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)
    >>> found = filter_response(lambda x: ring.double() @ x / 2, ring)                  # 1 - lambda
    >>> max(abs(r - (1 - f)) for f, r in zip(found.frequencies, found.response)) < 1e-9
    True
    """
    a = adjacency(graph)
    degree = a.sum(1)
    scale = torch.where(degree > 0, degree.clamp(min=1e-300).rsqrt(), torch.zeros_like(degree))
    laplacian = torch.eye(len(a), dtype=a.dtype) - scale[:, None] * a * scale if normalized else degree.diag() - a
    values, vectors = torch.linalg.eigh(laplacian)
    module = layer if isinstance(layer, nn.Module) else nn.Identity()
    kind = next((p.dtype for p in module.parameters()), torch.float64)
    response, leak = [], []
    with preserve(module, grad=False):
        for u in vectors.T:
            out = layer(u.to(kind)[:, None])
            if not isinstance(out, Tensor) or out.numel() != len(u):
                raise InputError(
                    "the layer changes the shape",
                    accepted="outputs (nodes, 1)",
                    fix="Pass a layer with one input and one output channel",
                )
            made = out.detach().double().reshape(-1).cpu()
            response.append(float(u @ made))  # (1)
            leak.append(float((made - response[-1] * u).norm() / made.norm().clamp(min=1e-300)) if made.any() else 0.0)
    return FilterResponse(tuple(values.clamp(min=0.0).tolist()), tuple(response), tuple(leak))
