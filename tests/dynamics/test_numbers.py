"""Grids, thresholds, limits and what the solver is given, written out by hand."""

from math import e, inf, log

import numpy as np
import pytest
import torch

from gnomon.core.errors import InputError
from gnomon.dynamics import (
    CrossEntropy,
    GradientFlow,
    Squared,
    equivalent_stopping_time,
    predict_from_kernel,
    training_modes,
)
from gnomon.dynamics.error_decay import error_decay
from gnomon.training import SGD

G = np.random.default_rng(0)
PHI = G.standard_normal((4, 6))
K = torch.tensor(PHI @ PHI.T)
CLASSES = torch.tensor([0, 1, 2, 1])


def solver_arguments(monkeypatch, **options):
    """What the solver of differential equations is called with."""
    seen = {}

    def solve(fun, span, start, **given):
        seen.update(given, fun=fun, span=span, start=start)
        raise InterruptedError

    monkeypatch.setattr("scipy.integrate.solve_ivp", solve)
    with pytest.raises(InterruptedError):
        predict_from_kernel(loss=CrossEntropy(), optimizer=GradientFlow(), **options)
    return seen


@pytest.mark.parametrize("coupled", [False, True])
def test_the_solver_is_given_the_slope_and_its_jacobian(monkeypatch, coupled):
    root = G.standard_normal((12, 20))
    full = torch.tensor(root @ root.T).reshape(4, 3, 4, 3).permute(0, 2, 1, 3)
    kernel, f0 = full if coupled else K, torch.tensor(G.standard_normal((4, 3)))
    seen = solver_arguments(monkeypatch, ntk=kernel, y=CLASSES, f0=f0, times=[0.0, 2.0], penalty=0.3, tolerance=1e-5)
    c = G.standard_normal(12)
    made = torch.tensor(c).reshape(4, 3)
    f = f0 + (torch.einsum("ijab,jb->ia", full, made) if coupled else K @ made)
    slope = -(f.softmax(1) - torch.nn.functional.one_hot(CLASSES)) / 4 - 0.3 * made
    assert seen["fun"](0.0, c) == pytest.approx(slope.flatten().numpy())
    h = 1e-6
    columns = [(seen["fun"](0.0, c + h * d) - seen["fun"](0.0, c - h * d)) / (2 * h) for d in np.eye(12)]
    assert seen["jac"](0.0, c) == pytest.approx(np.stack(columns, 1), abs=1e-7)
    matrix = root @ root.T if coupled else K.numpy()
    assert seen["atol"] == pytest.approx(1e-5 / np.abs(matrix).sum(1).max()) and seen["rtol"] == 1e-5
    assert seen["span"] == (0.0, 2.0) and seen["method"] == "LSODA"


@pytest.mark.parametrize(("points", "method"), [(1000, "LSODA"), (1001, "DOP853")])
def test_the_jacobian_is_formed_for_at_most_two_thousand_coefficients(monkeypatch, points, method):
    seen = solver_arguments(
        monkeypatch, ntk=torch.eye(points), y=torch.arange(points) % 2, times=[1.0], f0=torch.zeros(points, 2)
    )
    assert seen["method"] == method


def test_times_go_from_a_hundredth_of_the_fastest_to_a_hundred_of_the_slowest():
    run = predict_from_kernel(torch.diag(torch.tensor([8.0, 2.0])), torch.ones(2))  # rates 4 and 1
    grid = np.geomspace(0.01 / 4, 100, 60)
    assert run.times.tolist() == pytest.approx([0.0, *grid, inf])
    short = predict_from_kernel(torch.diag(torch.tensor([8.0, 2.0])), torch.tensor([0, 1]), loss=CrossEntropy())
    assert short.times.tolist() == pytest.approx([0.0, *np.geomspace(0.01 / 4, 1000 / 4, 60)])


@pytest.mark.parametrize(("lr", "last"), [(0.75, log(1e6) / (log(2) / 0.75)), (0.500001, 50.0001), (0.5, 50.0)])
def test_times_are_short_where_steps_diverge(lr, last):
    """Rates 4 and 1: with a step of 3 / 4 the first error doubles at each step, with 1 / 2 it does not fall."""
    run = predict_from_kernel(torch.diag(torch.tensor([8.0, 2.0])), torch.ones(2), optimizer=SGD(lr))
    times = np.linspace(0, last, 60)
    assert run.times.tolist() == pytest.approx((np.round(times / lr) * lr).tolist())


def test_losses_and_accuracies_at_test_points_compare_outputs_with_targets():
    phi = G.standard_normal((5, 6))
    labels = torch.tensor([2, 0, 1, 1, 0])
    run = predict_from_kernel(K, CLASSES, test=torch.tensor(phi @ PHI.T), y_test=labels, loss=CrossEntropy(),
                              optimizer=SGD(0.1), times=[0.0, 0.3])  # fmt: skip
    losses = [float(torch.nn.functional.cross_entropy(f, labels)) for f in run.test]
    assert run.test_loss.tolist() == pytest.approx(losses)
    assert run.test_accuracy.tolist()[1] == float((run.test[1].argmax(1) == labels).double().mean())
    assert run.accuracy.tolist()[1] == float((run.train[1].argmax(1) == CLASSES).double().mean())
    squared = predict_from_kernel(
        K, CLASSES, test=torch.tensor(phi @ PHI.T), y_test=labels, loss=Squared(), times=[1.0]
    )
    assert squared.test_accuracy.tolist() == [float((squared.test[0].argmax(1) == labels).double().mean())]


