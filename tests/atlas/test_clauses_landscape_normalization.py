"""Clauses of the scope on normalization that no claim measures; the ledger names these tests."""

import pytest
import torch
from torch import nn

from gnomon.data import digits


def test_batch_normalization_adds_noise_of_variance_one_over_the_batch():
    """batchnorm-advantages-list: Var of a normalized value over batches of B is (1 + x^2 / 2) / B: it regularizes."""
    g = torch.Generator().manual_seed(0)
    for value, size in ((0.0, 64), (0.0, 256), (2.0, 64), (2.0, 256)):
        batches = torch.randn(size, 4000, generator=g).double()
        batches[0] = value  # the same example, each time with other companions
        seen = nn.functional.batch_norm(batches, None, None, training=True, eps=1e-12)[0]
        assert float(seen.var()) == pytest.approx((1 + value**2 / 2) / size, rel=0.12)
    layer = nn.BatchNorm1d(1).double().eval()  # after training there is no noise
    assert torch.equal(layer(batches[:2, :1])[0], layer(batches[:9, :1])[0])


@pytest.mark.full
def test_ten_sigmoid_layers_are_more_accurate_with_batch_normalization():
    """batchnorm-advantages-list: better results: accuracy on test > 0.6 with, < 0.2 without, after equally many steps."""
    split, found = digits(200, 200, seed=0), []
    for normalized in (True, False):
        torch.manual_seed(0)
        parts = (p for _ in range(10) for p in
                 (nn.Linear(64, 64), *([nn.BatchNorm1d(64)] if normalized else []), nn.Sigmoid()))  # fmt: skip
        net = nn.Sequential(nn.Flatten(), *parts, nn.Linear(64, 10))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x), split.y).backward()
            optimizer.step()
        found.append(float((net(split.x_test).argmax(1) == split.y_test).double().mean()))
    assert found[0] > 0.6 and found[1] < 0.2


def test_weight_normalization_is_batch_normalization_if_and_only_if_both_lengths_agree():
    """weight-normalisation: c v.x / |v| = (|v|_S / |v|) BN(v.x), equal if and only if |v| = |v|_S = sqrt(v^T S v)."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(64, 2, generator=g).double()
    x = torch.linalg.qr(x - x.mean(0))[0] * 8 * torch.tensor([2.0, 0.5]).double()  # mean 0, S = diag(4, 1/4)
    angle = torch.atan(torch.tensor(4.0).double().sqrt())  # 4 cos^2 + sin^2 / 4 = 1 at tan^2 = 4
    for turn in (0.0, 0.3, -0.4, 0.8):
        v, c = 3 * torch.stack([(angle + turn).cos(), (angle + turn).sin()]), 1.7
        batch = nn.functional.batch_norm(x @ v[:, None], None, None, weight=torch.tensor([c]).double(), training=True,
                                         eps=1e-12)[:, 0]  # fmt: skip
        ratio = float(((4 * v[0] ** 2 + v[1] ** 2 / 4) / (v @ v)).sqrt())
        by_weights = c * (x @ v) / v.norm()
        torch.testing.assert_close(by_weights, ratio * batch)
        same = bool(torch.isclose(by_weights, batch, rtol=1e-6).all())
        assert same == (turn == 0.0) == (abs(ratio - 1) < 1e-9)
