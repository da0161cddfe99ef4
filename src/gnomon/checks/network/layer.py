"""Statistics of the outputs and gradients at one layer.

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
    """Statistics of a layer's outputs: their root mean square, correlation, and share of dead units, as `signal`
    defines them.

    ``activation`` is None if an output is not finite, the others if they cannot be measured.
    """

    activation: float | None
    correlation: float | None
    dead: float | None


@dataclass(frozen=True, slots=True)
class BackwardStatistics(Record):
    """Statistics of the gradients at a layer; None if no gradient reached it."""

    gradient: float | None
    update: float | None


@dataclass(frozen=True, slots=True)
class LayerSignal(Record):
    """Statistics of one layer call: its name, class, weights and sizes, its outputs and its gradients.

    ``size`` is the number of outputs for an example, ``units`` counts only outputs that are not positions of one
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
        """Returns whether the layer has weights."""
        return self.weights != "none"

    @property
    def zero(self) -> bool:
        """Returns whether all weights of the layer are zero."""
        return self.weights == "zero"

    @property
    def finite(self) -> bool:
        """Returns whether all outputs of the layer are finite."""
        return self.forward.activation is not None

    @property
    def activation(self) -> float | None:
        """Returns the mean square of the layer's outputs."""
        return self.forward.activation

    @property
    def correlation(self) -> float | None:
        """Returns the mean correlation between the outputs of different examples."""
        return self.forward.correlation

    @property
    def dead(self) -> float | None:
        """Returns the fraction of units whose output is the same for all examples."""
        return self.forward.dead

    @property
    def gradient(self) -> float | None:
        """Returns the mean square of the gradient with respect to the outputs, for each example."""
        return self.backward.gradient

    @property
    def update(self) -> float | None:
        """Returns the squared gradient of the weights divided by the squared weights."""
        return self.backward.update
