"""Stochastic traces: unbiased, with intervals that cover as often as they say."""

import pytest
import torch
from scipy.stats import binom, t

from gnomon.core.errors import BudgetError, InputError
from gnomon.linalg.diagonal import diagonal
from gnomon.linalg.operator import DenseOperator, NegativeOperator
from gnomon.linalg.trace import _estimate, _signs, automatic_trace, hutch_plus_plus, hutchinson


def positive(n, decay):
    q, _ = torch.linalg.qr(torch.randn(n, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64))
    return q @ torch.diag(torch.arange(1, n + 1, dtype=torch.float64) ** -decay) @ q.T


METHODS = {
    "hutchinson": lambda a, s: hutchinson(a, samples=32, confidence=0.9, seed=s),
    "hutch++": lambda a, s: hutch_plus_plus(a, products=96, confidence=0.9, seed=s),
}


@pytest.mark.parametrize("estimate", METHODS.values(), ids=METHODS)
def test_intervals_cover_the_trace_as_often_as_they_say(estimate):
    a = positive(120, 1.0)
    exact, runs = float(a.trace()), 300
    covered = 0
    for seed in range(runs):
        covered += exact in estimate(DenseOperator(a), 2 * seed).interval
    assert covered >= binom.ppf(1e-3, runs, 0.88)  # 90 % stated; 2 % for z^T A z not being Gaussian


def error(method, a, products):
    exact = float(a.trace())
    runs = [method(DenseOperator(a), products, seed) for seed in range(0, 60, 2)]
    return float(torch.tensor([(r.value - exact) ** 2 for r in runs]).mean().sqrt())


def test_rates_are_those_of_the_theorems():
    a = positive(400, 2.0)
    sizes = [24, 48, 96, 192]
    logs = torch.tensor(sizes).double().log()

    def slope(method):
        errors = torch.tensor([error(method, a, s) for s in sizes]).double().log()
        return float(((logs - logs.mean()) * (errors - errors.mean())).sum() / ((logs - logs.mean()) ** 2).sum())

    plain = slope(lambda op, products, seed: hutchinson(op, samples=products, seed=seed))
    better = slope(lambda op, products, seed: hutch_plus_plus(op, products=products, seed=seed))
    assert abs(plain + 0.5) < 0.25  # three standard errors of a slope through four points of 30 runs
    assert better < -1.0 + 0.15


def test_exact_cases_and_bad_requests():
    assert hutchinson(DenseOperator(torch.diag(torch.arange(5.0))), samples=2).value == 10.0
    low_rank = torch.ones(30, 3).double() @ torch.randn(3, 30, generator=torch.Generator().manual_seed(1)).double()
    found = hutch_plus_plus(DenseOperator(low_rank + low_rank.T), products=36)
    assert abs(found.value - 2 * float(low_rank.trace())) < 1e-9 and found.half_width < 1e-9
    assert "95% confidence" in found.verdict and found.to_dict()["products"] == 36
    assert found.to_dict()["interval"]["confidence"] == 0.95 and found.plots()[0].marks[0].y == (found.value,)
    for call in (
        lambda: hutchinson(DenseOperator(torch.eye(2)), samples=1),
        lambda: hutch_plus_plus(DenseOperator(torch.eye(2)), products=5),
    ):
        with pytest.raises(InputError, match="a whole number of at least [26]"):
            call()


def test_the_interval_of_a_diagonal_is_that_of_student():
    """Two draws z o A z of signs z, by hand: their mean, and t times their deviation over the root of their number."""
    a, m = positive(5, 1.0), 7
    found = diagonal(DenseOperator(a), samples=m, confidence=0.9, seed=3)
    generator = torch.Generator().manual_seed(3)
    signs = [torch.randint(0, 2, (5,), generator=generator) * 2.0 - 1 for _ in range(m)]
    draws = torch.stack([z * (a @ z) for z in (s.double() for s in signs)])
    assert torch.allclose(found.values, draws.mean(0), atol=1e-12)
    assert torch.allclose(found.half_widths, float(t.ppf(0.95, m - 1)) * draws.std(0) / m**0.5, atol=1e-12)


def test_a_sketch_that_does_not_fit_is_not_made(monkeypatch):
    operator = DenseOperator(torch.ones(50, 50))
    assert automatic_trace(operator, products=12).half_width < 1e-3  # rank one: Hutch++ is exact
    monkeypatch.setattr("gnomon.linalg.trace.free_bytes", lambda: 1000)
    assert automatic_trace(operator, products=12).half_width > 1  # one vector at a time
    with pytest.raises(BudgetError, match=r"hutch_plus_plus\(operator\): 16 vectors of 200 B do not fit"):
        hutch_plus_plus(operator, products=12)


def test_the_interval_of_a_trace_is_students_interval_of_its_samples():
    values = torch.tensor([3.0, -1.0, 4.5, 2.0], dtype=torch.float64)
    found = _estimate(10.0, values, 0.9, 7)
    mean, error = 10 + 8.5 / 4, float(values.std()) / 2
    low, high = t.interval(0.9, 3, loc=mean, scale=error)
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((mean, low, high), rel=1e-12)
    assert found.products == 7
    assert found.half_width == pytest.approx((high - low) / 2)
    assert _estimate(1.0, values[:1], 0.9, 3).half_width == 0.0
    two = _estimate(0.0, values[:2], 0.9, 2)
    assert two.half_width == pytest.approx(t.ppf(0.95, 1) * 2)  # the standard error of 3 and -1 is 2


def test_the_method_with_the_smaller_predicted_variance_is_chosen():
    """13 products: the sketch of 4 uses 12 of them, plain sampling all 13."""
    signs = torch.stack(list(_signs(DenseOperator(torch.eye(30).double()), 4, 5)), 1)
    chosen = []
    for decay in torch.linspace(0.0, 2.0, 41).tolist():
        a = positive(30, decay)
        sketch = a @ signs
        q = torch.linalg.qr(sketch[:, :2]).Q
        left, whole = (sketch[:, 2:] - q @ q.T @ sketch[:, 2:]).square().sum(), sketch[:, 2:].square().sum()
        found = automatic_trace(DenseOperator(a), products=13, seed=5)
        assert found.products == (12 if 2 * left <= whole else 13)
        chosen.append(found.products)
    assert {12, 13} == set(chosen)


def test_a_sketch_is_estimated_from_its_basis_and_the_rest_from_other_signs():
    a = positive(12, 0.7)
    found = hutch_plus_plus(DenseOperator(a), products=10, seed=3)
    first, second = (torch.stack(list(_signs(DenseOperator(a), 3, seed)), 1) for seed in (3, 4))
    q = torch.linalg.qr(a @ first).Q
    rest = second - q @ q.T @ second
    values = (rest * (a @ rest)).sum(0)
    assert found.value == pytest.approx(float((q.T @ a @ q).trace() + values.mean()))
    assert found.half_width == pytest.approx(t.ppf(0.975, 2) * float(values.std()) / 3**0.5)
    assert found.products == 9


def test_an_operator_that_is_not_symmetric_is_written_out_column_by_column():
    a = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert torch.equal(DenseOperator(a).dense(), a)
    assert torch.equal(NegativeOperator(DenseOperator(a)).dense(), -a)
