"""Certificates against an independent computation of the same bounds, against samples, and against every attack."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError, UnsupportedModuleError
from gnomon.core.errors import BudgetError
from gnomon.robustness import minimal_distance, robust_radius
from gnomon.robustness.attacks import APGD, FGSM, PGD, DeepFool, MinimumNormAttack, SquareAttack, TargetedAPGD, attack
from gnomon.robustness.certificates import output_bounds, smoothed_radius
from gnomon.robustness.certificates.proofs import CrownProof, IntervalProof, LipschitzProof
from tests.oracles.crown import lower
from tests.robustness.test_attacks import images

PROOFS = (IntervalProof(), CrownProof(), LipschitzProof())


def network(*sizes):
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_linear_bounds_are_those_of_a_slow_computation(norm):
    torch.manual_seed(0)
    net, x = network(3, 6, 5, 2).double(), torch.rand(4, 3).double()
    found = output_bounds(net, x, 0.2, norm=norm, bounds=(0, 1))
    weights, biases = ([getattr(net[i], k).detach().numpy() for i in (0, 2, 4)] for k in ("weight", "bias"))
    for i in range(4):
        for j in range(2):
            row = np.eye(2)[j]
            low = lower(weights, biases, x[i].numpy(), 0.2, norm, row, 0, 1)
            high = -lower(weights, biases, x[i].numpy(), 0.2, norm, -row, 0, 1)
            assert_allclose([found.low[i, j], found.high[i, j]], [low, high], rtol=1e-9, atol=1e-12)


def kinds():
    torch.manual_seed(0)
    return {
        "dense": nn.Sequential(nn.Flatten(), *network(36, 12, 8, 3)),
        "leaky, normalized": nn.Sequential(nn.Conv2d(1, 3, 3, stride=2), nn.BatchNorm2d(3), nn.LeakyReLU(0.1), nn.Flatten(), nn.Linear(12, 3)),
        "pooled": nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 3, 2), nn.MaxPool2d(2, stride=1), nn.Flatten(), nn.Linear(3, 3)),
        "residual": Residual(),
    }  # fmt: skip


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1), nn.Linear(72, 3)

    def forward(self, x):
        h = torch.relu(self.a(x))
        h = h + torch.relu(self.b(h)) * 0.5 - 0.1
        return self.c(h.flatten(1))


@pytest.mark.parametrize("kind", list(kinds()))
@pytest.mark.parametrize("norm", ["inf", "2"])
def test_no_point_of_the_region_is_outside_the_bounds(kind, norm):
    net = kinds()[kind].double().eval()
    x, eps = torch.rand(3, 1, 6, 6).double(), 0.15 if norm == "inf" else 0.6
    found = output_bounds(net, x, eps, norm=norm)
    move = torch.randn(300, 3, 1, 6, 6).double()
    move = move.sign() if norm == "inf" else move / move.flatten(2).norm(dim=2)[..., None, None, None]
    z = (x + eps * move).clamp(0, 1)
    with torch.no_grad():
        f = net(z.flatten(0, 1)).reshape(300, 3, -1)
    assert bool((f >= found.low - 1e-9).all() and (f <= found.high + 1e-9).all())
    tiny = output_bounds(net, x, 1e-7, norm=norm)
    with torch.no_grad():
        assert_allclose((tiny.low + tiny.high) / 2, net(x), atol=1e-5)


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_no_attack_breaks_what_is_proven(norm):
    torch.manual_seed(0)
    x, y = images()
    net = nn.Sequential(nn.Flatten(), *network(64, 20, 10))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    x, y = x[:30], y[:30]
    radii = robust_radius(net, (x, y), norm=norm, bounds=(0, 1))
    assert radii.contradictions == 0 and float(radii.below[radii.clean].min()) > 0
    assert radii.proven(0.01) > 0.5 and "at least" in radii.verdict
    each = [proof.radii(net, x, y, norm, (0.0, 1.0)) for proof in PROOFS]
    assert bool((each[1] >= each[0] * (1 - 1e-3)).all())  # linear bounds are never looser than intervals here
    middle = float(radii.below[radii.clean].median())
    methods = (FGSM(), PGD(10), APGD(20), APGD(20, scale_free=True), TargetedAPGD(10, 3), SquareAttack(50))
    for method in methods:
        broken = attack(net, (x, y), eps=middle, norm=norm, method=method)
        for below in (*each, radii.below):
            assert not bool((broken.fooled & broken.clean & (below >= middle)).any())
    for method in (DeepFool(), MinimumNormAttack(30)):
        assert robust_radius(net, (x, y), norm=norm, method=method).contradictions == 0


def trained(net, x, y):
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    return net.eval()


@pytest.mark.full
@pytest.mark.parametrize("norm", ["inf", "2"])
@pytest.mark.parametrize("kind", ["dense", "convolutional"])
def test_no_contradiction_in_ten_thousand_pairs_of_examples_and_radii(kind, norm):
    """Every certificate against every attack: 2,600 pairs for each of four cases, each pair with three proofs."""
    torch.manual_seed(1)
    x, y = images()
    conv = (nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.LeakyReLU(0.1), nn.Conv2d(4, 4, 3, padding=1),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 10))  # fmt: skip
    net = trained(
        nn.Sequential(*conv) if kind == "convolutional" else nn.Sequential(nn.Flatten(), *network(64, 30, 10)), x, y
    )
    x, y = x[:520], y[:520]
    methods = (FGSM(), PGD(20), APGD(20), APGD(20, scale_free=True), TargetedAPGD(20, 4), SquareAttack(100))
    proven = [proof.radii(net, x, y, norm, (0.0, 1.0)) for proof in PROOFS]
    pairs = 0
    for nearest in (DeepFool(), MinimumNormAttack(60)):
        above = minimal_distance(net, (x, y), norm=norm, method=nearest)
        for below in proven:
            assert not bool((above.clean & (above.above < below)).any())
    best = torch.stack(proven).amax(0)
    for eps in best[best > 0].quantile(torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])).tolist():  # much to contradict
        for method in methods:
            broken = attack(net, (x, y), eps=eps, norm=norm, method=method)
            for below in proven:
                assert not bool((broken.fooled & broken.clean & (below >= eps)).any())
        pairs += len(x)
    assert pairs == 2600


@pytest.mark.full
def test_votes_do_not_change_within_their_radius():
    """Smoothing: points at the edge of the proven radius, moved along the gradient of the network, keep their vote."""
    torch.manual_seed(0)
    x, y = images()
    net = trained(nn.Sequential(nn.Flatten(), *network(64, 30, 10)), x, y)
    x, y = x[:100], y[:100]
    found = smoothed_radius(net, (x, y), sigma=0.3, draws=1000, confidence=0.999)
    kept = found.radii > 0
    assert int(kept.sum()) > 60
    for seed in range(2):
        worst = attack(net, (x, y), eps=float(found.radii.max()), norm="2", method=PGD(10), seed=seed).examples
        move = (worst - x).flatten(1)
        size = move.norm(dim=1).clamp_min(1e-30)
        z = x + (move * (0.99 * found.radii.float() / size)[:, None]).reshape(x.shape)
        with torch.no_grad():
            votes = torch.stack([net(z + 0.3 * torch.randn_like(z)).argmax(1) for _ in range(1000)])
            there = torch.stack([(votes == c).sum(0) for c in range(10)]).argmax(0)
            votes = torch.stack([net(x + 0.3 * torch.randn_like(x)).argmax(1) for _ in range(1000)])
            here = torch.stack([(votes == c).sum(0) for c in range(10)]).argmax(0)
        assert int((kept & (here != there)).sum()) <= 2  # each radius may be wrong once in a thousand


def test_a_vote_under_noise_has_the_radius_of_a_half_space():
    net = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    x = torch.tensor([[0.1, 0.0], [0.3, 0.2], [0.6, 0.0]])
    found = smoothed_radius(net, (x, torch.zeros(3).long()), sigma=0.25, draws=3000, confidence=0.9999)
    assert bool((found.radii <= x[:, 0]).all()) and bool(found.right.all())  # the true radius is the first coordinate
    assert float(found.radii[0]) > 0.05 and float(found.radii[1]) > 0.2 and "vote" in found.verdict and found.plots()


def test_a_network_that_cannot_be_read_is_named():
    net = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.Linear(2, 2))
    with pytest.raises(UnsupportedModuleError, match=r"'1' is a Sigmoid.*smoothed_radius"):
        output_bounds(net, torch.rand(1, 2), 0.1)
    radii = robust_radius(net, (torch.rand(3, 2), torch.tensor([0, 1, 0])))
    assert radii.proof == "none" and float(radii.below.max()) == 0


def test_bounds_leave_a_network_in_training_mode_as_it_was():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    before = [b.clone() for b in net.buffers()]
    x = torch.rand(4, 2)
    found = output_bounds(net, x, 0.1)
    assert net.training and all(torch.equal(a, b) for a, b in zip(before, net.buffers(), strict=True))
    assert torch.equal(found.low, output_bounds(net.eval(), x, 0.1).low)


def test_inputs_outside_the_bounds_have_no_region():
    with pytest.raises(InputError, match=r"output_bounds.* outside the bounds \(0, 1\)"):
        output_bounds(nn.Linear(2, 2), torch.full((1, 2), 3.0), 0.1)


def test_bounds_come_in_pieces_that_fit_and_are_refused_where_none_does(monkeypatch):
    torch.manual_seed(0)
    net, x = network(4, 9, 7, 3), torch.rand(5, 4)
    whole = output_bounds(net, x, 0.3)
    monkeypatch.setattr(
        "gnomon.core.modules.saved_bytes.free_bytes", lambda: 2 * 8 * 4 * 9 * 2
    )  # two examples, or two units, at once
    parts = output_bounds(net, x, 0.3)
    assert_allclose(parts.low, whole.low, rtol=1e-5, atol=1e-6)
    assert_allclose(parts.high, whole.high, rtol=1e-5, atol=1e-6)
    loose = output_bounds(net, x, 0.3, max_linear_units=0)
    assert float((loose.high - loose.low).mean()) > float((whole.high - whole.low).mean())
    monkeypatch.setattr("gnomon.robustness.certificates.bounds.free_bytes", lambda: 100)
    with pytest.raises(
        BudgetError, match=r"output_bounds\(module, data, eps\): the coefficients of one unit take 288 B"
    ):
        output_bounds(net, x, 0.3)
