"""Symmetries of parameters: weight changes that do not change the outputs, and the quantities they conserve.

For a stack of Linear layers with ReLU between them:

    permutation   rows of W_1 (and b_1) and columns of W_2 in another order                                       (1)
    scaling       row i of W_1 (and b_1) times c > 0, column i of W_2 over c                                      (2)
    conserved     q_i = |row i of W_1|^2 + b_1i^2 - |column i of W_2|^2  along gradient flow                       (3)
    orthogonal    <dL/dw, direction of the orbit> = 0,  for (2): sum of w dL/dw over row i minus over column i     (4)

A step of size r changes (3) by r^2 (|g_1i|^2 - |g_2i|^2): drift over a fixed time is proportional to r.

Hypotheses: activations with f(c x) = c f(x) for c > 0, such as ReLU, for (2) to (4); any elementwise one for (1).
Reference: [hecht1990algebraic] for (1), [kunin2021neural] for (3) and (4), [ainsworth2023git] for matching.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
>>> x = torch.randn(4, 2)
>>> torch.allclose(net(x), rescale_units(net, torch.tensor([2.0, 0.5, 3.0]))(x), atol=1e-5)
True
"""

from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.copies import copy_module
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["MatchedNetwork", "unit_balance", "match_units", "gradient_along_orbit", "permute_units", "rescale_units"]

NEUTRAL = (nn.ReLU, nn.Identity, nn.Flatten, nn.Dropout, nn.LeakyReLU, nn.Tanh, nn.Sigmoid)


@add_call_to_errors
def permute_units(module: nn.Sequential, order: Int[Tensor, " m"], layer: int = 0) -> nn.Sequential:
    """Returns a copy of a network with permuted hidden units in one layer, which computes the same function.

    See equation (1) of the module docstring.
    Hypotheses: a ``nn.Sequential`` of Linear layers and elementwise activations.
    Reference: [hecht1990algebraic].
    Cost: a copy.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> torch.allclose(net(torch.ones(1, 2)), permute_units(net, torch.tensor([2, 0, 1]))(torch.ones(1, 2)))
    True
    """
    copy = copy_module(module)
    first, second = _pair(copy, layer)
    with torch.no_grad():
        first.weight.copy_(first.weight[order])
        if first.bias is not None:
            first.bias.copy_(first.bias[order])
        second.weight.copy_(second.weight[:, order])  # (1)
    return cast(nn.Sequential, copy)


@add_call_to_errors
def rescale_units(module: nn.Sequential, factors: Float[Tensor, " m"], layer: int = 0) -> nn.Sequential:
    """Returns a copy of a network with rescaled hidden units in one layer, which computes the same function.

    See equation (2) of the module docstring.
    Hypotheses: ReLU after the layer; factors above 0.
    Reference: [kunin2021neural].
    Cost: a copy.

    >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False))
    >>> other = rescale_units(net, torch.tensor([4.0]))
    >>> bool(other[0].weight == 4 * net[0].weight), bool(other[2].weight == net[2].weight / 4)
    (True, True)
    """
    copy = copy_module(module)
    first, second = _pair(copy, layer)
    if not bool((factors > 0).all()):
        raise InputError("a factor is not positive", accepted="factors above 0", fix="Pass positive factors")
    with torch.no_grad():
        first.weight.mul_(factors[:, None])
        if first.bias is not None:
            first.bias.mul_(factors)
        second.weight.div_(factors)  # (2)
    return cast(nn.Sequential, copy)


@add_call_to_errors
def unit_balance(module: nn.Sequential, layer: int = 0) -> Float[Tensor, " m"]:
    """Returns each hidden unit's squared incoming minus squared outgoing weights, which gradient flow conserves.

    See equation (3) of the module docstring.
    Hypotheses: gradient flow without decay, ReLU or linear activations.
    Reference: [kunin2021neural].
    Cost: one pass over two weights.

    >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False))
    >>> for p, value in zip(net.parameters(), (3.0, 2.0)):
    ...     _ = nn.init.constant_(p, value)
    >>> unit_balance(net).tolist()
    [5.0]
    """
    first, second = _pair(module, layer)
    into = first.weight.detach().double().square().sum(1)
    if first.bias is not None:
        into = into + first.bias.detach().double().square()
    return into - second.weight.detach().double().square().sum(0)  # (3)


