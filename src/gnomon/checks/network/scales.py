"""Predicts signal sizes in a ReLU network from its weights and biases, and compares them with measured sizes.

For independent weights that are symmetric around zero, and F_l = relu(W_l F_(l-1) + b_l),

    E F_l^2 = (1 / 2) (n_(l-1) E W_l^2 E F_(l-1)^2 + E b_l^2)                                                    (1)

Above 2 / n the second moment of the weights makes signals explode with depth, below it they vanish.
Hypotheses: chains of linear or convolutional layers with relu; (1) holds on average over initializations, and after
training only as far as weights still look independent.
Reference: [he2015delving].

>>> import torch
>>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU())
>>> net[0].weight.data.fill_(2.0)
tensor([[2.]])
>>> signal_scales(net, torch.tensor([[1.0], [-1.0]])).predicted                               # 4 / 2
(2.0,)
"""

from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.capture import layer_names, outputs_of_layers
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Axis, Line, Plot, Result, Scatter

__all__ = ["SignalScales", "signal_scales"]


@dataclass(frozen=True, slots=True)
class SignalScales(Result):
    """Result: the predicted and the measured mean square of the signal after each ReLU, with layer names."""

    layers: tuple[str, ...]
    predicted: tuple[float, ...]
    measured: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Compares in one sentence the predicted and the measured mean square of the signal after the last layer."""
        ratio = self.measured[-1] / self.predicted[-1] if self.predicted[-1] > 0 else float("inf")
        return (
            f"After {len(self.layers)} relu layers the mean square is {self.measured[-1]:.3g}, predicted "
            f"{self.predicted[-1]:.3g} (factor {ratio:.2g})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the predicted and the measured mean square of the signal at each layer."""
        places = range(1, len(self.layers) + 1)
        marks = (Scatter("measured", places, self.measured, 0), Line("predicted", places, self.predicted, color=0))
        return (Plot("Size of signals", marks, Axis("layer"), Axis("mean square", log=min(self.measured) > 0)),)


@add_call_to_errors
def signal_scales(module: nn.Module, data: Any) -> SignalScales:
    """Measures the mean square of the signal after each ReLU of a chain of layers, and predicts it from the weights
    alone.

    See equation (1) of the module docstring.

    Args:
        module: a chain of layers, ``nn.Sequential`` or one that calls its layers in the order it holds them.
        data: inputs.

    Hypotheses: see the module. Convolutions count their kernel's inputs; zeros of padding make the measured value less.
    Reference: [he2015delving].
    Cost: one forward pass.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU())
    >>> _ = nn.init.constant_(net[0].weight, 0.5 ** 0.5)
    >>> round(signal_scales(net, torch.eye(4)).predicted[0], 6)              # 4 x 1/2 x 1/4, halved
    0.25
    """
    check_weights(module)
    inputs = all_inputs(data, module)
    square = float(next(input_tensors(inputs)).double().square().mean())
    names, predicted, pending = [], [], None
    for name in layer_names(module):
        part = module.get_submodule(name)
        if isinstance(part, AFFINE_LAYERS):
            w = part.weight.detach().double()
            bias = 0.0 if part.bias is None else float(part.bias.detach().double().square().mean())
            pending = w[0].numel() * float(w.square().mean()) * square + bias
            square = pending
        elif isinstance(part, nn.ReLU) and pending is not None:
            square, pending = pending / 2, None  # (1)
            names.append(name)
            predicted.append(square)
        elif not isinstance(part, nn.Flatten | nn.Dropout | nn.Identity):
            fix = "Use signal(module, x), which measures any network"
            raise InputError(f"'{name}' is a {type(part).__name__}", accepted="only linear layers and ReLU", fix=fix)
    if not names:
        raise InputError(
            "no linear layer is followed by nn.ReLU",
            accepted="a ReLU network",
            fix="Use signal(module, x), which measures any network",
        )
    kept = outputs_of_layers(module, inputs, names)
    measured = tuple(float(kept[name].double().square().mean()) for name in names)
    return SignalScales(tuple(names), tuple(predicted), measured)
