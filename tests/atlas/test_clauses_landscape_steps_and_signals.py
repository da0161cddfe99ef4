"""Clauses of the scope on step sizes and on signals in deep networks that no claim measures; the ledger names them."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.landscape_optimization import nesterov_acceleration, skip_connections_smooth_gradients
from gnomon.data import digits


def test_plain_descent_needs_steps_in_proportion_to_the_condition_number():
    """nesterov-acceleration: steps of plain descent to 1e-8 have slope 1 +- 0.05 in the condition number."""
    conditions, steps = nesterov_acceleration.counts((50, 200, 800), 0.0, 0)
    assert np.polyfit(np.log(conditions), np.log(steps), 1)[0] == pytest.approx(1, abs=0.05)


def test_every_step_at_one_over_l_decreases_logistic_regression_enough():
    """step-size-two-over-l: h - h' >= |grad h|^2 / (2 L) at 1 / L on breast cancer; a parabola rises at 2.01 / L."""
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    z = (x - x.mean(0)) / x.std(0) * (2 * y - 1)[:, None]
    curvature, w = np.linalg.norm(z, 2) ** 2 / (4 * len(z)), np.zeros(30)
    loss = lambda w: np.logaddexp(0, -z @ w).mean()  # noqa: E731
    for _ in range(100):
        g = -(z.T @ (1 / (1 + np.exp(z @ w)))) / len(z)
        after = w - g / curvature
        assert loss(w) - loss(after) >= g @ g / (2 * curvature) * (1 - 1e-9)
        w = after
    assert (1 - 2.01) ** 2 > 1 > (1 - 1.99) ** 2  # h = w^2 / 2 with L = 1


@pytest.mark.full
def test_batch_normalization_widens_the_ranges_of_rates_and_scales():
    """batchnorm-advantages-list: largest rate that trains >= 5 times larger; scales 0.1 to 10: accuracy within 6 points."""
    split = digits(600, 400, seed=0)

    def accuracy(normalized, rate, scale, epochs=25):
        torch.manual_seed(0)
        layers = [nn.Flatten()]
        for _ in range(4):
            layers += [nn.Linear(64, 64), *([nn.BatchNorm1d(64)] if normalized else []), nn.ReLU()]
        net = nn.Sequential(*layers, nn.Linear(64, 10))
        for layer in net:
            if isinstance(layer, nn.Linear) and layer.out_features == 64:
                nn.init.kaiming_normal_(layer.weight).data.mul_(scale)
        optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        for _ in range(epochs):
            for batch in torch.randperm(600).split(100):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(split.x[batch]), split.y[batch]).backward()
                optimizer.step()
        return float((net.eval()(split.x_test).argmax(1) == split.y_test).double().mean())

    rates = np.geomspace(0.05, 12.8, 9)
    largest = [max((r for r in rates if accuracy(kind, r, 1.0) > 0.8), default=0.0) for kind in (True, False)]
    assert largest[0] >= 5 * largest[1] > 0
    shares = [accuracy(True, 1.6, scale, 80) for scale in (0.1, 1.0, 10.0)]
    assert max(shares) - min(shares) <= 0.06


def test_gradients_of_fifty_layers_with_and_without_skip_connections():
    """skip-connections-smooth-gradients: first / last gradient in [0.1, 10] with branches / sqrt(L), < 1e-6 without."""
    torch.manual_seed(0)
    with_skips = skip_connections_smooth_gradients.ratios(1.0, 20, 32, 50).sqrt()
    assert 0.1 <= float(with_skips.median()) <= 10
    plain = nn.Sequential(*(part for _ in range(50) for part in (nn.Linear(32, 32), nn.ReLU())))
    x = torch.randn(20, 32, requires_grad=True)
    last = plain(x)
    (first,) = torch.autograd.grad((last * torch.randn_like(last)).sum(), x)
    assert float(first.norm()) < 1e-6 * 20


def test_the_recursion_of_mean_squares_is_solved_by_a_geometric_sum():
    """variance-recursion-relu: E F_l^2 = prod r_k E F_1^2 + (1/2) sum_k pi_k E B^2, pi_k the product of later factors."""
    ratios, biases, value = (0.8, 1.3, 1.1, 0.6), (0.2, 0.5, 0.1, 0.4), 1.7
    by_steps = value
    for r, b in zip(ratios, biases, strict=True):
        by_steps = r * by_steps + b / 2
    later = [np.prod(ratios[k + 1 :]) for k in range(4)]
    assert by_steps == pytest.approx(np.prod(ratios) * value + np.dot(later, biases) / 2, rel=1e-14)


def test_gradients_of_weights_keep_their_mean_square_over_ten_layers():
    """gradient-variance-two-layers: E (dF / dW_l)^2 is the same in every layer at E W^2 = 2 / n, to 10 %."""
    torch.manual_seed(0)
    width, nets = 256, 60
    x = torch.randn(nets, width, 1)
    weights = [torch.randn(nets, width, width) * (2 / width) ** 0.5 for _ in range(6)]
    h = x
    for w in weights:
        w.requires_grad_()
        h = torch.relu(w @ h)
    gradients = torch.autograd.grad((h * torch.randn_like(h)).sum(), weights)
    sizes = torch.stack([g.square().mean((1, 2)) for g in gradients])
    ratios = (sizes / sizes[-1]).mean(1)
    assert float((ratios - 1).abs().max()) <= 0.1
