"""Measures which of the two learned parameters of batch norm (scale or shift) matters, by resetting one of them.

    rise of a layer's scale c: (L with c = 1) - L,    of its shift b: (L with b = 0) - L                        (1)

Hypotheses: a trained network in eval mode. Reference: [ioffe2015batch].

>>> NormalizationImportance({"1": 0.5}, {"1": 0.1}, 1.0).verdict[:40]
'The learned scale matters more than the '
"""

from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.landscape.batchnorm import batch_norm_layers
from gnomon.training.evaluate import Loss, Objective

__all__ = ["NormalizationImportance", "normalization_importance"]


@dataclass(frozen=True, slots=True)
class NormalizationImportance(Result):
    """The rise of the loss if the learned scale or shift of each batch norm layer is reset, and the loss before."""

    scale: dict[str, float]
    shift: dict[str, float]
    loss: float

    @property
    def verdict(self) -> str:
        """A sentence that says whether the learned scale or the learned shift of batch norm matters more."""
        scale, shift = sum(self.scale.values()), sum(self.shift.values())
        more, less = ("scale", "shift") if scale >= shift else ("shift", "scale")
        low, high = sorted((scale, shift))
        return (
            f"The learned {more} matters more than the {less}: resetting it raises the loss by {high:.3g}, "
            f"compared with {low:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the rise of the loss after resetting batch norm scales and after resetting batch norm shifts."""
        names = tuple(self.scale)
        axis = Axis("rise of the loss")
        return (
            Plot("Scale reset", (Bars("rise", names, tuple(self.scale.values())),), axis, caption=self.verdict),
            Plot("Shift reset", (Bars("rise", names, tuple(self.shift.values())),), axis),
        )


@add_call_to_errors
def normalization_importance(module: nn.Module, data: Any, *, loss: Loss | None = None) -> NormalizationImportance:
    """Measures the rise of the loss when the learned scale or shift of each batch norm layer is reset.

    See equation (1) of the module docstring.
    Hypotheses: a trained network with affine batch norm layers. Reference: [ioffe2015batch].
    Cost: two passes over the data for each layer.

    >>> import torch
    >>> net = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1))
    >>> result = normalization_importance(net, (torch.randn(8, 1), torch.zeros(8)))  # 1 and 0 already: nothing changes
    >>> result.scale, result.shift
    ({'0': 0.0}, {'0': 0.0})
    """
    check_weights(module)
    model = copy_module(module)
    parts = {name: part for name, part in batch_norm_layers(model).items() if part.affine}
    with preserve(model):
        objective = Objective.of(data, model, loss)
        start = objective.measure(model, None)[0]
        rises: dict[str, dict[str, float]] = {"weight": {}, "bias": {}}
        for name, part in parts.items():
            for which, neutral in (("weight", 1.0), ("bias", 0.0)):
                parameter = getattr(part, which)
                before = parameter.detach().clone()
                parameter.data.fill_(neutral)
                rises[which][name] = objective.measure(model, None)[0] - start  # (1)
                parameter.data.copy_(before)
    return NormalizationImportance(rises["weight"], rises["bias"], start)