@pytest.mark.parametrize(("share", "count"), [(0.009, 0), (0.011, 1), (0.11, 1)])
def test_an_error_without_a_rate_is_noted_from_one_percent_on(share, count):
    y = torch.tensor([1 - share, share]).double().sqrt()
    found = training_modes(torch.diag(torch.tensor([1.0, 0.0])).double(), y).findings
    assert [finding.evidence[0].value for finding in found] == [pytest.approx(share)] * count


def test_an_error_of_more_than_a_tenth_is_another_row():
    rows = []
    for share in (0.011, 0.09, 0.11, 0.5):
        y = torch.tensor([1 - share, share]).double().sqrt()
        rows.append(training_modes(torch.diag(torch.tensor([1.0, 0.0])).double(), y).findings[0].row)
    assert rows[0] == rows[1] != rows[2] == rows[3]


def test_a_mode_needs_the_logarithm_of_a_hundred_by_default():
    found = training_modes(torch.diag(torch.tensor([8.0, 2.0])), torch.ones(2))
    assert found.time().tolist() == pytest.approx([log(100) / 4, log(100)])
    assert found.time(0.5).tolist() == pytest.approx([log(2) / 4, log(2)])


def test_limits_and_decays_at_their_ends():
    assert GradientFlow().largest_lr(4.0) == 0.5 and GradientFlow().largest_lr(0.0) == inf
    assert error_decay(SGD(0.1, momentum=0.8)).largest_lr(4.0) == pytest.approx(3.6 / 4)
    zero = torch.zeros(1).double()
    assert float(error_decay(SGD(0.1, momentum=0.8)).decay(zero)) == 0.0
    assert float(error_decay(SGD(0.1)).decay(torch.tensor([2.0]).double())) == pytest.approx(-log(0.8) / 0.1)


def test_stopping_differs_most_in_its_worst_mode():
    """Rates 4 and 0.5, stopped at time 2: exp(-2 l) beside 0.5 / (l + 0.5)."""
    found = equivalent_stopping_time(torch.diag(torch.tensor([8.0, 1.0])).double(), torch.tensor([1.0, 3.0]), ridge=0.5,
                     test=torch.tensor([[2.0, 1.0]]), f0=torch.tensor([0.5, 0.0]), f0_test=torch.tensor([0.7]))  # fmt: skip
    gaps = np.array([0.5 / 4.5 - e**-8, 0.5 / 1.0 - e**-1])
    assert np.abs(found.gaps.numpy()) == pytest.approx(gaps) and found.worst == pytest.approx(gaps.max())
    error = np.array([0.5, 3.0])
    change = error * [4 / 4.5, 0.5]
    assert found.train_gap == pytest.approx(np.linalg.norm(gaps * error) / np.linalg.norm(change))
    cross = np.array([2.0, 1.0]) / [8.0, 1.0]
    assert found.test_gap == pytest.approx(abs(cross @ (gaps * error)) / abs(cross @ change))
    assert found.time == 2.0


def test_kernels_that_are_not_square_are_refused():
    with pytest.raises(InputError):
        training_modes(torch.ones(2, 3), torch.ones(2))


def test_a_mode_that_descent_leaves_larger_than_the_ridge_counts_by_its_size():
    """Steps of 0.475, four of them until time 1.9: a mode of rate 4 keeps 0.9^4, the ridge 1 / 9 of it."""
    found = equivalent_stopping_time(
        torch.diag(torch.tensor([8.0, 1.0])).double(), torch.ones(2), ridge=0.5, optimizer=SGD(0.475)
    )
    assert found.worst == pytest.approx(0.9**4 - 1 / 9) and found.time == pytest.approx(1.9)


def test_gains_of_tiny_steps_keep_their_digits():
    """Three steps of size lr along a rate a give (1 - (1 - lr a)^3) / a = 3 lr, where 1 - lr a rounds to one."""
    found = error_decay(SGD(1e-10)).gain(torch.tensor([1e-9, 4e-9]).double(), torch.tensor([3e-10]).double())
    assert found[0].tolist() == pytest.approx([3e-10, 3e-10], rel=1e-9)


@pytest.mark.parametrize(("skew", "refused"), [(1e-9, False), (1e-6, True)])
def test_kernels_may_be_skew_by_rounding(skew, refused):
    gram = torch.eye(2).double()
    gram[0, 1] = skew
    if not refused:
        assert predict_from_kernel(gram, torch.ones(2).double(), times=[1.0]).train is not None
        return
    with pytest.raises(InputError, match="symmetric"):
        predict_from_kernel(gram, torch.ones(2).double(), times=[1.0])
