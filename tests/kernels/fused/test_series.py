import pytest
import torch
from torch import nn

from gnomon.kernels.duals import Sin
from gnomon.kernels.fused import series
from gnomon.kernels.fused.series import coefficients
from gnomon.program import InitializationLaw
from tests.kernels.fused.reference import both, distance
from tests.kernels.fused.test_dense import chain, points
from tests.kernels.fused.test_images import Function, conv, gap

f = nn.functional
SMOOTH = {
    "gelu": f.gelu, "sigmoid": torch.sigmoid, "silu": f.silu, "sin": torch.sin, "cos": torch.cos,
    "polynomial": lambda x: x + x * x / 3, "gaussian": lambda x: torch.exp(-x * x / 4), "exp": lambda x: torch.exp(x / 3),
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_agree_with_the_reference(monkeypatch, name):
    for y in (None, points(9).flip(1)):
        fast, slow = both(
            monkeypatch, chain(SMOOTH[name], 2), points(), y, init=InitializationLaw(0.8, 0.2), parametrization="ntk"
        )
        assert distance(fast.nngp, slow.nngp) < 1e-10 and distance(fast.ntk, slow.ntk) < 1e-10
    x = points(20)
    x[15] = x[3]
    fast, slow = both(monkeypatch, chain(SMOOTH[name], 2), x, init=InitializationLaw(0.8, 0.2), dtype=torch.float32)
    assert distance(fast.ntk, slow.ntk) < 1e-6
    assert torch.equal(fast.ntk[15], fast.ntk[3]) and fast.ntk[3, 15] == fast.ntk[3, 3]


@pytest.mark.parametrize("name", ["gelu", "sin"])
def test_smooth_functions_on_images(monkeypatch, name):
    def act():
        return Function(SMOOTH[name])

    net = nn.Sequential(conv(3, 8), act(), nn.AvgPool2d(2), conv(8, 8), act(), *gap(8))
    fast, slow = both(monkeypatch, net, torch.randn(4, 3, 6, 6))
    assert distance(fast.nngp, slow.nngp) < 1e-10 and distance(fast.ntk, slow.ntk) < 1e-10


def test_functions_with_kinks_have_no_certificate(monkeypatch):
    both(monkeypatch, chain(f.elu, 1), points(5), covered=False)
    a = torch.ones(3, dtype=torch.float64)
    assert coefficients(torch.sin, Sin(), a, 4) is None  # too short
    assert coefficients(torch.cos, Sin(), a, None) is None  # another function than the dual's
    assert coefficients(torch.sin, Sin(), 0 * a, None) is None  # no variance


def test_coefficients_are_those_of_the_sine():
    # E[sin(s z) He_k(z)] / sqrt(k!) = +-exp(-a / 2) a^(k / 2) / sqrt(k!) for odd k
    a = torch.tensor([0.3, 1.0, 4.0], dtype=torch.float64)
    h = coefficients(torch.sin, Sin(), a, None)
    for k in range(8):
        wanted = (
            torch.exp(-a / 2) * a ** (k / 2) * torch.lgamma(torch.tensor(k + 1.0, dtype=torch.float64)).div(-2).exp()
        )
        sign = (0, 1, 0, -1)[k % 4]
        torch.testing.assert_close(h[k], sign * wanted, rtol=1e-12, atol=1e-15)


def test_the_certificate_asks_for_the_moment_and_for_the_slope():
    a = torch.ones(1, dtype=torch.float64)
    assert coefficients(torch.sin, Sin(), a, None) is not None
    assert coefficients(lambda x: torch.sin(x) + 0.1, Sin(), a, None) is None  # the slopes agree, the moments do not
    k = torch.tanh(a).sqrt()  # E[k^2 cos(z)^2] = E[sin(z)^2] = (1 - exp(-2)) / 2
    assert coefficients(lambda x: k * torch.cos(x), Sin(), a, None) is None  # the moments agree, the slopes do not


def test_one_point_without_a_certificate_is_enough_to_refuse():
    a = torch.tensor([0.5, 1e4], dtype=torch.float64)  # sin(100 z) has no series of so few terms
    assert coefficients(torch.sin, Sin(), a[:1], None) is not None
    assert coefficients(torch.sin, Sin(), a, None) is None


@pytest.mark.parametrize(("count", "powers"), [(12, 6), (80, 60)])
def test_the_rule_integrates_products_of_hermite_polynomials(count, powers):
    """Sum of the weights times h_j h_k is 1 if j = k and 0 otherwise, both for Gauss nodes and for equidistant ones."""
    nodes, table = series._rule(count, powers)
    few = min(powers, 6)
    polynomials = [torch.ones_like(nodes), nodes]
    for k in range(1, few - 1):
        polynomials.append((nodes * polynomials[k] - k**0.5 * polynomials[k - 1]) / (k + 1) ** 0.5)
    products = torch.stack(polynomials) @ table[:, :few]
    torch.testing.assert_close(products, torch.eye(few, dtype=torch.float64), rtol=0, atol=1e-6)
    assert table.shape == (count, powers)
