"""Attack by gradient ascent in balls around each input that shrink to radius eps.

    z_0 uniform within the bounds,    r_k = eps w^(1 - k / K),    k = 1, ..., K                                     (1)
    z_k = ascent of minus the margin within r_k of x, from the projection of z_{k-1}                               (2)

A network that hardly reacts to small changes has no useful gradient near an example, so ascent within eps fails.
Farther away gradients are useful: the search finds a wrong decision there first, and then follows it inwards.
Reference: [croce2021mind], which begins with larger balls for the L1 norm; [croce2020reliable].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.robustness.attacks.apgd import ascend
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, margin_loss
from gnomon.robustness.attacks.threat import ThreatModel

__all__ = ["ShrinkingSteps"]

BALL_COUNT = 6
"""K in equation (1); one ball if w is 1."""


@dataclass(frozen=True, slots=True)
class ShrinkingSteps(Record, AbstractAttack):
    """Attack by gradient ascent in shrinking balls, with ``steps`` steps in total from at most ``restarts`` starts.

    See equation (2) of the module docstring.
    A width that breaks no example ``patience`` times in a row is dropped. The search ends when no width is left.

    >>> from gnomon.robustness.attacks import attack
    >>> net = torch.nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> data = torch.tensor([[0.19, 0.5], [0.21, 0.5]]), torch.tensor([0, 0])
    >>> attack(net, data, eps=0.2, norm="2", bounds=(-1, 1), method=ShrinkingSteps()).fooled.tolist()
    [True, False]
    """

    steps: int = 60
    restarts: int = 18
    widths: tuple[float, ...] = (5.0, 2.0, 1.0)
    patience: int = 2
    name = "shrinking balls"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        best, left, failures = x.clone(), torch.arange(len(x)), dict.fromkeys(self.widths, 0)
        for k in range(self.restarts):
            useful = [w for w, failed in failures.items() if failed < self.patience]
            if not useful or not len(left) or classifier.time_is_up:
                break
            width = useful[k % len(useful)]
            best[left] = self._inwards(classifier, x[left], y[left], threat, width, generator)
            right = classifier.right(best[left], y[left])
            failures[width] = failures[width] + 1 if bool(right.all()) else 0
            left = left[right]
        return best

    def _inwards(self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, width: float,
                 generator: torch.Generator) -> Tensor:  # fmt: skip
        z = threat.low + (threat.high - threat.low) * torch.rand(x.shape, generator=generator).to(x)
        balls = BALL_COUNT if width > 1 else 1
        for k in range(balls):
            ball = threat.at(threat.eps * width ** (1 - (k + 1) / balls))  # (1)
            z = ascend(classifier, x, y, ball.project(x, z), ball, _is_lost, max(1, self.steps // balls))  # (2)
        return z


def _is_lost(f: Tensor, y: Tensor) -> Tensor:
    return -margin_loss(f, y)
