"""Quadrature against every closed form, over all variances and correlations, and against hostile functions."""

from math import log10, pi, sqrt

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch.nn import functional

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.kernels.duals import (
    GELU,
    Cos,
    Erf,
    Exp,
    GaussianBump,
    Heaviside,
    Identity,
    LeakyReLU,
    Polynomial,
    Quadrature,
    ReLU,
    Sign,
    Sin,
)  # fmt: skip
from tests.kernels.duals.activations import NUMERIC
from tests.oracles import quadrature as oracle
from tests.shares import in_full

F64 = torch.float64
ONE = torch.ones((), dtype=F64)

VARIANCES = torch.tensor([0.0, 1e-6, 1.0, 1.1, 40.0, 1e4], dtype=F64)
CORRELATIONS = torch.tensor([-1, 1e-6 - 1, -0.99, -0.5, 0, 0.7, 0.95, 0.9999, 1 - 1e-6, 1 - 1e-8, 1], dtype=F64)

TWINS = {
    "identity": (lambda x: 1.0 * x, Identity(), 6),
    "relu": (torch.relu, ReLU(), 6),
    "leaky": (functional.leaky_relu, LeakyReLU(0.01), 6),
    "abs": (torch.abs, LeakyReLU(-1.0), 6),
    "sign": (torch.sign, Sign(), 6),
    "step": (lambda x: (x > 0).to(x.dtype), Heaviside(), 6),
    "erf": (torch.erf, Erf(), 6),
    "gelu": (functional.gelu, GELU(), 6),
    "sin": (torch.sin, Sin(), 5),
    "cos": (torch.cos, Cos(), 5),
    "exp": (torch.exp, Exp(), 4),
    "gaussian": (lambda x: torch.exp(-x * x), GaussianBump(), 6),
    "quartic": (lambda x: x**4 - x, Polynomial((0.0, -1.0, 0.0, 0.0, 1.0)), 6),
}


def grid(n):
    a, b = VARIANCES[:n, None, None], VARIANCES[None, :n, None]
    return a, b, CORRELATIONS * (a * b).sqrt()


METHODS = ("dual", "dual_derivative", "dual_gain")
STRAIGHT = (
    "identity",
    "leaky",
    "abs",
    "sign",
    "step",
)  # relu stands for their derivatives; their gain is the dual or 0


@pytest.mark.parametrize(
    "name, method", [(name, m) for name in TWINS for m in (METHODS[:1] if name in STRAIGHT else METHODS)]
)
def test_agrees_with_the_closed_form_everywhere(name, method):
    function, closed, n = TWINS[name]
    a, b, c = grid(n)
    expected, found = (getattr(dual, method)(a, b, c) for dual in (closed, Quadrature(function)))
    norm = (getattr(closed, method)(a, a, a) * getattr(closed, method)(b, b, b)).sqrt()
    assert bool(((found - expected).abs() <= 1e-8 * norm).all())


ORACLE = ("tanh", "silu", "mish", "elu", "softsign", "hardtanh", "hardswish", "hardshrink", "threshold")

# Where the functions of torch.nn turn: the oracle must be told where to look closely.
FEATURES = (-20.0, -8.0, -4.0, -2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0, 4.0, 8.0, 20.0)
GAPS = (1.0, 0.3, 1e-2, 1e-5, 1e-8, 1e-12, 0.0)  # 1 - |rho|


def hostile(n, least, most):
    """Random variances over all sizes, half of them equal; correlations from none to all, of both signs."""
    rng = np.random.default_rng(5)
    a, b = 10 ** rng.uniform(log10(least), log10(most), (2, n))
    b[::2] = a[::2]
    rho = (1 - np.array(GAPS)[np.arange(n) % len(GAPS)]) * rng.choice([-1, 1, 1], n)
    return a, b, rho * np.sqrt(a * b)


