"""Lanczos against dense eigensolvers."""

import pytest
import torch
from scipy.stats import norm, t

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.linalg.lanczos import (
    SpectralDensity,
    _eigen,
    _estimated_errors,
    _KrylovSpace,
    _normal,
    spectral_density,
    top_eigenpairs,
    tridiagonal,
)
from gnomon.linalg.operator import DenseOperator


def symmetric(n, seed=0, decay=0.0):
    generator = torch.Generator().manual_seed(seed)
    q, _ = torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64))
    values = (
        torch.arange(1, n + 1, dtype=torch.float64) ** -decay if decay else torch.randn(n, generator=generator).double()
    )
    return q @ torch.diag(values) @ q.T


@pytest.mark.parametrize(("n", "k", "decay"), [(40, 5, 0.0), (300, 8, 1.0), (6, 6, 0.0), (1, 1, 0.0)])
def test_top_eigenpairs_agree_with_a_dense_solver(n, k, decay):
    a = symmetric(n, decay=decay)
    found = top_eigenpairs(DenseOperator(a), k)
    values, vectors = torch.linalg.eigh(a)
    assert torch.allclose(found.values, values.flip(0)[:k], atol=1e-8)
    assert torch.allclose((found.vectors * vectors.flip(1)[:, :k]).sum(0).abs(), torch.ones(k).double(), atol=1e-6)
    residual = (a @ found.vectors - found.vectors * found.values).norm(dim=0)
    assert (residual <= found.residuals + 1e-10).all()  # equation (2), and rounding


@pytest.mark.parametrize("steps", [1, 3, 8, 20])
def test_the_residual_is_that_of_the_pair_itself_long_before_convergence(steps):
    a = symmetric(60)
    found = top_eigenpairs(DenseOperator(a), 1, steps=steps)
    residual = (a @ found.vectors - found.vectors * found.values).norm(dim=0)
    assert torch.allclose(found.residuals, residual, rtol=0, atol=1e-12)  # equation (2); rounding of a norm of order 1
    assert (torch.linalg.eigvalsh(a) - found.values).abs().min() <= found.residuals[0] + 1e-12


def test_every_copy_of_a_multiple_eigenvalue_is_met_when_the_space_is_spanned():
    a = torch.diag(torch.tensor([3.0, 3.0, 3.0, 1.0, 0.0]).double())
    assert torch.allclose(top_eigenpairs(DenseOperator(a), 4).values, torch.tensor([3.0, 3.0, 3.0, 1.0]).double())


def test_the_recurrence_holds_and_the_basis_stays_orthonormal():
    a = symmetric(60, decay=2.0)
    alpha, beta, q = tridiagonal(DenseOperator(a), torch.ones(60).double(), 30)
    t = torch.diag(alpha) + torch.diag(beta[:-1], 1) + torch.diag(beta[:-1], -1)
    assert torch.allclose(q.T @ q, torch.eye(30).double(), atol=1e-12)
    rest = a @ q - q @ t
    assert rest[:, :-1].abs().max() < 1e-12 and abs(rest[:, -1].norm() - beta[-1]) < 1e-12


