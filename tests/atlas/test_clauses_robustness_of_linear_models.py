"""Clauses of the scope on attacks and Lipschitz constants that linear models decide exactly; the ledger names these."""

from itertools import product

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from gnomon.data import digits
from gnomon.robustness import attack, lipschitz_bounds, operator_norm, robust_radius
from gnomon.robustness.attacks import FGSM, PGD, DeepFool


def digit_classifier():
    """Returns a linear classifier of digits, fitted by scikit-learn, with images that it classifies correctly."""
    split = digits(600, 40, seed=0)
    fitted = LogisticRegression(C=0.1, max_iter=300).fit(split.x.flatten(1).numpy(), split.y.numpy())
    linear = nn.Linear(64, 10).double()
    linear.weight.data, linear.bias.data = (torch.from_numpy(p).double() for p in (fitted.coef_, fitted.intercept_))
    net, x = nn.Sequential(nn.Flatten(), linear), split.x_test.double()
    right = net(x).argmax(1) == split.y_test
    return net, x[right], split.y_test[right]


def distances_by_hand(net, x, y):
    """Returns the smallest gap of scores over the length of the difference of weights, for each image."""
    w, f = net[1].weight.detach(), net(x).detach()
    others = [[j for j in range(10) if j != c] for c in y.tolist()]
    return torch.stack(
        [
            torch.stack([(f[i, c] - f[i, j]) / (w[c] - w[j]).norm() for j in others[i]]).min()
            for i, c in enumerate(y.tolist())
        ]
    )


def test_one_step_of_deepfool_reaches_the_border_of_an_affine_digit_classifier():
    """deepfool, affine-multiclass-attack: one iteration; distance min_j (f_i - f_j) / |w_i - w_j| and 1e-6 beyond, to 1e-8."""
    net, x, y = digit_classifier()
    exact = distances_by_hand(net, x, y)
    for steps in (1, 5):
        made = attack(net, (x, y), eps=1e3, norm="2", bounds=(-1e4, 1e4), method=DeepFool(steps=steps, overshoot=0.0))
        lengths = (made.examples - x).flatten(1).norm(dim=1)
        np.testing.assert_allclose(lengths, exact + 1e-6, rtol=0, atol=1e-8)
        assert bool((net(made.examples).argmax(1) != y).all())


def test_radii_of_an_affine_digit_classifier_are_the_closed_form():
    """affine-multiclass-attack: robust_radius() proves min_j (f_i - f_j) / |w_i - w_j| from below and meets it from above."""
    net, x, y = digit_classifier()
    exact = distances_by_hand(net, x, y).numpy()
    found = robust_radius(net, (x, y), norm="2", bounds=(-50.0, 50.0), method=DeepFool(overshoot=0.0))
    assert bool((found.below.numpy() <= exact + 1e-9).all()) and bool((found.above.numpy() >= exact - 1e-9).all())
    np.testing.assert_allclose(found.below, exact, rtol=0.02)
    np.testing.assert_allclose(found.above, exact, rtol=2e-3)


def test_errors_under_one_step_lie_between_clean_errors_and_those_of_many_steps():
    """fgsm: error(clean) <= error(FGSM) <= error(PGD) on digits, and FGSM does change decisions."""
    split = digits(500, 300, seed=0)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(80):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(split.x), split.y).backward()
        optimizer.step()
    data, errors = (split.x_test, split.y_test), []
    for method in (FGSM(), PGD(20, 0.25)):
        made = attack(net, data, eps=0.08, method=method).examples
        errors.append(float((net(made).argmax(1) != split.y_test).double().mean()))
    clean = float((net(split.x_test).argmax(1) != split.y_test).double().mean())
    assert clean + 0.05 < errors[0] <= errors[1] < 1


def test_bounds_of_two_layers_are_in_order_around_the_exact_constant():
    """lipschitz-estimation-seqlip: largest gradient met <= exact maximum over 2^m patterns <= refined <= product of norms."""
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).double()
    a, b = net[0].weight.detach().numpy(), net[2].weight.detach().numpy()
    exact = max(np.linalg.norm(b * np.array(p) @ a, 2) for p in product((0.0, 1.0), repeat=8))
    found = lipschitz_bounds(net, torch.randn(60, 3).double())
    assert 0.5 * exact < found.lower <= exact * (1 + 1e-9) < found.refined * (1 + 1e-6) < found.product
    assert found.product == pytest.approx(np.linalg.norm(a, 2) * np.linalg.norm(b, 2))


def test_norms_of_convolutions_are_those_of_their_matrices_and_of_their_transforms():
    """lipschitz-product-bound: |W| of a convolution by its dense matrix and, on a circle, by Fourier transforms."""
    torch.manual_seed(0)
    conv = nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular", bias=False).double()
    units = torch.eye(2 * 25).double().reshape(-1, 2, 5, 5)
    dense = float(torch.linalg.matrix_norm(conv(units).flatten(1).detach(), 2))
    kernel = torch.zeros(3, 2, 5, 5).double()
    kernel[:, :, :3, :3] = conv.weight.detach()
    blocks = torch.fft.fft2(kernel).permute(2, 3, 0, 1).reshape(-1, 3, 2)
    assert dense == pytest.approx(float(torch.linalg.matrix_norm(blocks, 2).max()), rel=1e-9)
    assert operator_norm(conv, (2, 5, 5)) == pytest.approx(dense, rel=1e-6)


def test_sums_of_absolute_weights_grow_as_the_root_of_the_dimension():
    """linear-explanation-dimension: eps |w|_1 / (eps |w|_2) is sqrt(2 d / pi) to 2 % for d = 100, 1000 and 10,000."""
    rng = np.random.default_rng(0)
    for d in (100, 1000, 10_000):
        w = rng.normal(size=(200, d))
        ratio = np.abs(w).sum(1) / np.linalg.norm(w, axis=1)
        assert ratio.mean() == pytest.approx((2 * d / np.pi) ** 0.5, rel=0.02)


def test_small_noise_moves_outputs_by_less_than_the_product_of_norms_allows():
    """lipschitz-product-bound: |f(x + e) - f(x)| <= L |e| for every e, and a chosen e moves them far more than noise."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 2)).double(), torch.randn(30, 20).double()
    bound = float(torch.stack([torch.linalg.matrix_norm(net[k].weight.detach(), 2) for k in (0, 2)]).prod())
    noise = torch.randn(40, 30, 20).double()
    noise = 0.01 * noise / noise.norm(dim=2, keepdim=True)
    moves = (net(x + noise) - net(x)).detach().norm(dim=2) / 0.01
    worst = torch.stack([torch.linalg.matrix_norm(torch.autograd.functional.jacobian(net, row), 2) for row in x])
    assert float(moves.max()) <= bound and float((moves.mean(0) < 0.6 * worst).double().mean()) > 0.9
    assert float(worst.max()) <= bound
