"""Computes the weight norms of each layer that generalization bounds use.

For a layer W (a convolution as its matrix out x (in k k)) and its start W0:

    |W|_2 the largest singular value,    |W|_F,    |W^T|_{2,1} = sum over outputs of |row|_2                       (1)
    |W|_{1,inf} = largest sum of absolute values of a row,    |W|_{1,2} = sqrt(sum over rows of (sum of |w|)^2)      (2)
    stable rank = |W|_F^2 / |W|_2^2,    distance = |W - W0|_F                                                      (3)
    path norm = sqrt(sum over paths from an input to an output of the product of squared weights)                 (4)

(4) is one forward pass of ones through the network with squared weights.

Hypotheses: layers are Linear or Conv; biases are not counted, except in (4).
Reference: [bartlett2017spectrally] for (1), [neyshabur2015norm] for (2) and (4).

>>> import torch
>>> from torch import nn
>>> layer = nn.Linear(2, 2, bias=False)
>>> _ = nn.init.eye_(layer.weight)
>>> found = layer_norms(layer)[0]
>>> found.spectral, round(found.stable_rank, 9), round(found.frobenius**2, 6)
(1.0, 2.0, 2.0)
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import AFFINE_LAYERS, AVERAGE_POOLS, MAX_POOLS
from gnomon.core.results.record import Record

__all__ = ["LayerNorms", "layer_norms", "path_norm"]

SUMMING = (*AFFINE_LAYERS, *MAX_POOLS, *AVERAGE_POOLS, nn.ReLU, nn.LeakyReLU, nn.Flatten, nn.Dropout, nn.Identity)
"""Layers that map sums over paths to sums over paths, if weights are squared and inputs are not negative."""


@dataclass(frozen=True, slots=True)
class LayerNorms(Record):
    """Norms of one layer's weights, including norms of their change since initialization.

    See equations (1) to (3) of the module docstring.
    ``moved`` is |W - W0| in the norm (2, 1) of (1); ``units`` are the outputs of the layer.

    >>> LayerNorms("fc", 8, 2.0, 3.0, 5.0, 4.0, 6.0, 1.0).stable_rank
    2.25
    """

    name: str
    units: int
    spectral: float
    frobenius: float
    row_sum: float
    row_sum_square: float
    moved: float
    distance: float

    @property
    def stable_rank(self) -> float:
        """Returns the stable rank of the weight matrix W, |W|_F^2 / |W|_2^2, a smooth version of the rank.

        See equation (3) of the module docstring.
        """
        return (self.frobenius / self.spectral) ** 2 if self.spectral else 0.0


@add_call_to_errors
def layer_norms(module: nn.Module, start: nn.Module | None = None) -> tuple[LayerNorms, ...]:
    """Computes the weight norms of all Linear and convolution layers, in the order of the module.

    See equations (1) to (3) of the module docstring.

    Args:
        module: a network.
        start: the same network as it was initialized, for distances; without it they are from zero.

    Hypotheses: as for the module's docstring.
    Reference: [bartlett2017spectrally], [neyshabur2015norm].
    Cost: for a layer of m inputs and n outputs about (m + n) min(m, n)^2 operations.

    >>> [layer.name for layer in layer_norms(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Conv2d(1, 1, 3)))]
    ['0', '2']
    """
    check_module_is_callable(module)
    first = {} if start is None else dict(start.named_parameters())
    found = []
    for name, part in module.named_modules():
        if not isinstance(part, AFFINE_LAYERS):
            continue
        w = matrix(part.weight)
        before = first.get(f"{name}.weight".lstrip("."))
        if start is not None and (before is None or before.shape != part.weight.shape):
            what = f"the start has no weight '{name}' of shape {tuple(part.weight.shape)}"
            raise InputError(what, accepted="the same network before training", fix="Pass a copy made before training")
        moved = w if before is None else w - matrix(before)
        sums = w.abs().sum(1)
        found.append(
            LayerNorms(
                name or "module",
                len(w),
                _largest_singular_value(w),
                float(w.norm()),
                float(sums.max()),
                float(sums.norm()),
                float(moved.norm(dim=1).sum()),
                float(moved.norm()),
            )
        )
    if not found:
        raise InputError(
            "no layer is Linear or Conv", accepted="layers with weights", fix="Pass a module with Linear or Conv layers"
        )
    return tuple(found)


@add_call_to_errors
def path_norm(module: nn.Module, shape: tuple[int, ...]) -> float:
    """Computes the path norm of a network: the root of the sum over all paths of the product of squared weights.

    See equation (4) of the module docstring.

    Args:
        module: a network of Linear and convolution layers, ReLU, pooling by means or largest values, flattening.
        shape: shape of one input, without the batch axis.

    Hypotheses: layers that map ones through squared weights to sums over paths; a ReLU network.
    Reference: [neyshabur2015norm].
    Cost: one forward pass.

    >>> net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False))
    >>> for p in net.parameters():
    ...     _ = nn.init.constant_(p, 2.0)
    >>> round(path_norm(net, (1,)) ** 2, 6)  # two paths of 2 * 2 each: 2 * 2^2 * 2^2
    32.0
    """
    check_module_is_callable(module)
    squared = copy_module(module).double().eval()
    with torch.no_grad():
        for p in squared.parameters():
            p.copy_(p.square())
        ones = torch.ones(1, *shape, dtype=torch.float64)
        none, out, twice = squared(0 * ones), squared(ones), squared(2 * ones)  # (4)
    pooled = any(isinstance(part, MAX_POOLS) for part in squared.modules())
    # The path sum is correct only if the network with squared weights is affine in its inputs, which is tested here.
    affine = pooled or torch.allclose(twice - out, out - none, rtol=1e-9)
    odd = [(name, part) for name, part in module.named_modules() if not (isinstance(part, SUMMING) or _has_parts(part))]
    if odd or not affine or bool((out < 0).any()):
        found = f"'{odd[0][0]}' is a {type(odd[0][1]).__name__}" if odd else "the outputs are not sums over paths"
        fix = "Pass the layers before it, such as net[:-1], or a module of Linear, Conv and ReLU layers"
        raise InputError(found, accepted="a ReLU network", fix=fix)
    return float(out.sum().sqrt())


def _has_parts(module: nn.Module) -> bool:
    return any(True for _ in module.children())


def matrix(weight: Tensor) -> Tensor:
    """Returns the weight of a layer as a float64 matrix (outputs, inputs)."""
    return weight.detach().double().flatten(1)


def _largest_singular_value(w: Tensor) -> float:
    """Returns the largest singular value of a matrix from its smaller Gram matrix, which is cheap."""
    gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    return float(torch.linalg.eigvalsh(gram)[-1].clamp_min(0).sqrt())
