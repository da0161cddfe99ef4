"""Attacks step by step against slow computations of their equations, for one example at a time."""

import math

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.geometry.attacks.apgd import ascend
from gnomon.geometry.attacks.base import Victim, dlr, margin, targeted_dlr
from gnomon.geometry.attacks.threat import Threat


class NeverFooled(nn.Module):
    """Scores (g(x), 100) with a smooth bounded g: an example of class 1 is never misclassified."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(5, 3).double())

    def forward(self, x):
        g = torch.sin(3 * x @ self.w.T).sum(1, keepdim=True)
        return torch.cat([g, torch.full_like(g, 100.0)], 1)


def apgd_of_one_example(g, x, start, eps, norm, steps):
    """Algorithm 1 of the paper for one example without bounds of inputs; the point with the largest loss."""

    def clip(z):
        move = z - x
        if norm == "inf":
            return x + move.clamp(-eps, eps)
        return x + move * min(1.0, eps / float(move.norm()))

    def evaluate(z):
        leaf = z.clone().requires_grad_()
        value = g(leaf)
        (slope,) = torch.autograd.grad(value, leaf)
        return float(value.detach()), slope.sign() if norm == "inf" else slope / slope.norm()

    share, marks = [0.0, 0.22], []
    while share[-1] < 1:
        marks.append(math.ceil(round(share[-1] * steps, 9)))
        share.append(share[-1] + max(share[-1] - share[-2] - 0.03, 0.06))
    step, z = 2 * eps, start
    value, direction = evaluate(start)
    best = (value, start, direction)
    before, rises, last_mark, mark_best, halved = start, 0, 0, value, False
    for k in range(1, steps + 1):
        u = clip(z + step * direction)
        ahead = u if k == 1 else clip(z + 0.75 * (u - z) + 0.25 * (z - before))
        before, z = z, ahead
        old, (value, direction) = value, evaluate(z)
        rises += value > old
        if value > best[0]:
            best = (value, z, direction)
        if k in marks:
            halve = rises < 0.75 * (k - last_mark) or (not halved and best[0] <= mark_best)
            if halve:
                step, (value, z, direction) = step / 2, best
                before = z
            halved, mark_best, rises, last_mark = halve, best[0], 0, k
    return best[1]


@pytest.mark.parametrize("norm", ["inf", "2"])
@pytest.mark.parametrize("steps", [3, 25])
def test_apgd_takes_the_steps_of_its_algorithm(norm, steps):
    net = NeverFooled()
    x = torch.randn(6, 3).double()
    threat = Threat(0.5, norm, -99.0, 99.0)
    start = threat.random(x, torch.Generator().manual_seed(1))
    with Victim(net, "attack(model, data)").attacked() as victim:
        found = ascend(victim, x, torch.ones(6, dtype=torch.long), start, threat, lambda f, y: f[:, 0], steps)
    for i in range(6):
        wanted = apgd_of_one_example(lambda z: net(z[None])[0, 0], x[i], start[i], 0.5, norm, steps)
        assert_allclose(found[i], wanted, rtol=1e-9, atol=1e-12)


def test_losses_of_attacks_are_those_of_their_equations():
    f = torch.tensor([[4.0, 9.0, 1.5, 3.0, -2.0], [7.0, 1.0, 2.5, 6.0, 5.0]]).double()
    y, target = torch.tensor([0, 3]), torch.tensor([3, 4])
    for i, row in enumerate(f.tolist()):
        own, other, s = row[y[i]], row[target[i]], sorted(row, reverse=True)
        rival = max(v for j, v in enumerate(row) if j != y[i])
        assert_allclose(margin(f, y)[i], own - rival, rtol=1e-12)
        assert_allclose(dlr(f, y)[i], -(own - rival) / (s[0] - s[2]), rtol=1e-9)
        assert_allclose(targeted_dlr(target)(f, y)[i], -(own - other) / (s[0] - (s[2] + s[3]) / 2), rtol=1e-9)
    two = f[:, :2]
    assert_allclose(dlr(two, torch.tensor([0, 0])), [5.0 / 5.0, -6.0 / 6.0], rtol=1e-9)
    assert_allclose(targeted_dlr(torch.tensor([1, 1]))(f[:, :3], torch.tensor([0, 0])), [5.0, -6.0], rtol=1e-12)
