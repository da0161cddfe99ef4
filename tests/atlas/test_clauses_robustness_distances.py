"""Clauses of the scope on distances of attacks and on ascent; the ledger names these tests."""

from itertools import combinations

import pytest
import torch
from torch import nn

from gnomon.atlas.claims.robustness import adversarial_training_as_data_prior as prior
from gnomon.atlas.claims.robustness import deepfool
from gnomon.data import digits
from gnomon.robustness import lipschitz_bounds, minimal_distance, universal_perturbation
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.gradient import PGD
from gnomon.robustness.attacks.minimum import MinimumNormAttack
from gnomon.robustness.attacks.threat import ThreatModel


def test_the_largest_weights_decide_how_few_entries_must_change():
    """adversarial-example-definition: min |e|_0 with |e_i| <= 1 takes the largest |w_i| first, as all subsets say."""
    draw = torch.Generator().manual_seed(0)
    found = set()
    for _ in range(20):
        w, x = torch.randn(2, 7, generator=draw).double()
        margin = float(w @ x)
        gains = w.abs().sort(descending=True).values.cumsum(0)
        greedy = int((gains < abs(margin)).sum()) + 1 if float(gains[-1]) > abs(margin) else None
        sizes = [
            k for k in range(1, 8) for s in combinations(range(7), k) if float(w[list(s)].abs().sum()) > abs(margin)
        ]
        assert greedy == min(sizes, default=None)
        found.add(greedy)
    assert len(found) >= 3


def test_no_move_of_the_certified_length_changes_a_decision():
    """lipschitz-product-bound: |e|_2 < margin / (sqrt(2) L) keeps the decision; the bound on |f| alone is too long."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3)).double()
    x = torch.randn(40, 6).double()
    y = net(x).argmax(1)
    best = net(x).topk(2, dim=1).values.detach()
    radius = (best[:, 0] - best[:, 1]) / (2**0.5 * float(lipschitz_bounds(net, x).upper))
    nearest = minimal_distance(net, (x, y), norm="2", bounds=(-9, 9), method=MinimumNormAttack(30)).above.double()
    assert bool((nearest >= radius).all())
    linear = nn.Linear(2, 2, bias=False).double()
    with torch.no_grad():
        linear.weight.copy_(torch.eye(2))  # L = 1, and sqrt(2) is sharp: the border of the classes is at 45 degrees
    point = torch.tensor([[2.0, 1.0]]).double()
    exact = minimal_distance(linear, (point, torch.tensor([0])), norm="2", bounds=(-9, 9), method=MinimumNormAttack(30))
    assert float(exact.above[0]) == pytest.approx(1 / 2**0.5, rel=1e-3)


def test_the_least_move_meets_the_border_and_no_random_one_is_shorter():
    """affine-binary-attack: f_1(x + e) = f_2(x + e) to 1e-8 for e = (f_1 - f_2) / |w_2 - w_1|^2 (w_2 - w_1)."""
    draw = torch.Generator().manual_seed(0)
    w, b, x = (torch.randn(*shape, generator=draw).double() for shape in ((2, 5), (2,), (5,)))
    gap, d = (w @ x + b)[0] - (w @ x + b)[1], w[1] - w[0]
    e = gap / (d @ d) * d
    after = w @ (x + e) + b
    assert float((after[0] - after[1]).abs()) <= 1e-8
    rays = torch.randn(5000, 5, generator=draw).double()
    rays = 0.999 * e.norm() * rays / rays.norm(dim=1, keepdim=True)
    scores = (x + torch.cat([rays, 0.999 * e[None], 1.001 * e[None]])) @ w.T + b
    same = (scores[:, 0] > scores[:, 1]) == (gap > 0)
    assert bool(same[:-1].all()) and not bool(same[-1])


def test_deepfool_is_within_ten_percent_of_the_smallest_ball_in_which_ascent_succeeds():
    """deepfool: the mean distance on digits is at most 1.1 times the least eps at which projected ascent succeeds."""
    net, x, y = deepfool.problem(30, 0)
    least = torch.full((len(x),), 4.0).double()
    with AttackedModel(net).attack_mode() as victim:
        for eps in torch.linspace(3.0, 0.05, 40).tolist():
            moved = PGD(10, 0.3).run(victim, x, y, ThreatModel(eps, "2", -9.0, 9.0), torch.Generator())
            least[net(moved).argmax(1) != y] = eps
    found = deepfool.observed(width=30, seed=0)
    assert float(found["DeepFool"].mean()) <= 1.1 * float(least.mean()) < float(found["one step"].mean()) * 1.1


def test_ascent_in_the_euclidean_ball_stays_inside_and_does_not_lower_the_loss():
    """pgd-l2: |e_t| <= eps at all t, loss_t+1 >= loss_t for small steps; P(z) = z min(1, eps / |z|) keeps short moves."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).double()
    x, threat, losses, lengths = torch.randn(1, 4).double(), ThreatModel(0.5, "2", -9.0, 9.0), [], []
    y = net(x).argmax(1)
    with AttackedModel(net).attack_mode() as victim:
        for steps in range(1, 15):
            z = PGD(steps, 0.1).run(victim, x, y, threat, torch.Generator())
            lengths.append(float((z - x).norm()))
            losses.append(float(nn.functional.cross_entropy(net(z), y).detach()))
    assert max(lengths) <= 0.5 + 1e-12 and lengths[0] < 0.1
    assert all(b >= a - 1e-12 for a, b in zip(losses, losses[1:], strict=False)) and losses[-1] > losses[0]


def test_a_universal_move_changes_its_share_of_decisions_within_its_ball():
    """universal-perturbation: kappa = P(f(x + v) != f(x)) of the result is that of v, and |v|_p <= eps."""
    net, x, y = deepfool.problem(30, 0)
    for norm, size in (("inf", 0.3), ("2", 2.0)):
        found = universal_perturbation(net, (x, y), eps=size, norm=norm, bounds=(-9, 9))
        v = found.perturbation.to(x)
        assert float(v.flatten().norm(p=float(norm))) <= size * (1 + 1e-6)
        changed = (net(x + v).argmax(1) != net(x).argmax(1)).double().mean()
        assert 0.1 < found.rate == pytest.approx(float(changed), abs=1e-6)


@pytest.mark.full
def test_training_against_attacks_smooths_gradients_by_a_fifth_and_widens_margins():
    """adversarial-training-as-data-prior: total variation of the input gradient falls by 20 %, l_inf margins grow."""
    found = prior.variations_of_both(0.3, 32, 8, 0)
    assert float(found["against attacks"].mean()) <= 0.8 * float(found["plain"].mean())
    split, margins = digits(300, 100, seed=0), []
    for eps in (0.15, 0.0):
        torch.manual_seed(0)
        (first,), (shift,), (last,), (bias,) = prior.train(eps, 32, split.x[None], split.y[None])
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
        for layer, w, b in ((net[1], first, shift), (net[3], last, bias)):
            layer.weight.data, layer.bias.data = w.detach().T.contiguous(), b.detach()[0]
        found = minimal_distance(
            net, (split.x_test, split.y_test), norm="inf", bounds=(-9, 9), method=MinimumNormAttack(30)
        )
        margins.append(found.above.quantile(torch.tensor([0.5, 0.75, 0.9]).to(found.above)))
    assert bool((margins[0] > 1.1 * margins[1]).all())
