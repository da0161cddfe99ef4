"""What both rooms say of input that cannot be used: the call, what was found, the cure, in one short lesson."""

import re

import pytest
import torch
from torch import nn

from gnomon import landscape, robustness
from gnomon.core import GnomonError
from gnomon.robustness.attacks import FGSM
from gnomon.training import Adversary, train

X, Y = torch.rand(12, 4), torch.randint(0, 3, (12,))


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)).eval()


class Bare(nn.Module):
    def forward(self, x):
        return x[:, :3]


CURVATURES = {
    "hessian": lambda m, x, y: landscape.hessian(m, (x, y)).top(1),
    "gauss_newton": lambda m, x, y: landscape.gauss_newton(m, (x, y)).top(1),
    "fisher": lambda m, x, y: landscape.fisher(m, (x, y)).top(1),
    "empirical_fisher": lambda m, x, y: landscape.empirical_fisher(m, (x, y)).top(1),
    "sharpness": lambda m, x, y: landscape.sharpness(m, (x, y)),
    "sharpness_variants": lambda m, x, y: landscape.sharpness_variants(m, (x, y), products=12),
    "largest_loss_rise": lambda m, x, y: landscape.largest_loss_rise(m, (x, y)),
    "local_entropy": lambda m, x, y: landscape.local_entropy(m, (x, y), scope=10.0, draws=3),
    "flatness_radius": lambda m, x, y: landscape.flatness_radius(m, (x, y), draws=2),
    "loss_along": lambda m, x, y: landscape.loss_along(m, (x, y), points=3),
    "loss_plane": lambda m, x, y: landscape.loss_plane(m, (x, y), points=3),
    "try_gradient_steps": lambda m, x, y: landscape.try_gradient_steps(m, (x, y)),
    "lr_range": lambda m, x, y: landscape.lr_range(m, (x, y), steps=5),
    "gradient_noise": lambda m, x, y: landscape.gradient_noise(m, (x, y)),
}
ATTACKS = {
    "attack": lambda m, x, y: robustness.attack(m, (x, y), eps=0.1, method=FGSM()),
    "minimal_distance": lambda m, x, y: robustness.minimal_distance(m, (x, y)),
    "robust_accuracy": lambda m, x, y: robustness.robust_accuracy(m, (x, y), eps=0.1, attacks=(FGSM(),)),
    "robust_radius": lambda m, x, y: robustness.robust_radius(m, (x, y)),
    "universal_perturbation": lambda m, x, y: robustness.universal_perturbation(m, (x, y), eps=0.1, iterations=2),
    "smoothed_radius": lambda m, x, y: robustness.smoothed_radius(m, (x, y), draws=5),
}


def lesson_of(function, *args):
    """The message, which must be short and name the call."""
    with pytest.raises(GnomonError) as caught:
        function(*args)
    message = str(caught.value)
    assert len(message) < 420 and message.endswith("."), message
    assert "\n" not in message and not re.search(r"element 0 of tensors|does not require grad and", message), message
    return message


@pytest.mark.parametrize("name", CURVATURES)
def test_parameters_and_losses_that_cannot_be_used(name):
    call = CURVATURES[name]
    bare = lesson_of(call, Bare(), X, Y)
    assert bare.startswith(name.split("(")[0]) and re.search("parameter", bare), bare
    frozen = lesson_of(call, net().requires_grad_(requires_grad=False), X, Y)
    assert frozen.startswith(name) and re.search("require", frozen), frozen
    broken = net()
    nn.init.constant_(broken[0].weight, float("nan"))
    assert re.search("finite|bounds|NaN|diverged", lesson_of(call, broken, X, Y))
    assert "labels from" in lesson_of(call, net(), X, Y + 3)


@pytest.mark.parametrize("name", ATTACKS)
def test_examples_that_cannot_be_attacked(name):
    call = ATTACKS[name]
    out = lesson_of(call, net(), X, Y + 3)
    assert out.startswith(name) and "labels from" in out, out
    tokens = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(16, 3)).eval()
    whole = lesson_of(call, tokens, torch.randint(0, 9, (12, 4)), Y)
    assert "embeddings" in whole and whole.startswith(name), whole
    broken = net()
    nn.init.constant_(broken[0].weight, float("nan"))
    assert "finite" in lesson_of(call, broken, X, Y)
    if name != "smoothed_radius":  # which has no bounds
        outside = lesson_of(call, net(), 3 * X - 1, Y)
        assert "bounds (0, 1)" in outside or "bounds are (0, 1)" in outside, outside


def test_an_adversary_says_what_it_cannot_move():
    assert "outside the bounds" in lesson_of(lambda: train(net(), (3 * X - 1, Y), steps=1, adversary=Adversary(0.1)))
    assert "eps must be" in lesson_of(lambda: Adversary(0.0))
    assert "norm must be" in lesson_of(lambda: Adversary(0.1, norm="1"))
    assert "bounds must be" in lesson_of(lambda: Adversary(0.1, bounds=(1.0, 0.0)))
    tokens = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(16, 3))
    data = torch.randint(0, 9, (12, 4)), Y
    assert "floating-point tensor" in lesson_of(lambda: train(tokens, data, steps=1, adversary=Adversary(0.1)))