def test_the_quadrature_is_exact_for_polynomials_of_degree_2m_minus_1():
    a, m = symmetric(50), 4
    start = torch.randn(50, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    alpha, beta, _ = tridiagonal(DenseOperator(a), start, m)
    values, s = torch.linalg.eigh(torch.diag(alpha) + torch.diag(beta[:-1], 1) + torch.diag(beta[:-1], -1))
    unit = start / start.norm()
    for degree in range(2 * m):
        exact = unit @ torch.linalg.matrix_power(a, degree) @ unit
        assert abs((s[0] ** 2 * values**degree).sum() - exact) < 1e-9 * max(1.0, abs(exact))
    exact = unit @ torch.linalg.matrix_power(a, 2 * m) @ unit
    assert abs((s[0] ** 2 * values ** (2 * m)).sum() - exact) > 1e-3 * abs(exact)  # and not beyond


def test_the_density_has_the_moments_of_the_spectrum_within_its_statistical_error():
    a = symmetric(200, decay=0.5)
    found = spectral_density(DenseOperator(a), starts=64)
    values = torch.linalg.eigvalsh(a)
    assert abs(float(found.weights.sum()) - 1) < 1e-12
    for degree in (1, 2):
        exact = (values**degree).mean()
        spread = ((values**degree - exact) ** 2).mean().sqrt() * (2 / 200 / 64) ** 0.5  # of q^T A^j q over the sphere
        assert abs((found.weights * found.points**degree).sum() - exact) < 4 * spread  # 99.99 % of the time
    grid = torch.linspace(-1, 2, 3001).double()
    assert abs(float(found.smooth(grid, 0.05).sum() * 0.001) - 1) < 1e-3


def test_every_start_of_the_density_is_another_vector():
    found = spectral_density(DenseOperator(symmetric(30)), steps=5, starts=3)
    points = found.points.reshape(3, 5)
    assert (points[0] - points[1]).abs().max() > 1e-3 and (points[1] - points[2]).abs().max() > 1e-3


def test_bad_requests_are_refused():
    with pytest.raises(InputError, match="k must be at most 2, the size of the operator, but it is 3"):
        top_eigenpairs(DenseOperator(torch.eye(2)), 3)
    with pytest.raises(NotFiniteError, match="not finite"):
        top_eigenpairs(DenseOperator(torch.full((3, 3), float("nan"))), 1)


def test_results_describe_themselves():
    pairs = top_eigenpairs(DenseOperator(torch.eye(3)), 2)
    assert "2 eigenvalues" in pairs.verdict and set(pairs.to_dict()) == {"values", "residuals", "products", "verdict"}
    assert pairs.plots()[0].marks[0].y == tuple(pairs.values.tolist())
    density = spectral_density(DenseOperator(torch.diag(torch.tensor([1.0, 3.0]))), starts=400)
    assert (
        set(density.to_dict()) == {"points", "weights", "starts", "verdict"}
        and "between about 1 and 3" in density.verdict
    )
    line = density.plots()[0].marks[0]
    heights = torch.tensor(line.y)
    shown = heights * (heights > heights.min())  # the logarithmic axis ends at the smallest height that is drawn
    mass = torch.trapezoid(shown, torch.tensor(line.x))
    assert abs(float(mass) - 1) < 1e-2  # the grid ends three deviations beyond the points: 0.3 % at most is cut


def test_a_space_that_is_exhausted_before_the_start_is_left_goes_on_with_a_vector_outside():
    """The start is the first draw of the same generator, which lies in the exhausted space."""
    matrix = torch.zeros(4, 4)
    matrix[0, 0], matrix[1, 1] = 2.0, 1.0
    values = top_eigenpairs(DenseOperator(matrix), 2, seed=0).values
    assert torch.allclose(values, torch.tensor([2.0, 1.0]), atol=1e-6)


def test_the_error_of_a_density_is_students_interval_over_its_starts():
    """Four starts with one eigenvalue each: densities N(. - point) that differ, at one place."""
    points, width = torch.tensor([0.0, 0.5, 1.0, 2.0], dtype=torch.float64), 0.7
    density = SpectralDensity(points, torch.full((4,), 0.25, dtype=torch.float64), 4)
    each = torch.from_numpy(norm.pdf(0.3, points.numpy(), width))
    wanted = float(t.ppf(0.95, 3)) * float(each.std()) / 2
    assert float(density.error(torch.tensor([0.3]).double(), width, confidence=0.9)) == pytest.approx(wanted)


@pytest.mark.parametrize("k", [1, 3])
def test_steps_grow_by_a_quarter_and_at_least_five_until_residuals_are_small(k):
    a = torch.diag(torch.linspace(0.0, 1.0, 400, dtype=torch.float64) ** 0.5)
    found = top_eigenpairs(DenseOperator(a), k)
    schedule = [2 * k + 10]
    while schedule[-1] < found.products:
        schedule.append(schedule[-1] + max(5, schedule[-1] // 4))
    assert found.products == schedule[-1] and len(schedule) > 2
    enough = float(torch.linalg.eigvalsh(a).max()) * torch.finfo(torch.float64).eps ** 0.5
    for steps, small in ((schedule[-2], False), (schedule[-1], True)):
        assert (float(top_eigenpairs(DenseOperator(a), k, steps=steps).residuals.max()) <= enough) == small


def test_a_density_uses_as_many_starts_and_steps_as_asked():
    a = symmetric(30)
    found = spectral_density(DenseOperator(a), steps=7, starts=3, seed=2)
    assert len(found.points) == len(found.weights) == 21 and found.starts == 3
    assert float(found.weights.sum()) == pytest.approx(1.0)
    each = []
    for seed in (2, 3, 4):
        v = torch.randn(30, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        each.append(float(v @ a @ v / (v @ v)))
    assert found.mean == pytest.approx(sum(each) / 3)
    default = spectral_density(DenseOperator(symmetric(60)))
    assert default.starts == 8 and len(default.points) == 8 * 40


def spectrum(seed, size=400):
    """Eigenvalues like the ones of Hessians: a few large ones, many near zero, some negative."""
    draw = torch.Generator().manual_seed(seed)
    power = 0.5 + 1.5 * float(torch.rand((), generator=draw))
    bulk = 0.05 * torch.randn(size - 20, generator=draw, dtype=torch.float64)
    return torch.cat([torch.arange(1, 21, dtype=torch.float64) ** -power, bulk])


def test_steps_end_as_soon_as_the_estimated_error_is_below_the_accuracy():
    operator = DenseOperator(torch.diag(spectrum(0)))
    rough, exact = top_eigenpairs(operator, 1, accuracy=0.01), top_eigenpairs(operator, 1)
    assert rough.products < exact.products

    def error(products):
        space = _KrylovSpace(operator, _normal(operator, 0))
        space.extend(products)
        values, s = _eigen(space.alpha, space.beta)
        return float(_estimated_errors(values, (space.beta[-1] * s[-1]).abs())[-1] / values[-1])

    assert error(rough.products) <= 0.01 < error(rough.products - 1)


@pytest.mark.parametrize("accuracy", [0.1, 0.01, 0.001])
def test_the_largest_eigenvalue_has_the_accuracy_that_was_asked_for(accuracy):
    products = 0
    for seed in range(40):
        values = spectrum(seed)
        found = top_eigenpairs(DenseOperator(torch.diag(values)), 1, accuracy=accuracy, seed=seed)
        assert abs(float(found.values[0]) / float(values.max()) - 1) <= accuracy
        products += found.products
    assert products <= 40 * {0.1: 8, 0.01: 14, 0.001: 20}[accuracy]


def test_an_error_is_the_square_of_the_residual_divided_by_the_distance_to_the_others():
    values = torch.tensor([1.0, 5.0, 5.3], dtype=torch.float64)
    residuals = torch.tensor([0.2, 0.1, 0.3], dtype=torch.float64)
    found = _estimated_errors(values, residuals).tolist()
    assert found[0] == pytest.approx(0.04 / (4.0 - 0.3))  # reduced by both residuals
    assert found[1:] == [0.1, 0.3]  # the two may be one eigenvalue
    assert _estimated_errors(values[:1], residuals[:1]).tolist() == [0.0]
