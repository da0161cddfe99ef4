"""Measures how similar two representations of the same examples are.

    CKA(A, B) = |A^T B|_F^2 / (|A^T A|_F |B^T B|_F),    columns centered                                         (1)
    Procrustes(A, B) = 1 - |A^T B|_*^2 / (|A|_F^2 |B|_F^2),    the least distance over rotations                 (2)

Neither changes under rotations. For representations equal up to rotation and scale, (1) is 1 and (2) is 0.
Hypotheses: rows are the same examples in the same order.
Reference: [kornblith2019similarity], (1); [ding2021grounding], (2).
Cost: a product of the two matrices; (2) its singular values.

>>> a = torch.randn(20, 3)
>>> round(cka(a, 2 * a[:, [2, 0, 1]]), 6), round(procrustes_distance(a, a.flip(1)), 5)
(1.0, 0.0)
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.attribution.layers import names_of_called_layers, one_tensor
from gnomon.attribution.probes import pool_positions
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.results import Axis, Image, Plot, Result

__all__ = ["LayerSimilarity", "cka", "layer_similarity", "procrustes_distance"]


@add_call_to_errors
def cka(a: Tensor, b: Tensor) -> float:
    """Returns the linear centered kernel alignment (CKA, a similarity from 0 to 1) of two representations.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [kornblith2019similarity].
    Cost: O(n p q).

    >>> cka(torch.eye(3), torch.eye(3)) > 0.999
    True
    """
    x, y = _center(a, b)
    size = float((x.T @ x).norm() * (y.T @ y).norm())
    return float((x.T @ y).square().sum()) / max(size, 1e-300)  # (1)


@add_call_to_errors
def procrustes_distance(a: Tensor, b: Tensor) -> float:
    """Returns the Procrustes distance of two representations (after the best rotation and scaling), from 0 to 1.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [ding2021grounding].
    Cost: a singular value decomposition.

    >>> round(procrustes_distance(torch.eye(3), torch.eye(3)), 6)
    0.0
    """
    x, y = _center(a, b)
    size = float(x.square().sum() * y.square().sum())
    return max(0.0, 1 - float(torch.linalg.svdvals(x.T @ y).sum()) ** 2 / max(size, 1e-300))  # (2)


@dataclass(frozen=True, slots=True, eq=False)
class LayerSimilarity(Result):
    """Result: the CKA (centered kernel alignment) of every layer of one model with every layer of another."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    cka: Float[Tensor, "p q"]

    @property
    def verdict(self) -> str:
        """Names in one sentence the most similar layers of the two models."""
        i, j = divmod(int(self.cka.argmax()), len(self.second))
        return (
            f"The most similar layers are '{self.first[i]}' and '{self.second[j]}' (CKA {float(self.cka.max()):.2f})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the CKA (centered kernel alignment) of all pairs of layers."""
        return (
            Plot(
                "Similarity of layers (CKA)",
                (Image("CKA", self.cka),),
                Axis("layer of the second network"),
                Axis("layer of the first network"),
            ),
        )


@add_call_to_errors
def layer_similarity(first: nn.Module, second: nn.Module, data: Any) -> LayerSimilarity:
    """Compares all layers of two models (or of one model with itself) by CKA on the same inputs.

    Cost: a forward pass of each, the products of all examples for each layer, and a product for each pair.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> layer_similarity(net, net, torch.randn(9, 2)).cka.diagonal().round(decimals=4).tolist()
    [1.0, 1.0]
    """
    tables = []
    for net in (first, second):
        inputs = one_tensor(data, net, whole=True)
        kept = outputs_of_layers(net, inputs, names_of_called_layers(net, inputs), keep=pool_positions)
        tables.append({name: _kernel(h) for name, h in kept.items() if len(h) == len(inputs)})
    rows = [torch.stack(list(table.values())) for table in tables]
    return LayerSimilarity(tuple(tables[0]), tuple(tables[1]), (rows[0] @ rows[1].T).float())  # (1)


def _kernel(h: Tensor) -> Tensor:
    """Returns the centered Gram matrix of a layer's outputs with norm 1; the inner product of two of them is their
    CKA.
    """
    centered = h.double() - h.double().mean(0)
    products = (centered @ centered.T).flatten()
    return products / products.norm().clamp(min=1e-300)


def _center(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    if a.dim() != 2 or b.dim() != 2 or len(a) != len(b) or len(a) < 2:
        found = f"the shapes are {tuple(a.shape)} and {tuple(b.shape)}"
        raise InputError(
            found, accepted="one row per example in both", fix="Pass matrices with the same examples as rows"
        )
    x, y = a.detach().double(), b.detach().double()
    return x - x.mean(0), y - y.mean(0)
