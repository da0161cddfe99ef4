"""Measures how well each layer of a trained network tolerates noise (cushions); tolerant layers can be compressed.

With x_i the outputs of layer i before its activation, a_i after it, and J_ij the Jacobian of x_j with respect to x_i:

    layer cushion        mu_i  = min over x of |W_i a_{i-1}| / (|W_i|_F |a_{i-1}|)                              (1)
    interlayer cushion   mu_i> = min over x, j >= i of |J_ij x_i| / (|J_ij|_F |x_i|);  1 / sqrt(h_i) for j = i  (2)
    contraction          c     = max over x, i of |x_i| / |a_i|                                                  (3)

The larger the cushions, the fewer numbers describe the network.

Hypotheses: a ``nn.Sequential`` of Linear layers and ReLU, which is linear around each input, so that (2) is exact.
Reference: [arora2018stronger], definitions 4 to 6.

>>> import torch
>>> from torch import nn
>>> net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 2, bias=False))
>>> for layer in (net[0], net[2]):
...     _ = nn.init.eye_(layer.weight)
>>> found = layer_noise_tolerance(net, torch.ones(1, 2))
>>> [round(value, 4) for value in found.layer]                                   # |x| / (sqrt(2) |x|)
[0.7071, 0.7071]
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["LayerNoiseTolerance", "layer_noise_tolerance"]

SHAPELESS = (nn.ReLU, nn.Flatten, nn.Dropout, nn.Identity)


@dataclass(frozen=True, slots=True)
class LayerNoiseTolerance(Result):
    """Result: how much input noise each Linear layer tolerates (layer cushion), and the layers after it (interlayer
    cushion).
    """

    names: tuple[str, ...]
    layer: tuple[float, ...]
    interlayer: tuple[float, ...]
    contraction: float
    largest: float

    @property
    def total(self) -> float:
        """Returns the factor of the compression bound on the test error that depends on the layers' noise
        tolerances.
        """
        pairs = zip(self.layer, self.interlayer, strict=True)
        return sum((self.contraction / (a * b)) ** 2 if a * b > 0 else float("inf") for a, b in pairs)

    @property
    def verdict(self) -> str:
        """Names the layer that tolerates noise least, with its noise tolerances."""
        worst = min(range(len(self.layer)), key=lambda i: self.layer[i] * self.interlayer[i])
        return (
            f"Layer '{self.names[worst]}' tolerates noise least: its layer cushion is {self.layer[worst]:.3g}, its "
            f"interlayer cushion (to the output) {self.interlayer[worst]:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how much noise each layer tolerates, and how much noise behind it the later layers tolerate."""
        bars = (Bars("layer", self.names, self.layer), Bars("to the output", self.names, self.interlayer))
        words = "A layer with a larger cushion tolerates more noise and can be compressed further."
        return (Plot("LayerCushions", bars, Axis("cushion"), caption=words),)


@add_call_to_errors
def layer_noise_tolerance(module: nn.Module, data: Any) -> LayerNoiseTolerance:
    """Measures how much noise each layer of a ReLU network tolerates (cushions), on some inputs.

    See equations (1) to (3) of the module docstring.
    Hypotheses: a ``nn.Sequential`` of Linear layers and ReLU (Flatten, Dropout and Identity are allowed).
    Reference: [arora2018stronger].
    Cost: for each input the products of all weight matrices between two layers.

    >>> layer_noise_tolerance(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), torch.randn(5, 3)).names
    ('0', '2')
    """
    check_module_is_callable(module)
    # Reads `_modules`, because named_children() skips repeated modules, such as one nn.ReLU() used after all layers.
    parts = list(module._modules.items()) if isinstance(module, nn.Sequential) else [("module", module)]
    odd = next((name for name, part in parts if not isinstance(part, (nn.Linear, *SHAPELESS))), None)
    if odd is not None or not any(isinstance(part, nn.Linear) for _, part in parts):
        found = f"'{odd}' is neither Linear nor ReLU" if odd is not None else "the module has no Linear layer"
        raise InputError(
            found, accepted="a Sequential of Linear and ReLU layers", fix="Pass an nn.Sequential of these layers"
        )
    given = all_inputs(data, module)
    h = (given if isinstance(given, Tensor) else torch.as_tensor(given)).double().flatten(1)
    width = next(part.in_features for _, part in parts if isinstance(part, nn.Linear))
    if h.shape[1] != width:
        found = f"the inputs have {h.shape[1]} numbers each, and the first Linear layer takes {width}"
        raise InputError(found, accepted="inputs that fit the module", fix="Pass the inputs that the module takes")
    layers, masks, before, after, names = [], [], [], [], []
    with torch.no_grad():
        for name, part in parts:
            if isinstance(part, nn.Linear):
                names.append(name)
                layers.append(part.weight.double())
                after.append(h)
                h = h @ part.weight.double().T + (0 if part.bias is None else part.bias.double())
                before.append(h)
                masks.append(torch.ones_like(h))
            elif isinstance(part, nn.ReLU):
                if masks:
                    masks[-1] = (h > 0).double()
                h = h.relu()
        own = [
            _least((a @ w.T).norm(dim=1), w.norm() * a.norm(dim=1)) for w, a in zip(layers, after, strict=True)
        ]  # (1)
        inter = [_interlayer(i, layers, masks, before) for i in range(len(layers))]
    shrunk = [
        float((b.norm(dim=1) / (b * m).norm(dim=1)).nan_to_num(1.0, torch.inf).max())
        for b, m in list(zip(before, masks, strict=True))[:-1]
    ]
    return LayerNoiseTolerance(
        tuple(names), tuple(own), tuple(inter), max([1.0, *shrunk]), float(before[-1].norm(dim=1).max())
    )


def _interlayer(i: int, layers: list[Tensor], masks: list[Tensor], before: list[Tensor]) -> float:
    """Returns how much noise in the output of layer i all later layers tolerate (interlayer cushion)."""
    x = before[i]
    least = x.shape[1] ** -0.5  # starts with the ratio for layer i itself, whose Jacobian is the identity
    jacobian = torch.eye(x.shape[1], dtype=x.dtype).expand(len(x), -1, -1)
    for j in range(i + 1, len(layers)):
        jacobian = layers[j] @ (masks[j - 1][:, :, None] * jacobian)
        seen = (jacobian @ x[:, :, None])[:, :, 0].norm(dim=1)
        least = min(least, _least(seen, jacobian.flatten(1).norm(dim=1) * x.norm(dim=1)))  # (2)
    return least


def _least(above: Tensor, below: Tensor) -> float:
    """Returns the smallest ratio of two numbers per example; skips examples whose denominator is zero."""
    known = below > 0
    return float((above[known] / below[known]).min()) if bool(known.any()) else 0.0
