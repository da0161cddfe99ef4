"""Statistics of the signal and the gradient at one layer.

>>> layer = LayerSignal("0", "Linear", "nonzero", 8, 8, ForwardStatistics(1.0, 0.0, 0.0), BackwardStatistics(1.0, 1.0))
>>> layer.weighted, layer.activation, layer.finite
(True, 1.0, True)
"""

from dataclasses import dataclass
from typing import Literal

from gnomon.core.results.record import Record

__all__ = ["BackwardStatistics", "ForwardStatistics", "LayerSignal"]


@dataclass(frozen=True, slots=True)
class ForwardStatistics(Record):
    """Output statistics of a layer, equations (1) to (3) of `signal`.

    ``activation`` is None where an output is not finite, the others where they cannot be measured.
    """

    activation: float | None
    correlation: float | None
    dead: float | None


@dataclass(frozen=True, slots=True)
class BackwardStatistics(Record):
    """Gradient statistics of a layer, equations (1) and (4) of `signal`; None if no gradient reached it."""

    gradient: float | None
    update: float | None


@dataclass(frozen=True, slots=True)
class LayerSignal(Record):
    """One call of a layer: its name in the module, its class, its weights and sizes, and its statistics.

    ``size`` counts the numbers it puts out for an example, ``units`` those of them that are not positions of one
    another, ``fan`` the weights for each unit. The parts of ``forward`` and ``backward`` can be read from the layer
    itself, as ``layer.activation``.
    """

    name: str
    kind: str
    weights: Literal["none", "zero", "nonzero"]
    units: int
    size: int
    forward: ForwardStatistics
    backward: BackwardStatistics
    fan: float = 1.0

    @property
    def weighted(self) -> bool:
        """Whether the layer has weights."""
        return self.weights != "none"

    @property
    def zero(self) -> bool:
        """Whether all its weights are zero."""
        return self.weights == "zero"

    @property
    def finite(self) -> bool:
        """Whether all its outputs are finite."""
        return self.forward.activation is not None

    @property
    def activation(self) -> float | None:
        """Mean square of the outputs."""
        return self.forward.activation

    @property
    def correlation(self) -> float | None:
        """Mean correlation of the outputs of different examples."""
        return self.forward.correlation

    @property
    def dead(self) -> float | None:
        """Share of units with the same output for all examples."""
        return self.forward.dead

    @property
    def gradient(self) -> float | None:
        """Mean square of the gradient at the outputs, for each example."""
        return self.backward.gradient

    @property
    def update(self) -> float | None:
        """Squared gradient of the weights in units of the squared weights."""
        return self.backward.update
