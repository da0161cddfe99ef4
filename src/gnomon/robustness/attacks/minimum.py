"""Minimum-norm attack: searches for the nearest misclassified point by ascent in a ball of varying radius.

    not fooled yet   radius <- 1.02 (|d| + margin / |g|_*)     (slightly beyond the linearized distance)  (1)
    fooled           radius <- min(radius (1 - c), |best|)                                                     (2)
    lost again       radius <- radius (1 + c)                                                                  (3)
    d <- P_radius(d + a s(g)),    c and a fall along a cosine                                                  (4)

At the end, bisection moves each point that was found towards its input.
Reference: [pintor2021fast].
"""

from dataclasses import dataclass
from math import cos, pi

import torch
from torch import Tensor

from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, margin_loss
from gnomon.robustness.attacks.deepfool import DeepFool
from gnomon.robustness.attacks.threat import ThreatModel, broadcast_per_example

__all__ = ["MinimumNormAttack", "bisect_to_boundary"]


@dataclass(frozen=True, slots=True)
class MinimumNormAttack(Record, AbstractAttack):
    """Attack that searches for the nearest misclassified point, starting from DeepFool's result and from random points.

    >>> from gnomon.robustness.attacks import minimal_distance
    >>> net = torch.nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> data = torch.tensor([[0.5, 0.5]]), torch.tensor([0])
    >>> round(float(minimal_distance(net, data, norm="inf", bounds=(-9, 9), method=MinimumNormAttack()).above[0]), 3)
    0.5
    """

    steps: int = 100
    restarts: int = 1
    name = "minimum norm"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        best, size = x.clone(), torch.full((len(x),), float("inf")).to(x)
        for restart in range(self.restarts):
            start = DeepFool().run(classifier, x, y, threat, generator) if restart == 0 else threat.random(x, generator)
            z, found = self._search(classifier, x, y, start, threat)
            best = torch.where(broadcast_per_example(found < size, x), z, best)
            size = torch.minimum(size, found)
        return bisect_to_boundary(classifier, x, y, best)

    def _search(
        self, classifier: AttackedModel, x: Tensor, y: Tensor, start: Tensor, threat: ThreatModel
    ) -> tuple[Tensor, Tensor]:
        best, size = start.clone(), torch.full((len(x),), float("inf")).to(x)
        z, radius = start, threat.size(start - x)
        for k in with_progress_bar(range(self.steps), "steps of the attack"):
            fall = (1 + cos(pi * k / self.steps)) / 2
            c, a = 0.05 * max(fall, 0.02), max(fall, 0.02)
            value, gradient, _ = classifier.slope(z, y, lambda f, y: -margin_loss(f, y))
            gradient = threat.free(z, gradient)
            fooled, distance = value > 0, threat.size(z - x)
            better = fooled & (distance < size)
            best, size = torch.where(broadcast_per_example(better, z), z, best), torch.where(better, distance, size)
            asked = 1.02 * (distance - value / threat.dual(gradient).clamp_min(1e-30)) + 1e-6  # (1)
            shrunk = torch.minimum(radius * (1 - c), size)  # (2)
            grown = torch.where(size.isfinite(), radius * (1 + c), asked)  # (3)
            radius = torch.where(fooled, shrunk, grown)
            step = torch.where(size.isfinite(), a * size, asked.clamp_max(threat.eps)).clamp_min(1e-6)
            z = threat.project(x, z + broadcast_per_example(step, z) * threat.steepest(gradient), radius)  # (4)
        return best, size


def bisect_to_boundary(classifier: AttackedModel, x: Tensor, y: Tensor, z: Tensor, *, steps: int = 12) -> Tensor:
    """Moves each misclassified point by bisection as close to the original input as it can be and stay misclassified.

    Cost: steps + 1 forward passes.

    >>> net = torch.nn.Linear(1, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
    >>> classifier = AttackedModel(net)
    >>> point = bisect_to_boundary(classifier, torch.tensor([[0.5]]), torch.tensor([0]), torch.tensor([[-1.5]]))
    >>> -0.01 < float(point) < 0
    True
    """
    fooled = ~classifier.right(z, y)
    low, high = torch.zeros(len(x)).to(x), torch.ones(len(x)).to(x)
    for _ in range(steps):
        middle = (low + high) / 2
        wrong = ~classifier.right(x + broadcast_per_example(middle, x) * (z - x), y)
        high, low = torch.where(wrong, middle, high), torch.where(wrong, low, middle)
    return torch.where(broadcast_per_example(fooled, x), x + broadcast_per_example(high, x) * (z - x), z)
