"""Many ReLU neurons that start in all directions reach a smaller loss on a teacher of three neurons than three do.

For a two-layer ReLU network divided by its width m, trained at rate m, the flow of the distribution of neurons can stop
only at a global minimum if the initial neurons cover all directions. With few neurons, descent is often stuck:

    loss(m large) < loss(m = 3)       on a teacher of 3 ReLU neurons                                         (1)
Reference: [chizat2018global], Theorem 3.3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the two networks, the one with the smaller loss first."""
    return ("wide", "narrow")


def log_final_loss(m, nets, steps, spread, n=25):
    """Returns the log of each network's final loss; neurons start within ``spread`` pi of one direction."""
    g = torch.Generator().manual_seed(torch.initial_seed())
    teacher = torch.randn(nets, 3, 2, generator=g)
    teacher = teacher / teacher.norm(dim=2, keepdim=True)
    x = torch.randn(n, 2, generator=g)
    y = torch.relu(x @ teacher.mT) @ torch.tensor([[1.0], [-1.0], [1.0]])
    angle = spread * (torch.rand(nets, m, generator=g) * 2 - 1) * torch.pi
    w = torch.stack((angle.cos(), angle.sin()), 2)
    v = torch.randn(nets, m, 1, generator=g).sign()
    for _ in range(steps):
        u = x @ w.mT
        h = torch.relu(u)
        r = 0.2 * (y - h @ v / m) / n
        w, v = w + (r * (u > 0) * v.mT).mT @ x, v + h.mT @ r
    return (y - torch.relu(x @ w.mT) @ v / m).square().mean((1, 2)).log()


def losses_of_both(spread, width, nets, steps):
    """Returns log final losses of wide and of three-neuron networks; wide ones start within ``spread`` pi."""
    return {"wide": log_final_loss(width, nets, steps, spread), "narrow": log_final_loss(3, nets, steps, 1.0)}


observed = partial(losses_of_both, spread=1.0)  # The neurons start in all directions.
control = partial(losses_of_both, spread=0.0)  # Control: all neurons start in one direction and act like only two.

CLAIM = Claim(
    id="mean-field-global-convergence",
    question="Why do wide networks find solutions that narrow ones miss?",
    equation=r"L(m \gg 3) < L(m = 3)",
    axes=("network", "logarithm of the final loss"),
    source=Source("theorem", "chizat2018global", "Theorem 3.3"),
    premises=(Premise("the initial neurons cover all directions"), Premise("there are many neurons")),
    parameters={"width": 60, "nets": 20, "steps": 250},
    full={"width": 100, "nets": 80, "steps": 1500},
    judge=in_order(confidence=0.999),
    remark="The theorem is about infinitely many neurons and infinite time, and does not cover deeper networks.",
)
