"""Finds units with the same incoming weights and bias as another unit of the layer; such units learn the same.

    duplicates = units of a layer - different rows of [W, b]                                                     (1)

Hypotheses: equal numbers, as constant initialization makes them. Reference: [rumelhart1986learning].

>>> UnitDuplicates({"0": 8}, {"0": 7}, {"0": 0}).verdict[:18]
'7 of 8 units repea'
"""

from dataclasses import dataclass

import torch
from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["UnitDuplicates", "unit_duplicates"]


@dataclass(frozen=True, slots=True)
class UnitDuplicates(Result):
    """Result for each layer: the number of units, of units that repeat another one, and of units with zero incoming
    weights.
    """

    units: dict[str, int]
    duplicates: dict[str, int]
    empty: dict[str, int]

    @property
    def verdict(self) -> str:
        """Says in one sentence how many units repeat others or have zero weights."""
        lost = sum(self.duplicates.values()) + sum(self.empty.values())
        if not lost:
            return f"All {sum(self.units.values())} units differ."
        return (
            f"{lost} of {sum(self.units.values())} units repeat another unit or have no "
            "weights. Initialize them at random."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots for each layer the number of units that repeat another one or have zero weights."""
        names = tuple(self.units)
        wasted = [self.duplicates[name] + self.empty[name] for name in names]
        return (Plot("Units that repeat others", (Bars("units", names, wasted),), Axis("units"), caption=self.verdict),)


@add_call_to_errors
def unit_duplicates(module: nn.Module) -> UnitDuplicates:
    """Counts units of linear or convolution layers that repeat another unit or have zero incoming weights.

    See equation (1) of the module docstring.
    Hypotheses: equal to rounding of the parameters' type. Reference: [rumelhart1986learning].
    Cost: a sort of the rows of each weight.

    >>> net = nn.Linear(3, 4)
    >>> _ = nn.init.constant_(net.weight, 0.5), nn.init.zeros_(net.bias)
    >>> unit_duplicates(net).duplicates                                                      # three repeat the first
    {'': 3}
    """
    check_weights(module)
    units, duplicates, empty = {}, {}, {}
    for name, part in module.named_modules():
        if isinstance(part, AFFINE_LAYERS):
            rows = part.weight.detach().flatten(1)
            none = ~rows.any(1)
            if part.bias is not None:
                rows = torch.cat([rows, part.bias.detach()[:, None]], 1)
            kept = rows[~none]
            units[name], empty[name] = len(rows), int(none.sum())
            duplicates[name] = len(kept) - len(torch.unique(kept, dim=0)) if len(kept) else 0  # (1)
    if not units:
        raise InputError(
            "the module has no linear or convolutional layer",
            accepted="layers with units",
            fix="Pass a module with linear or convolutional layers",
        )
    return UnitDuplicates(units, duplicates, empty)
