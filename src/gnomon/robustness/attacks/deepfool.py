"""DeepFool attack: steps to the nearest linearized decision boundary until the predicted class changes.

With gaps h_j = f_j - f_y < 0 and their gradients g_j at the present point z,

    j = argmin |h_j| / |g_j|_*,     z <- z + (1 + overshoot) |h_j| / |g_j|_* s(g_j)                           (1)

with | . |_* the dual norm and s the steepest direction. For scores that are affine in the input one step of (1) without
overshoot is the nearest point of the other class.
Reference: [moosavi2016deepfool].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, input_gradient
from gnomon.robustness.attacks.threat import ThreatModel, broadcast_per_example

__all__ = ["DeepFool"]


@dataclass(frozen=True, slots=True)
class DeepFool(Record, AbstractAttack):
    """DeepFool attack: steps to the nearest linearized boundary with the ``classes`` best other classes; ignores eps.

    See equation (1) of the module docstring.

    >>> from gnomon.robustness.attacks import minimal_distance
    >>> net = torch.nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> data = torch.tensor([[0.5, 0.5]]), torch.tensor([0])
    >>> round(float(minimal_distance(net, data, norm="2", bounds=(-9, 9), method=DeepFool()).above[0]), 3)
    0.5
    """

    steps: int = 50
    classes: int = 10
    overshoot: float = 0.02
    name = "DeepFool"

    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        z, left = x.clone(), torch.arange(len(x))
        for _ in range(self.steps):
            gaps, gradients = _linearize(classifier, z[left], y[left], self.classes)
            right = (gaps <= 0).all(1)
            left, gaps, gradients = left[right], gaps[right], gradients[right]
            if not len(left):
                break
            gradients = threat.free(z[left][:, None], gradients)
            sizes = torch.stack([threat.dual(g) for g in gradients.unbind(1)], 1).clamp_min(1e-30)
            distance, j = (gaps.abs() / sizes).min(1)  # (1)
            direction = threat.steepest(gradients[torch.arange(len(left)), j])
            moved = z[left] + broadcast_per_example((1 + self.overshoot) * distance + 1e-6, z) * direction
            z[left] = moved.clamp(threat.low, threat.high)
        return z


def _linearize(classifier: AttackedModel, z: Tensor, y: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Returns the score gaps to the best other classes and the gradients of the gaps with respect to the inputs."""
    with torch.enable_grad():
        leaf = z.detach().requires_grad_()
        f = classifier.scores(leaf)
        others = f.detach().scatter(1, y[:, None], float("-inf")).topk(min(classes, f.shape[1] - 1), 1).indices
        gaps = f.gather(1, others) - f.gather(1, y[:, None])
        gradients = [input_gradient(gap.sum(), leaf) for gap in gaps.unbind(1)]
    return gaps.detach(), torch.stack(gradients, 1)
