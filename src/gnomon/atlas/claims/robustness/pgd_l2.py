"""On a linear loss, projected gradient ascent in a Euclidean ball ends on its border, in gradient direction.

    e <- P(e + a g)                                                                                           (1)

e is the move, g the gradient, a the step size, P the projection P(z) = z min(1, eps / |z|). Often misprinted as P(z) =
eps z / |z|, which pushes every iterate to the sphere. Both end at the same point here, so the first iterate is checked
too: (1) takes the full step a g while it is shorter than eps. Reference: [madry2018towards].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness.attacks import PGD
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.threat import ThreatModel


class TwoClassScore(torch.nn.Module):
    """Two scores -+ w x, with a nonlinear term of size ``bend`` whose slope is zero at x = 0."""

    def __init__(self, w, bend):
        super().__init__()
        self.w, self.bend = torch.nn.Parameter(w), bend

    def forward(self, x):  # noqa: D102
        s = x @ self.w + self.bend * (torch.sin(3 * x) - 3 * x).sum(1)
        return torch.stack([s, -s], 1)


def problem(d, seed):
    """Returns weights of norm 4, so that the attack cannot change the decision."""
    w = torch.randn(d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return 4 * w / w.norm()


def predicted(d, eps, seed):
    """Returns the move after one step of eps / 4, and the final move."""
    w = problem(d, seed).numpy()
    return -np.r_[eps / 4 * w, eps * w] / np.linalg.norm(w)


def moves_of_attack(bend, d, eps, seed):
    """Returns the moves of the attack from zero, after one step and after twenty."""
    net = TwoClassScore(problem(d, seed), bend)
    with torch.no_grad():
        x = torch.zeros(1, d, dtype=torch.float64)
        label = torch.tensor([0])
    threat, generator = ThreatModel(eps, "2", -1e3, 1e3), torch.Generator()
    moves = []
    for steps in (1, 20):
        # All scores are equal at input zero; raising the first one makes the example correctly classified.
        shifted = torch.nn.Sequential(net, RaisedFirstScore())
        with AttackedModel(shifted).attack_mode() as victim:
            moves.append(PGD(steps, 0.25).run(victim, x, label, threat, generator)[0])
    return torch.cat(moves)


class RaisedFirstScore(torch.nn.Module):
    """A layer that adds 10 to the first of two scores."""

    def forward(self, f):  # noqa: D102
        return f + torch.tensor([100.0, 0.0], dtype=f.dtype) * 0.1


observed = partial(moves_of_attack, bend=0.0)  # A linear score.
control = partial(moves_of_attack, bend=1.0)  # Control: the score is nonlinear, so its gradient changes direction.

CLAIM = Claim(
    id="pgd-l2",
    question="Where does projected gradient ascent in a ball end?",
    equation=r"\eta \leftarrow \Pi(\eta + \alpha g), \quad \Pi(z) = z \min(1, \epsilon / \|z\|)",
    axes=("coordinate (after one step, then at the end)", "move"),
    source=Source("theorem", "madry2018towards"),
    premises=(Premise("the loss is a function of a linear score"),),
    parameters={"d": 20, "eps": 0.5},
    full={"d": 1000, "eps": 0.5},
    judge=equals(rounding=1e5),
    remark="Often misprinted with a projection that rescales: it pushes every iterate to the sphere.",
)
