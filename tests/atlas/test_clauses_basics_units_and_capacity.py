"""Clauses of the scope on margins, capacity and representations that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

from gnomon.attribution import representation_report
from gnomon.attribution.inversion import invert_layer
from gnomon.checks import activation_gain
from gnomon.decisions import linear_capacity, separability
from gnomon.linalg import diagnose_matrix
from gnomon.robustness import margin_distribution


def test_a_set_is_separated_with_a_margin_up_to_its_smallest_distance():
    """signed-distance-margin: gamma(S) = min y (<w, x> + b) / |w|; S is gamma-separated exactly for gamma <= gamma(S)."""
    g = torch.Generator().manual_seed(0)
    net = nn.Linear(3, 1).double()
    x = torch.randn(40, 3, generator=g).double()
    w, b = net.weight.detach()[0], float(net.bias.detach())
    y = (x @ w + b > 0).long()
    distances = margin_distribution(net, (x, y)).distances
    along = torch.linalg.svd(w[None])[2][1:]  # directions within the plane
    foot = -b * w / (w @ w)
    by_hand = [(x[i] - foot) - along.T @ (along @ (x[i] - foot)) for i in range(40)]
    assert float(distances.min()) == pytest.approx(min(float(v.norm()) for v in by_hand), rel=1e-9)
    for gamma, separated in ((float(distances.min()) * 0.999, True), (float(distances.min()) * 1.001, False)):
        assert bool(((2 * y - 1) * (x @ w + b) / w.norm() >= gamma).all()) == separated


@pytest.mark.full
def test_two_tanh_units_learn_xor_from_two_thirds_to_four_fifths_of_small_starts():
    """xor-not-separable: of 200 starts of 2-2-1 tanh networks, 65 to 85 % end with all four points right."""
    x = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    torch.manual_seed(0)
    w, v = (0.05 * torch.randn(200, *shape) for shape in ((3, 2), (3, 1)))
    optimizer = torch.optim.Adam([w.requires_grad_(), v.requires_grad_()], 0.05)
    one = torch.ones(200, 4, 1)
    for _ in range(700):
        hidden = torch.tanh(torch.cat([x.expand(200, -1, -1), one], 2) @ w)
        outputs = torch.tanh(torch.cat([hidden, one], 2) @ v)[..., 0]
        optimizer.zero_grad()
        (outputs - y).square().mean(1).sum().backward()
        optimizer.step()
    assert 0.65 <= float((outputs * y > 0).all(1).double().mean()) <= 0.85


@pytest.mark.full
def test_the_capacity_of_features_is_their_dimension(rank=6):
    """cover-capacity-2d: random labels stop being fitted at n = 2 d, so that half that number is the dimension, to 15 %."""
    g = torch.Generator().manual_seed(0)
    features = torch.randn(40, rank, generator=g).double() @ torch.randn(rank, 20, generator=g).double()
    assert linear_capacity(features, draws=30).dimension == pytest.approx(rank, rel=0.15)


def test_spectrum_rank_and_sign_of_a_gram_matrix():
    """kernel-gram-psd: eigenvalues and effective rank of <phi(x_i), phi(x_j)>; one that is not such a matrix has a negative one."""
    features = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)).double()
    found = diagnose_matrix(features @ features.T)
    values = np.linalg.svd(features.numpy(), compute_uv=False) ** 2
    share = values / values.sum()
    assert found.effective_rank == pytest.approx(np.exp(-(share * np.log(share)).sum()), rel=1e-6)
    assert float(found.eigenvalues[0]) > -1e-10 * values.sum() and found.asymmetry == 0
    bad = diagnose_matrix(features @ features.T - 0.5 * torch.eye(12).double())
    assert float(bad.eigenvalues[0]) == pytest.approx(-0.5) and bad.jitter > 0.49


def test_the_printed_factor_and_probabilities():
    """activation-scaled-softplus: a = 1.4044 +- 0.0005 and E[s(z)^2] = 1; softmax: (0.224, 0.672, 0.091, 0.014)."""
    gain = activation_gain(nn.Softplus(5.0)).gain
    z = np.linspace(-10, 10, 200_001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    assert gain == pytest.approx(1.4044, abs=5e-4)
    assert ((gain * np.logaddexp(0, 5 * z) / 5) ** 2 * density).sum() == pytest.approx(1, abs=1e-6)
    found = torch.tensor([1.1, 2.2, 0.2, -1.7]).double().softmax(0).numpy()
    np.testing.assert_allclose(found, [0.224, 0.672, 0.091, 0.014], atol=5e-4)
    np.testing.assert_allclose(found, [0.22364, 0.67184, 0.09092, 0.01360], atol=5e-6)


def test_stochastic_gradients_find_newtons_minimum_of_the_breast_cancer_data():
    """logistic-regression: weights of SGD on batches, averaged, within 1 % of Newton's, L2 penalty 0.1."""
    x, y = load_breast_cancer(return_X_y=True)
    x, w, ridge = (x - x.mean(0)) / x.std(0), np.zeros(30), 0.1
    for _ in range(30):
        s = 1 / (1 + np.exp(-x @ w))
        w -= np.linalg.solve(x.T * (s * (1 - s)) @ x / len(y) + ridge * np.eye(30), x.T @ (s - y) / len(y) + ridge * w)
    rng, v, mean = np.random.default_rng(0), np.zeros(30), np.zeros(30)
    for step in range(8000):
        pick = rng.integers(len(y), size=16)
        slope = x[pick].T @ (1 / (1 + np.exp(-x[pick] @ v)) - y[pick]) / 16 + ridge * v
        v = v - 0.1 / (1 + step / 400) ** 0.6 * slope
        mean += v * (step >= 2000) / 6000
    assert np.linalg.norm(mean - w) <= 0.01 * np.linalg.norm(w)


def test_inputs_are_found_back_from_a_layer_that_keeps_them_and_not_from_one_that_drops_a_half():
    """representation-desiderata: x = Phi^-1(y): PSNR of reconstruction, high for an invertible layer, low for a projection."""
    torch.manual_seed(0)
    x, y = torch.rand(24, 6), torch.arange(24) % 2
    turn = torch.linalg.qr(torch.randn(6, 6))[0]
    whole, half = nn.Sequential(nn.Linear(6, 6, bias=False)), nn.Sequential(nn.Linear(6, 2, bias=False))
    with torch.no_grad():
        whole[0].weight.copy_(turn)
        half[0].weight.copy_(turn[:2])
    reports = [
        representation_report(net, "0", (x, y), transformations=[lambda z: z.flip(1)], iterations=300)
        for net in (whole, half)
    ]
    assert reports[0].psnr > 30 > reports[1].psnr + 10
    back = invert_layer(half, "0", x[:8], iterations=300).reconstruction
    wide = float(x[:8].max() - x[:8].min())
    assert reports[1].psnr == pytest.approx(-10 * float((((back - x[:8]) / wide) ** 2).mean().log10()), abs=1e-3)


def test_the_plane_of_classes_that_overlap_has_a_slack():
    """version-space: no plane for XOR; the slack of the best plane is the mean violation of its margin."""
    x = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).double()
    y = torch.tensor([1, 1, 0, 0])
    found = separability(x, y)
    apart = separability(x, torch.tensor([0, 1, 0, 0]))
    violations = (1 - (2 * y - 1) * (x @ found.w + found.b)).clamp_min(0)
    assert not found.separable and found.slack == pytest.approx(float(violations.mean())) and found.slack > 0.5
    assert apart.separable and apart.slack == pytest.approx(0, abs=1e-9)
