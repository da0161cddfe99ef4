"""A dear attack on the examples that came closest to breaking, until a whole group of them withstands.

Attacks that ran before leave each example with the point of its least margin. Examples are sorted by how much farther
they would have to move, and attacked in groups; the first group in which nothing breaks ends the search. With m
examples in that group the share of its kind that this attack could still break is below

    1 - 0.05^(1 / m) at 95 % confidence                                                                     (1)

and those that come after it were farther from breaking.
Reference: [croce2020reliable] for running the cheap attacks first.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, Victim
from gnomon.robustness.attacks.threat import Threat

__all__ = ["Closest", "Sampled"]


@dataclass(frozen=True, slots=True)
class Closest(Record, AbstractAttack):
    """Another attack for `robust_accuracy`, there run on ``group`` examples at a time, the closest to breaking first.

    Where gradients tell nothing it runs on all examples that are left. Alone, in `attack`, it runs on all examples.

    >>> from gnomon.robustness.attacks import SquareAttack
    >>> Closest(SquareAttack(100), group=40).name
    'SquareAttack'
    """

    method: AbstractAttack
    group: int = 50

    @property
    def name(self) -> str:
        """That of the other attack."""
        return self.method.name

    def run(self, victim: Victim, x: Tensor, y: Tensor, threat: Threat, generator: torch.Generator) -> Tensor:  # noqa: D102
        return self.method.run(victim, x, y, threat, generator)


@dataclass(frozen=True, slots=True)
class Sampled(Record, AbstractAttack):
    """An attack for `robust_accuracy`, there tried on ``group`` random examples: if it breaks one, the ``rest`` follow.

    Whether an attack without gradients finds more than those with gradients is a property of the model, which a sample
    tells; the rest, on all examples that are left, is dear. Where gradients tell nothing the rest follows in any case.

    >>> from gnomon.robustness.attacks import SquareAttack
    >>> Sampled(SquareAttack(100), (SquareAttack(5000),)).name
    'SquareAttack'
    """

    method: AbstractAttack
    rest: tuple[AbstractAttack, ...]
    group: int = 50

    @property
    def name(self) -> str:
        """That of the attack that is tried."""
        return self.method.name

    def run(self, victim: Victim, x: Tensor, y: Tensor, threat: Threat, generator: torch.Generator) -> Tensor:  # noqa: D102
        return self.method.run(victim, x, y, threat, generator)