@pytest.mark.parametrize("method", ["dual", "dual_derivative"])
@pytest.mark.parametrize("name", in_full(ORACLE, except_for=["tanh", "elu", "hardswish"]))
def test_agrees_with_the_oracle_at_all_variances_and_correlations(name, method):
    (row,) = (row for row in NUMERIC if row.name == name)
    function = {"dual": row.function, "dual_derivative": row.derivative}[method]
    kinks = sorted({*row.kinks, *FEATURES})
    a, b, c = hostile(14, 1e-2, 1e6)
    found = getattr(row.dual, method)(*(torch.from_numpy(t) for t in (a, b, c))).numpy()
    for i in range(len(a)):
        expected = oracle.pair(function, function, a[i], b[i], c[i], kinks)
        seconds = [oracle.single(lambda u: function(u) ** 2, v, kinks) for v in (a[i], b[i])]
        assert abs(found[i] - expected) <= 1e-8 * sqrt(seconds[0] * seconds[1])


def test_the_work_does_not_grow_with_the_pairs_or_the_variances():
    """Evaluations of the function are counted: some 500 per distinct variance, and some 10^5 once."""
    seen = []

    def counted(x):
        seen.append(x.numel())
        return torch.tanh(x)

    dual = Quadrature(counted)
    for size in (1.0, 1e3, 1e6):
        seen.clear()
        x = torch.randn(60, 3, dtype=F64) + torch.tensor([5.0, 0.0, 0.0], dtype=F64)  # nearly parallel
        c = size * x @ x.T
        dual.dual(c.diagonal()[:, None], c.diagonal()[None], c)
        assert sum(seen) <= 2e5 + 3000 * 60


def test_what_is_known_of_a_function_is_not_found_out_again():
    seen = []

    def counted(x):
        seen.append(x.numel())
        return torch.nn.functional.elu(x)

    dual, a = Quadrature(counted), torch.tensor([0.5, 1.0, 2.0], dtype=F64)
    dual.dual(a[:, None], a[None], 0.999 * (a[:, None] * a[None]).sqrt())
    first = sum(seen)
    seen.clear()
    dual.dual(a[:, None], a[None], 0.998 * (a[:, None] * a[None]).sqrt())
    assert sum(seen) < first / 3


@pytest.mark.parametrize("name", ["relu", "erf", "cos"])
def test_moments_agree_with_the_closed_form(name):
    function, closed, n = TWINS[name]
    found = Quadrature(function)
    a = VARIANCES[:n]
    assert bool(((found.mean(a) - closed.mean(a)).abs() <= 1e-12 * closed.variance(a).sqrt()).all())
    assert torch.allclose(found.variance(a), closed.variance(a), rtol=1e-12, atol=0)


def test_many_jumps():
    """The sawtooth x - floor(x) has 40 jumps within reach; at large variance it is uniform, and u, v independent."""
    sawtooth = Quadrature(torch.frac)
    a = torch.tensor([4.0], dtype=F64)
    assert float(sawtooth.mean(a)) == pytest.approx(0.0, abs=1e-12)
    stairs = Quadrature(lambda x: torch.floor(x) + 0.5)
    large = torch.tensor([25.0], dtype=F64)
    # E[floor(u) + 1/2 - u] = 0 and, up to exp(-2 pi^2 a), E[(floor(u) + 1/2)^2] = a + 1/12
    assert float(stairs.variance(large)) == pytest.approx(25 + 1 / 12, rel=1e-12)


def test_jumps_anywhere_against_the_bivariate_normal_distribution():
    """E[1(u > k) 1(v > k)] is an orthant probability; k is no dyadic number."""
    k, a, b = 1 / 3, 1.2, 0.8
    step = Quadrature(lambda x: (x > k).to(x.dtype))
    for rho in (-0.95, 0.4, 0.999):
        c = rho * sqrt(a * b)
        expected = multivariate_normal([0, 0], [[a, c], [c, b]], abseps=1e-14).cdf([-k, -k])
        found = step.dual(*(torch.tensor(x, dtype=F64) for x in (a, b, c)))
        assert float(found) == pytest.approx(expected, abs=1e-11)


