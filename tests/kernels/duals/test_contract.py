"""What every dual must satisfy, whatever its activation."""

from math import sqrt

import numpy as np
import pytest
import torch

from tests.kernels.duals.activations import ALL, CLOSED, Activation
from tests.oracles import quadrature as oracle

EPS = torch.finfo(torch.float64).eps

# variances and correlation: far, opposed, near, coinciding, opposite, half and wholly still
POINTS = (
    (1.3, 0.6, 0.4),
    (0.5, 2.5, -0.85),
    (1.1, 0.9, 0.999),
    (0.7, 2.0, 1.0),
    (1.2, 0.4, -1.0),
    (0.0, 1.5, 0.0),
    (0.0, 0.0, 0.0),
)
METHODS = {"dual": "function", "dual_derivative": "derivative", "dual_gain": "gain"}

every = pytest.mark.parametrize("activation", ALL, ids=lambda activation: activation.name)
# gradients by quadrature are slow, and their roads few: smooth, with corners at zero and elsewhere, with jumps
SOME = [row for row in ALL if row.closed or row.name in ("tanh", "selu", "shifted-relu", "stairs")]
every_closed = pytest.mark.parametrize("activation", CLOSED, ids=lambda activation: activation.name)


def covariances(points=POINTS):
    a, b, rho = torch.tensor(points, dtype=torch.float64).unbind(1)
    return a, b, rho * (a * b).sqrt()


def data(n=8, d=5):
    """Covariances of n inputs, two of which are copies and one of which is opposite."""
    x = torch.randn(n, d, dtype=torch.float64)
    x[1], x[2] = x[0], -x[3]
    gram = x @ x.T / d
    return gram.diagonal()[:, None], gram.diagonal()[None, :], gram


@every
@pytest.mark.parametrize("method", METHODS)
def test_is_the_expectation(activation: Activation, method: str):
    function = getattr(activation, METHODS[method])
    a, b, c = covariances()
    found = getattr(activation.dual, method)(a, b, c)
    for i, (a_i, b_i, c_i) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        if a_i == 0 and activation.kinks and method != "dual":
            continue  # torch's phi'(0) at a corner: tested below
        expected = oracle.pair(function, function, a_i, b_i, c_i, activation.kinks)
        seconds = [oracle.single(lambda u: function(u) ** 2, v, activation.kinks) for v in (a_i, b_i)]
        assert abs(float(found[i]) - expected) <= activation.tolerance * sqrt(seconds[0] * seconds[1]) + 1e-300


@every
def test_mean_and_variance(activation: Activation):
    a = torch.tensor([0.0, 1e-6, 0.3, 2.0], dtype=torch.float64)
    means, seconds = activation.dual.mean(a), activation.dual.variance(a)
    for i, v in enumerate(a.tolist()):
        mean = oracle.single(activation.function, v, activation.kinks)
        second = oracle.single(lambda u: activation.function(u) ** 2, v, activation.kinks)
        assert abs(float(means[i]) - mean) <= activation.tolerance * sqrt(second)
        assert abs(float(seconds[i]) - second) <= activation.tolerance * second


def roundings(activation: Activation) -> int:
    """How many units u = EPS / 2 variance(a) and dual(a, a, a) may lie apart, on any processor.

    Closed forms: at u = v they are products and sums of positive numbers. The longest are those of leaky ReLU, 8
    correctly rounded operations on one side and 2 on the other, and of a scaled ReLU, 7 and 2.

    Quadrature: a second moment is a sum of positive terms, weight (phi sqrt(N))^2, so that relative errors add up:
    - the sum itself, in any order that vectors, threads or a BLAS may choose: one per term [Higham, Accuracy and
      Stability of Numerical Algorithms, section 4.2]. A line has 20 nodes on each of 40 panels, and 40 more for each
      of at most 5 cuts: 1000;
    - phi, whose vector and scalar loops differ: log, exp and tanh within 1 ulp = 2 u, and up to two more operations,
      hence 4 ulp, twice for the square: 16;
    - the density, squared: exp within 1 ulp, its constant, two products and its argument: 12;
    - the weights of Gauss in the mean, against their values in 40 digits 36: 64;
    - products: 4.
    At zero variance u and v are taken for uncorrelated, and the dual is (sum weight phi N)^2: twice the same again.
    The rule itself errs by less than u: 20 nodes on panels no wider than a deviation, up to ten deviations.
    """
    if activation.closed:
        return 10
    return 3 * (1000 + 16 + 12 + 64 + 4)


@every
def test_variance_is_the_dual_of_coinciding_variables_to_rounding(activation: Activation):
    a = torch.tensor([0.0, 1e-6, 0.3, 1.7, 2.0, 39.0], dtype=torch.float64)
    apart = roundings(activation) * EPS / 2
    assert torch.allclose(activation.dual.variance(a), activation.dual.dual(a, a, a), rtol=apart, atol=0)


@every
def test_copies_are_recognized_through_rounding(activation: Activation):
    a = torch.tensor([0.3, 1.7], dtype=torch.float64)
    c = torch.stack([a, a * (1 - 8 * EPS), a * (1 + 8 * EPS)])
    for method in METHODS:
        exact, *rounded = getattr(activation.dual, method)(a, a, c)
        assert all(torch.allclose(exact, near, rtol=1e-13, atol=1e-14) for near in rounded)


