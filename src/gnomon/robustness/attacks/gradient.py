"""FGSM and projected gradient ascent (PGD), the standard baseline attacks.

    FGSM   z = x + eps s(g),                      g = dl / dx,  s the steepest direction of norm 1          (1)
    PGD    z <- P(z + step s(g(z))),              P the projection onto the threat, not a rescaling         (2)

In the largest-entry norm s is the sign and P clips every entry; in the Euclidean norm s = g / |g| and P shortens only
vectors that are too long.
Reference: [goodfellow2015explaining] for (1), [madry2018towards] for (2).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, cross_entropy, dlr_loss
from gnomon.robustness.attacks.threat import ThreatModel

__all__ = ["FGSM", "PGD"]


@dataclass(frozen=True, slots=True)
class FGSM(Record, AbstractAttack):
    """Fast gradient sign method (FGSM): an attack by one step of length eps along the gradient of the loss.

    See equation (1) of the module docstring.

    >>> from gnomon.robustness.attacks import attack
    >>> net = torch.nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> data = torch.tensor([[0.5, 0.5]]), torch.tensor([0])
    >>> attack(net, data, eps=0.2, norm="inf", bounds=(-1, 1), method=FGSM()).examples.tolist()
    [[0.30..., 0.5]]
    """

    name = "FGSM"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        _, gradient, _ = classifier.slope(x, y, cross_entropy)
        return threat.project(x, x + threat.eps * threat.steepest(gradient))  # (1)


@dataclass(frozen=True, slots=True)
class PGD(Record, AbstractAttack):
    """Projected gradient descent (PGD) attack: ascent on the loss with a fixed step size, also from random starts.

    See equation (2) of the module docstring.
    ``step`` is in units of eps; examples that are fooled are left alone.

    >>> from gnomon.robustness.attacks import attack
    >>> net = torch.nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> data = torch.tensor([[0.5, 0.5]]), torch.tensor([0])
    >>> found = attack(net, data, eps=0.2, norm="inf", bounds=(-1, 1), method=PGD(steps=20))
    >>> torch.allclose(found.examples, torch.tensor([[0.3, 0.5]]))      # the corner of the threat: scores are linear
    True
    """

    steps: int = 40
    step: float = 0.1
    restarts: int = 1
    name = "PGD"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        best, left = x.clone(), torch.arange(len(x))
        for restart in range(self.restarts):
            z = x[left] if restart == 0 else threat.random(x[left], generator)
            score = cross_entropy if restart % 2 == 0 else dlr_loss
            with classifier.until_time_is_up():
                for _ in range(self.steps):
                    _, gradient, right = classifier.slope(z, y[left], score)
                    moved = threat.project(x[left], z + self.step * threat.eps * threat.steepest(gradient))  # (2)
                    z = torch.where(right.reshape(-1, *[1] * (x.dim() - 1)), moved, z)
            best[left] = z
            left = left[classifier.right(z, y[left])]
            if not len(left) or classifier.time_is_up:
                break
        return best
