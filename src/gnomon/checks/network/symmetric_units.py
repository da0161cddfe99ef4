"""Finds layers whose units have equal weights, which happens with constant initialization.

Units with equal incoming and outgoing weights get equal gradients, so that they stay equal. Units with equal incoming
weights and different outgoing ones separate slowly, and only if the layers after them are random.

Hypotheses: equal numbers in float32; random initialization gives equal rows with probability zero.
Reference: [rumelhart1986learning].

>>> layer = nn.Linear(3, 8)
>>> _ = nn.init.constant_(layer.weight, 0.1), nn.init.zeros_(layer.bias)
>>> symmetric_unit_findings(nn.Sequential(layer, nn.ReLU(), nn.Linear(8, 2)))[0].values["equal"]
8
>>> symmetric_unit_findings(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
()
"""

import torch
from torch import Tensor, nn

from gnomon.core.modules.layer_classes import LINEAR_OR_CONVOLUTION
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["symmetric_unit_findings"]

MIN_EQUAL_SHARE = 0.5
"""Share of the units that must equal another unit."""


def symmetric_unit_findings(module: nn.Module) -> tuple[Finding, ...]:
    """Reports the first hidden layer in which at least half of the units have the same weights as another unit.

    Layers of zeros have findings of their own, and the last layer may be constant.
    Cost: sorting the rows of all weights.

    >>> symmetric_unit_findings(nn.Linear(3, 8))
    ()
    """
    layers = [(name, part) for name, part in module.named_modules() if isinstance(part, LINEAR_OR_CONVOLUTION)]
    for name, part in layers[:-1]:
        rows = _rows(part)
        if len(rows) < 2 or not bool(part.weight.detach().any()):
            continue
        distinct, sizes = torch.unique(rows, dim=0, return_counts=True)
        equal = int(sizes[sizes > 1].sum())
        if equal >= MIN_EQUAL_SHARE * len(rows):
            n = len(distinct)
            values = {"equal": equal, "units": len(rows), "distinct": n, "plural": "s" if n > 1 else ""}
            return (Finding(kinds.SYMMETRIC_UNITS, name, values, (), 0.0),)
    return ()


def _rows(part: nn.Module) -> Tensor:
    weight, bias = part.weight, part.bias
    assert isinstance(weight, Tensor) and (bias is None or isinstance(bias, Tensor))
    weight = weight.detach()
    rows = weight.reshape(len(weight), -1)
    return rows if bias is None else torch.cat([rows, bias.detach()[:, None]], 1)
