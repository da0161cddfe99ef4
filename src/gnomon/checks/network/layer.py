"""Records with statistics of one layer: its outputs and its gradients.

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
    """Statistics of a layer's outputs: mean square, correlation between examples, and fraction of dead units.

    ``activation`` is None if an output is not finite, the others if they cannot be measured.
    """

    activation: float | None
    correlation: float | None
    dead: float | None


@dataclass(frozen=True, slots=True)
class BackwardStatistics(Record):
    """Statistics of one layer's gradients: size with respect to outputs and relative to weights; None if no gradient
    reached it.
    """

    gradient: float | None
    update: float | None


@dataclass(frozen=True, slots=True)
class LayerSignal(Record):
    """Statistics of one layer call: name, class, weights, sizes, outputs and gradients.

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
        """Checks whether the layer has weights."""
        return self.weights != "none"

    @property
    def zero(self) -> bool:
        """Checks whether all weights of the layer are zero."""
        return self.weights == "zero"

    @property
    def finite(self) -> bool:
        """Checks whether all outputs of the layer are finite."""
        return self.forward.activation is not None

    @property
    def activation(self) -> float | None:
        """Returns the mean square of the layer's outputs."""
        return self.forward.activation

    @property
    def correlation(self) -> float | None:
        """Returns the mean correlation between the layer's outputs for different examples."""
        return self.forward.correlation

    @property
    def dead(self) -> float | None:
        """Returns the fraction of the layer's units whose output is the same for all examples."""
        return self.forward.dead

    @property
    def gradient(self) -> float | None:
        """Returns the mean square of the loss gradient with respect to the layer's outputs, for each example."""
        return self.backward.gradient

    @property
    def update(self) -> float | None:
        """Returns the squared norm of the gradient of the layer's weights divided by the squared norm of the
        weights.
        """
        return self.backward.update