@every
@pytest.mark.parametrize("method", ["dual", "dual_derivative"])
def test_symmetric_positive_and_bounded(activation: Activation, method: str):
    a, b, c = data()
    gram = getattr(activation.dual, method)(a, b, c)
    size = float(gram.diagonal().max())
    assert torch.allclose(gram, gram.T, rtol=0, atol=activation.tolerance * size)
    norms = gram.diagonal().sqrt()
    assert bool((gram.abs() <= norms[:, None] * norms * (1 + 1e-8) + 1e-300).all())  # Cauchy-Schwarz
    assert float(torch.linalg.eigvalsh((gram + gram.T) / 2).min()) >= -8 * activation.tolerance * size


@every
def test_broadcasts_and_leaves_its_arguments_alone(activation: Activation):
    a, b, c = data(4, 2)
    before = [t.clone() for t in (a, b, c)]
    wide = activation.dual.dual(a, b, c)
    full = activation.dual.dual(a.expand_as(c).contiguous(), b.expand_as(c).contiguous(), c)
    assert wide.shape == c.shape
    assert torch.allclose(wide, full, rtol=1e-12, atol=1e-13)
    assert activation.dual.dual_derivative(a, b, c[:1, :1]).shape == c.shape
    assert all(torch.equal(t, u) for t, u in zip((a, b, c), before, strict=True))


@every
def test_single_precision(activation: Activation):
    a, b, c = covariances(POINTS[:2] + POINTS[3:])
    for method in METHODS if activation.closed else ("dual",):
        full = getattr(activation.dual, method)(a, b, c)
        half = getattr(activation.dual, method)(a.float(), b.float(), c.float())
        assert half.dtype == torch.float32
        assert torch.allclose(half.double(), full, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("activation", [row for row in CLOSED if not row.jumps], ids=lambda row: row.name)
def test_price(activation: Activation):
    """d dual / d c is the dual of the derivative, also where u = v and u = -v; with jumps it would count them."""
    a, b, c = covariances(POINTS[:5])
    c.requires_grad_()
    (slope,) = torch.autograd.grad(activation.dual.dual(a, b, c).sum(), c)
    assert torch.allclose(slope, activation.dual.dual_derivative(a, b, c), rtol=1e-10, atol=1e-12)


@every_closed
@pytest.mark.parametrize("method", METHODS)
def test_gradients(activation: Activation, method: str):
    arguments = [t.requires_grad_() for t in covariances(POINTS[:2])]
    assert torch.autograd.gradcheck(getattr(activation.dual, method), arguments)


@pytest.mark.parametrize("activation", SOME, ids=lambda row: row.name)
def test_gradients_are_finite_where_angles_and_variances_vanish(activation: Activation):
    methods = METHODS if activation.closed else ("dual",)
    for method in methods:
        a, b, c = (t.requires_grad_() for t in covariances((*POINTS[3:], (0.8, 0.8, 1.0), (0.8, 0.8, -1.0))))
        value = getattr(activation.dual, method)(a, b, c)
        if value.requires_grad:
            found = torch.autograd.grad(value.sum(), (a, b, c), allow_unused=True)
            assert all(bool(torch.isfinite(g).all()) for g in found if g is not None)
    a = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    for moment in (activation.dual.mean(a), activation.dual.variance(a)):
        if moment.requires_grad:
            assert bool(torch.isfinite(torch.autograd.grad(moment.sum(), a)[0]).all())


@pytest.mark.parametrize("activation", [row for row in SOME if not row.jumps], ids=lambda row: row.name)
def test_the_kernel_of_a_moving_point_has_the_right_slope(activation: Activation):
    """d/ds dual(s a, s a, s a) = d/ds variance(s a): along u = v, where for a jump each part would be infinite."""
    s = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    a = torch.tensor([0.4, 1.9], dtype=torch.float64)
    value, second = activation.dual.dual(s * a, s * a, s * a), activation.dual.variance(s * a)
    if value.requires_grad:
        slopes = [torch.autograd.grad(t.sum(), s)[0] for t in (value, second)]
        assert torch.allclose(*slopes, rtol=1e-7, atol=1e-9)


def test_at_zero_variance_the_derivative_is_the_one_torch_takes_at_zero():
    for activation, torch_function in (
        ("relu", torch.relu),
        ("leaky", lambda x: torch.nn.functional.leaky_relu(x, 0.1)),
    ):
        (dual,) = (row.dual for row in CLOSED if row.name == activation)
        zero, one = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
        x = torch.zeros((), dtype=torch.float64, requires_grad=True)
        (at_zero,) = torch.autograd.grad(torch_function(x), x)
        mean = (1 + float(torch_function(-one) / -one)) / 2
        assert torch.allclose(dual.dual_derivative(zero, zero, zero), at_zero**2)
        assert torch.allclose(dual.dual_derivative(zero, one, zero), at_zero * mean)
        assert torch.allclose(dual.dual_derivative(one, zero, zero), at_zero * mean)


@pytest.mark.parametrize("name", ["gelu", "selu", "stairs"])
def test_agrees_with_simulation(name: str):
    """The second oracle: within 5 standard errors, which a true value exceeds once in 1.7 million runs."""
    (activation,) = (row for row in ALL if row.name == name)
    a, b, c = 1.3, 0.6, -0.5
    found = activation.dual.dual(*(torch.tensor(x, dtype=torch.float64) for x in (a, b, c)))
    mean, error = oracle.simulated(activation.function, activation.function, a, b, c, n=1_000_000, seed=3)
    assert abs(float(found) - mean) <= 5 * error


def test_the_oracle_can_fail():
    """A wrong constant of one part in a million is seen at the tolerance of the battery."""
    expected = oracle.pair(np.tanh, np.tanh, 1.3, 0.6, 0.4)
    assert abs(oracle.pair(lambda x: np.tanh(1.000001 * x), np.tanh, 1.3, 0.6, 0.4) - expected) > 1e-8