def test_a_narrow_bump_and_two_close_corners():
    width = 0.01
    bump = Quadrature(lambda x: torch.exp(-(((x - 1) / width) ** 2)))
    expected = width * sqrt(pi) * torch.exp(-ONE / 2 / (1 + width**2 / 2)) / sqrt(2 * pi) / sqrt(1 + width**2 / 2)
    assert float(bump.mean(ONE)) == pytest.approx(float(expected), rel=1e-9)
    ramp = Quadrature(lambda x: ((x - 0.5) * 1000).clamp(0, 1))
    sharp = 0.5 - 0.5 * torch.erf(torch.tensor([0.5, 0.501], dtype=F64) / sqrt(2))
    assert float(sharp[1]) < float(ramp.mean(ONE)) < float(sharp[0])


def test_works_under_inference_mode_and_no_grad():
    dual = Quadrature(torch.tanh)
    expected = dual.dual_derivative(ONE, ONE, ONE / 2)
    with torch.inference_mode():
        one = torch.ones((), dtype=F64)
        assert torch.equal(dual.dual_derivative(one, one, one / 2), expected)
    with torch.no_grad():
        assert torch.equal(dual.dual_derivative(ONE, ONE, ONE / 2), expected)


def test_single_precision_copies_are_copies():
    step = Quadrature(lambda x: (x > 0).to(x.dtype))
    a = torch.tensor(0.3)
    assert float(step.dual(a, a, a * (1 - 8 * torch.finfo(torch.float32).eps))) == 0.5


REFUSED = {
    "softmax": (
        lambda x: torch.softmax(x, -1),
        InputError,
        r"when x is reshaped \(expected an elementwise function",
    ),
    "flip": (lambda x: x.flatten().flip(0).view(x.shape), InputError, "when x is reordered"),
    "sum": (torch.sum, InputError, r"12 numbers in float64 gave torch.float64 of shape \(\)"),
    "complex": (lambda x: torch.complex(x, x), InputError, "gave torch.complex128"),
    "integers": (lambda x: x.long(), InputError, "gave torch.int64"),
    "none": (lambda x: None, InputError, "gave NoneType"),
    "random": (torch.rand_like, InputError, "two calls with the same x gave different results"),
    "broken": (lambda x: x @ x.T @ x.reshape(5, 5), InputError, "raised"),
    "log": (torch.log, NotFiniteError, r"f\(-3.1\) is not finite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_when_made(name):
    function, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        Quadrature(function)


def test_refuses_when_asked():
    with pytest.raises(NotFiniteError, match=r"does not converge within 37 deviations at variance"):
        Quadrature(torch.exp).variance(240 * ONE)  # its mass lies at 31 deviations
    with pytest.raises(
        NotFiniteError, match=r"not finite at \|x\| = \d+ \(expected a function with finite E\[phi\(u\)\^2\]\)"
    ):
        Quadrature(torch.exp).dual(1e4 * ONE, 1e4 * ONE, ONE)
    with pytest.raises(InputError, match=r"even on 4096 intervals \(expected a piecewise analytic function"):
        Quadrature(lambda x: torch.sin(1 / (x + 0.1234567))).dual(ONE, ONE, ONE / 2)
    with pytest.raises(InputError, match="nearly full precision"):
        Quadrature(lambda x: torch.tanh(x.float()).double()).dual(ONE, ONE, ONE / 2)
    with pytest.raises(NotFiniteError, match="an argument is not finite"):
        Quadrature(torch.tanh).dual(ONE, ONE, ONE * torch.nan)


def test_is_compared_by_its_function():
    assert Quadrature(torch.tanh) == Quadrature(torch.tanh) != Quadrature(torch.sigmoid)