@add_call_to_errors
def gradient_along_orbit(module: nn.Sequential, loss: Tensor, layer: int = 0) -> float:
    """Returns the largest cosine between the gradient and the direction of rescaling a hidden unit; 0 in theory.

    See equation (4) of the module docstring.
    Zero for a network with the symmetry: gradients have no part along the orbit.

    Args:
        module: the network.
        loss: a number computed by it, with its graph.
        layer: whose units are scaled, counted among the Linear layers.

    Hypotheses: ReLU after the layer.
    Reference: [kunin2021neural].
    Cost: a backward pass.

    >>> net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1)).double()
    >>> x = torch.randn(10, 2).double()
    >>> gradient_along_orbit(net, net(x).square().mean()) < 1e-12
    True
    """
    first, second = _pair(module, layer)
    own = [first.weight, second.weight] + ([] if first.bias is None else [first.bias])
    grads = torch.autograd.grad(loss, own, retain_graph=True)
    along = (grads[0] * first.weight).sum(1) - (grads[1] * second.weight).sum(0)
    moved = first.weight.square().sum(1) + second.weight.square().sum(0)
    if first.bias is not None:
        along = along + grads[2] * first.bias
        moved = moved + first.bias.square()
    size = torch.stack([g.square().sum() for g in grads]).sum().sqrt()
    return float((along.abs() / (moved.sqrt() * size).clamp_min(1e-300)).detach().max())  # (4)


@dataclass(frozen=True, slots=True, eq=False)
class MatchedNetwork(Result):
    """Result: a copy of the second network with units reordered to match the first network, and the permutations."""

    module: nn.Sequential
    orders: tuple[Tensor, ...]
    distance_before: float
    distance_after: float

    @property
    def verdict(self) -> str:
        """States in one sentence how far the weights are apart before and after matching the units."""
        found = (
            f"With the best order of units that was found, the weights of the two networks differ by "
            f"{self.distance_after:.3g}"
        )
        return f"{found}, and before reordering by {self.distance_before:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the distance between the two networks' weights before and after matching."""
        bars = Bars("distance", ("before", "after matching"), (self.distance_before, self.distance_after))
        return (Plot("Matching of units", (bars,), Axis("distance of the weights"), caption=self.verdict),)


@add_call_to_errors
def match_units(first: nn.Sequential, second: nn.Sequential, *, rounds: int = 20, seed: int = 0) -> MatchedNetwork:
    """Permutes the hidden units of a network so that its weights are close to another network's.

    See equation (1) of the module docstring.
    Each layer's best order, the others fixed, is an assignment problem, solved exactly; layers are visited in turn
    until nothing changes. The result is the best of one descent, not of all orders.

    Hypotheses: two ``nn.Sequential`` of Linear layers of the same sizes.
    Reference: [ainsworth2023git], Algorithm 1.
    Cost: a product of weights and an assignment for each layer and round.

    >>> net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1))
    >>> match_units(net, permute_units(net, torch.tensor([4, 2, 0, 1, 3]))).distance_after
    0.0
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    a = _linear(first)
    copy = cast(nn.Sequential, copy_module(second))
    b = _linear(copy)
    if [p.weight.shape for p in a] != [p.weight.shape for p in b]:
        raise InputError(
            "the layers differ in size",
            accepted="two networks of one shape",
            fix=("Pass networks with equal layer sizes"),
        )
    before = _distance(a, b)
    orders = [torch.arange(len(part.weight)) for part in b[:-1]]
    generator = torch.Generator().manual_seed(seed)
    for _ in range(rounds):
        changed = False
        for layer in torch.randperm(len(b) - 1, generator=generator).tolist():
            with torch.no_grad():
                gain = a[layer].weight @ b[layer].weight.T + a[layer + 1].weight.T @ b[layer + 1].weight
                if a[layer].bias is not None:
                    gain = gain + a[layer].bias[:, None] * b[layer].bias
            order = torch.from_numpy(linear_sum_assignment(gain.double().numpy(), maximize=True)[1])
            if bool((order != torch.arange(len(order))).any()):
                changed = True
                copy = permute_units(copy, order, layer)
                b = _linear(copy)
                orders[layer] = orders[layer][order]
        if not changed:
            break
    return MatchedNetwork(copy, tuple(orders), before, _distance(a, b))


def _linear(module: nn.Module) -> list[nn.Linear]:
    check_module(module)
    parts = list(module.children()) if isinstance(module, nn.Sequential) else []
    if not parts or not all(isinstance(part, (nn.Linear, *NEUTRAL)) for part in parts):
        found = f"the module is a {type(module).__name__}, or has other layers"
        raise InputError(found, accepted="a Sequential of Linear layers and activations", fix="Pass such a network")
    return [part for part in parts if isinstance(part, nn.Linear)]


def _pair(module: nn.Module, layer: int) -> tuple[nn.Linear, nn.Linear]:
    layers = _linear(module)
    if not 0 <= layer < len(layers) - 1:
        found = f"layer is {layer} and there are {len(layers)} Linear layers"
        raise InputError(
            found, accepted="a layer with hidden units", fix="Count Linear layers from 0, the last has none"
        )
    return layers[layer], layers[layer + 1]


def _distance(a: list[nn.Linear], b: list[nn.Linear]) -> float:
    return float(
        sum(float((p.weight - q.weight).detach().double().square().sum()) for p, q in zip(a, b, strict=True)) ** 0.5
    )
