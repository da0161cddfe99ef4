"""Margins of a classifier's outputs, plain and divided by weight norms, which show how hard a data set is.

    m_i = f(x_i)_y - max over other classes of f(x_i)_c,    normalized: m_i n / (R_A |X|_F)                       (1)
    R_A = prod_j |W_j|_2 (sum_j (|W_j^T - W0_j^T|_{2,1} / |W_j|_2)^(2/3))^(3/2)                                  (2)

R_A is the spectral complexity. Plain margins grow with the weights and say little; normalized ones are smaller for
labels that are harder to fit.

Hypotheses: activations with Lipschitz constant 1; layers are Linear (a convolution enters by its matrix).
Reference: [bartlett2017spectrally], equation (1.2) and figure 1; the normalization by R_A |X|_F / n is the same.

>>> import torch
>>> from torch import nn
>>> net = nn.Linear(2, 2, bias=False)
>>> _ = nn.init.eye_(net.weight)
>>> found = output_margins(net, (torch.tensor([[3.0, 1.0]]), torch.tensor([0])))
>>> found.values.tolist(), round(found.complexity, 6)                     # two rows of length 1
([2.0], 2.0)
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.bounds.norms import LayerNorms, layer_norms
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import class_margins
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Histogram, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["OutputMargins", "output_margins", "spectral_complexity"]


@dataclass(frozen=True, slots=True, eq=False)
class OutputMargins(Result):
    """Result: the margin of each example, and the spectral complexity (weight norms) of the network."""

    values: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    complexity: float
    size: float
    layers: tuple[LayerNorms, ...] = field(metadata=HIDDEN_IN_JSON)

    @property
    def normalized(self) -> Tensor:
        """Returns the margins divided by the spectral complexity of the network, to compare networks and data sets.

        See equation (1) of the module docstring.
        """
        scale = self.complexity * self.size / len(self.values)
        return self.values / scale if scale > 0 else torch.zeros_like(self.values)  # (1)

    @property
    def error(self) -> float:
        """Returns the fraction of examples without a positive margin, which counts ties as errors."""
        return float((self.values <= 0).double().mean())

    def quantile(self, share: float) -> float:
        """Returns the quantile of the margins: the value below which the given fraction of examples lies."""
        return float(torch.quantile(self.values.double(), share))

    @property
    def verdict(self) -> str:
        """States the median margin, plain and normalized."""
        middle, small = float(self.values.median()), float(self.normalized.median())
        half = f"Half of {len(self.values)} examples have a margin below {middle:.3g}"
        normalized = f" ({small:.3g} when it is divided by the size of the weights and inputs)" if self.size > 0 else ""
        return f"{half}{normalized}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the normalized margins."""
        marks = (Histogram.of("examples", self.normalized), Reference("wrong to the left", 0.0, vertical=True))
        words = "Labels that are harder to fit leave smaller margins for a network of this size."
        return (Plot("Normalized margins", marks, Axis("margin / size"), Axis("examples"), words),)


@add_call_to_errors
def output_margins(module: nn.Module, data: Any, *, start: nn.Module | None = None) -> OutputMargins:
    """Computes a classifier's margins on data, and the spectral complexity by which margins are normalized.

    See equations (1) and (2) of the module docstring.
    Hypotheses: integer classes, an output for each.
    Reference: [bartlett2017spectrally].
    Cost: one forward pass, and the cost of `layer_norms`.

    >>> x = torch.eye(2)
    >>> output_margins(nn.Linear(2, 2), (x, torch.tensor([0, 1]))).values.shape
    torch.Size([2])
    """
    check_module_is_callable(module)
    x, y = data_source(data, module=module).pair()
    made = outputs_in_eval_mode(module, x).double()
    if not are_classes(y) or made.shape[1] < 2 or int(y.max()) >= made.shape[1] or int(y.min()) < 0:
        found = f"the module has {made.shape[1]} outputs and the targets are {y.dtype} of shape {tuple(y.shape)}"
        raise InputError(found, accepted="an output for each class", fix="Pass integer classes and an output for each")
    values = class_margins(made, y.long())
    layers = layer_norms(module, start)
    size = float(sum(t.double().square().sum() for t in input_tensors(x) if t.is_floating_point()) ** 0.5)
    return OutputMargins(values, spectral_complexity(layers), size, layers)


def spectral_complexity(layers: tuple[LayerNorms, ...]) -> float:
    """Returns the spectral complexity of a network, a measure of size computed from the layers' weight norms.

    See equation (2) of the module docstring.
    Hypotheses: as for the module.
    Reference: [bartlett2017spectrally].

    >>> spectral_complexity((LayerNorms("a", 1, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0),))
    2.0
    """
    product, total = 1.0, 0.0
    for layer in layers:
        if layer.spectral == 0:
            return 0.0
        product *= layer.spectral
        total += (layer.moved / layer.spectral) ** (2 / 3)
    return product * total**1.5  # (2)
