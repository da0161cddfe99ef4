"""Orders in which `robust_accuracy` attacks examples, so that expensive attacks run on as few examples as possible.

Earlier attacks leave each example at the point of its smallest margin. Examples are sorted by how much farther they
would have to move, and attacked in groups. The search ends at the first group in which no attack succeeds. With m
examples in that group the share of its kind that this attack could still break is below

    1 - 0.05^(1 / m) at 95 % confidence                                                                     (1)

and all later examples were less vulnerable.
Reference: [croce2020reliable] for running the cheap attacks first.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel
from gnomon.robustness.attacks.threat import ThreatModel

__all__ = ["MostVulnerableFirst", "SampleFirst"]


@dataclass(frozen=True, slots=True)
class MostVulnerableFirst(Record, AbstractAttack):
    """Runs a given attack on the most vulnerable examples first, ``group`` at a time; stops when a whole group resists.

    If gradients are masked, it runs on all remaining examples. In `attack` it runs on all examples.

    >>> from gnomon.robustness.attacks import SquareAttack
    >>> MostVulnerableFirst(SquareAttack(100), group=40).name
    'SquareAttack'
    """

    method: AbstractAttack
    group: int = 50

    @property
    def name(self) -> str:
        """Returns the name of the attack that is run."""
        return self.method.name

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        return self.method.run(classifier, x, y, threat, generator)


@dataclass(frozen=True, slots=True)
class SampleFirst(Record, AbstractAttack):
    """Tries an attack on ``group`` random examples first; if it succeeds on one, runs the attacks ``rest`` on the
    others.

    Whether an attack without gradients finds more is a property of the model, which a sample shows. Running ``rest`` on
    all remaining examples is expensive. If gradients are masked, ``rest`` always runs.

    >>> from gnomon.robustness.attacks import SquareAttack
    >>> SampleFirst(SquareAttack(100), (SquareAttack(5000),)).name
    'SquareAttack'
    """

    method: AbstractAttack
    rest: tuple[AbstractAttack, ...]
    group: int = 50

    @property
    def name(self) -> str:
        """Returns the name of the attack that is tried first."""
        return self.method.name

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        return self.method.run(classifier, x, y, threat, generator)
