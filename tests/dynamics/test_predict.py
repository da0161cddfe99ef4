"""Predicted runs against models that were really trained, parameter by parameter."""

import json
from math import inf

import matplotlib
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError, NotFiniteError
from gnomon.dynamics import (
    CrossEntropy,
    Exponential,
    GradientFlow,
    Hinge,
    Logistic,
    Squared,
    integrate,
    predict_from_kernel,
)
from gnomon.dynamics.problem import kernel_problem
from gnomon.training import SGD
from tests.dynamics.linear import model
from tests.oracles.training import flow, hinge_steps, objective, steps
from tests.shares import in_full

EXACT = 1e-10  # some hundred steps of float64 arithmetic on numbers of order 10


@pytest.mark.parametrize("p", [8, 3])  # more parameters than points, and fewer: the kernel has rank 3 of 5
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("beta", [0.0, 0.9])
def test_every_step_of_descent_and_momentum_is_predicted(p, alpha, beta):
    case, rate, count = model(p=p), 0.05, 40
    path = steps(case.phi, case.y, case.theta0, rate, count, beta=beta, alpha=alpha)
    way = SGD(rate, momentum=beta)
    times = [rate * s for s in range(count + 1)]
    run = predict_from_kernel(
        case.ntk, case.y, test=case.test, times=times, optimizer=way, penalty=alpha, **case.starts
    )
    assert_allclose(run.train, case.phi @ path, atol=EXACT)
    assert_allclose(run.test, case.phi_test @ path, atol=EXACT)
    losses = [float(objective(torch.from_numpy(case.phi @ th), torch.from_numpy(case.y), "squared")) for th in path]
    assert_allclose(run.loss, losses, rtol=1e-9)


@pytest.mark.parametrize("alpha", in_full([0.0, 0.3], except_for=[0.3]))
def test_the_flow_is_that_of_the_parameters(alpha):
    case = model()
    theta = flow(case.phi, case.y, case.theta0, 2.0, 400, alpha=alpha)
    run = predict_from_kernel(case.ntk, case.y, test=case.test, times=[2.0], penalty=alpha, **case.starts)
    # the error of Runge-Kutta is about (h l)^4 with h l = 0.005 x 5
    assert_allclose(run.train[0], case.phi @ theta, atol=1e-7)
    assert_allclose(run.test[0], case.phi_test @ theta, atol=1e-7)


def test_descent_tends_to_the_flow_at_first_order():
    case = model()
    exact = predict_from_kernel(case.ntk, case.y, times=[1.0], f0=case.f0).train
    rates = np.array([0.02, 0.01, 0.005, 0.0025])
    gaps = [
        float((predict_from_kernel(case.ntk, case.y, times=[1.0], optimizer=SGD(r), f0=case.f0).train - exact).norm())
        for r in rates
    ]
    slope = np.polyfit(np.log(rates), np.log(gaps), 1)[0]
    assert 0.97 < slope < 1.05  # h (1 + O(h l)) with h l at most 0.1


def test_infinite_time_is_the_nearest_interpolant_and_keeps_the_initial_function():
    case = model()
    change = np.linalg.pinv(case.phi) @ (case.y - case.phi @ case.theta0)
    run = predict_from_kernel(case.ntk, case.y, test=case.test, times=[inf], **case.starts)
    assert_allclose(run.train[0], case.y, atol=EXACT)
    assert_allclose(run.test[0], case.phi_test @ (case.theta0 + change), atol=EXACT)
    forgetful = case.phi_test @ change  # the misprint that drops f(x, 0)
    assert np.abs(run.test[0].numpy() - forgetful).max() > 0.1


def test_infinite_time_with_a_penalty_is_ridge_regression_from_the_initial_function():
    case, alpha = model(), 0.3
    n, p = case.phi.shape
    hessian = case.phi.T @ case.phi / n + alpha * np.eye(p)
    change = np.linalg.solve(hessian, case.phi.T @ (case.y - case.phi @ case.theta0) / n)
    for way in (GradientFlow(), SGD(0.05), SGD(0.05, momentum=0.9)):
        run = predict_from_kernel(
            case.ntk, case.y, test=case.test, times=[inf], penalty=alpha, optimizer=way, **case.starts
        )
        assert_allclose(run.train[0], case.phi @ (case.theta0 + change), atol=EXACT)
        assert_allclose(run.test[0], case.phi_test @ (case.theta0 + change), atol=EXACT)


@pytest.mark.parametrize("beta", in_full([0.0, 0.7], except_for=[0.7]))
def test_just_below_the_largest_lr_training_converges_and_just_above_it_diverges(beta):
    case = model()
    largest = predict_from_kernel(
        case.ntk, case.y, times=[0.0], optimizer=SGD(0.01, momentum=beta), f0=case.f0
    ).largest_lr
    hessian = case.phi.T @ case.phi / len(case.phi)
    assert_allclose(largest, 2 * (1 + beta) / np.linalg.eigvalsh(hessian)[-1], rtol=1e-12)
    fates = {}
    for factor in (0.99, 1.01):
        path = steps(case.phi, case.y, case.theta0, factor * largest, 2000, beta=beta)
        fates[factor] = np.abs(case.phi @ path[-1] - case.y).max()
        way = SGD(factor * largest, momentum=beta)
        run = predict_from_kernel(case.ntk, case.y, times=[2000 * way.lr], optimizer=way, f0=case.f0)
        # the growth of rounding in 2000 unstable steps stays relative
        assert_allclose(run.train[0], case.phi @ path[-1], rtol=1e-7, atol=1e-7)
        assert run.diverges == (factor > 1) and ("it diverges" in run.verdict) == (factor > 1)
    assert fates[0.99] < 1e-6 and fates[1.01] > 1e3


def test_a_divergence_beyond_the_floats_is_an_error_not_a_nan():
    K, y = torch.eye(2), torch.ones(2)
    with pytest.raises(NotFiniteError, match=r"the error is infinite at time .*Use an lr below 4"):
        predict_from_kernel(K, y, times=[1e6], optimizer=SGD(5.0))
    with pytest.raises(NotFiniteError, match="infinite at time inf"):
        predict_from_kernel(K, y, times=[inf], optimizer=SGD(100.0, momentum=0.9))
    watched = predict_from_kernel(K, y, optimizer=SGD(5.0))  # the default times stop early enough
    assert bool(watched.loss.isfinite().all()) and float(watched.loss[-1]) > 1e3


@pytest.mark.parametrize("loss", [CrossEntropy(), Logistic(), Exponential()])
def test_other_losses_flow_like_the_parameters(loss):
    case = model(k=3)
    name = {CrossEntropy: "cross-entropy", Logistic: "logistic", Exponential: "exponential"}[type(loss)]
    y = np.array([0, 1, 2, 1, 0]) if name == "cross-entropy" else np.sign(case.y)
    theta0 = case.theta0 / 4
    theta = flow(case.phi, torch.from_numpy(y), theta0, 3.0, 600, alpha=0.05, loss=name)
    start = {"f0": case.phi @ theta0, "f0_test": case.phi_test @ theta0}
    run = predict_from_kernel(case.ntk, y, test=case.test, times=[0.0, 3.0], loss=loss, penalty=0.05, **start)
    assert_allclose(run.train[1], case.phi @ theta, atol=1e-6)  # the tolerance of the solver, some hundred steps
    assert_allclose(run.test[1], case.phi_test @ theta, atol=1e-6)
    assert_allclose(run.loss[1], objective(torch.from_numpy(case.phi @ theta), torch.from_numpy(y), name), atol=1e-6)
    assert_allclose(run.train[0], start["f0"], atol=1e-12)


def test_squared_loss_by_the_solver_agrees_with_the_closed_form(monkeypatch):
    case = model()
    given = kernel_problem(case.ntk, case.y, case.test, case.starts["f0"], case.starts["f0_test"])
    times = torch.tensor([0.1, 1.0, 10.0, 1000.0], dtype=torch.float64)
    c = integrate.flow(given, Squared(), times, 0.1, 1e-9)
    exact = predict_from_kernel(case.ntk, case.y, test=case.test, times=times, penalty=0.1, **case.starts)
    assert_allclose(given.f0_test + given.cross @ c, exact.test, atol=1e-7)
    monkeypatch.setattr(integrate, "MAX_DENSE_COEFFICIENTS", 0)  # the explicit solver, without a Jacobian
    c = integrate.flow(given, Squared(), times[:3], 0.1, 1e-9)
    assert_allclose(given.f0 + given.gram @ c, exact.train[:3], atol=1e-7)


def test_the_rounded_hinge_tends_to_the_subgradient_flow_at_first_order_in_its_width():
    case = model(n=6, p=12, k=1, seed=3)
    y = np.sign(case.y)
    time, count = 4.0, 40000
    path = hinge_steps(case.phi, y, time / count, count)
    margin = (y * (case.phi @ path)).ravel()
    assert (np.abs(margin - 1) < 0.01).sum() >= 2  # some points slide along the corner
    widths = np.array([0.2, 0.1, 0.05])
    gaps = [
        np.abs(
            predict_from_kernel(case.ntk, y, times=[time], loss=Hinge(width=w)).train[0].numpy() - case.phi @ path
        ).max()
        for w in widths
    ]
    assert 0.8 < np.polyfit(np.log(widths), np.log(gaps), 1)[0] < 1.2


@pytest.mark.parametrize("way", [SGD(0.1), SGD(0.1, momentum=0.8)])
def test_other_losses_step_like_the_parameters(way):
    case = model(k=3)
    y = np.array([0, 1, 2, 1, 0])
    path = steps_of_classes(case, y, way)
    run = predict_from_kernel(
        case.ntk, y, test=case.test, times=[0.0, 1.0, 3.0], loss=CrossEntropy(), optimizer=way, **case.starts
    )
    assert_allclose(run.train, case.phi @ path[[0, 10, 30]], atol=EXACT)
    assert_allclose(run.test, case.phi_test @ path[[0, 10, 30]], atol=EXACT)


def steps_of_classes(case, y, way):
    phi = torch.from_numpy(case.phi)
    theta = torch.from_numpy(case.theta0).clone().requires_grad_()
    optimizer = torch.optim.SGD([theta], lr=way.lr, momentum=way.momentum)
    path = [theta.detach().numpy().copy()]
    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(phi @ theta, torch.from_numpy(y)).backward()
        optimizer.step()
        path.append(theta.detach().numpy().copy())
    return np.stack(path)


@pytest.mark.parametrize("loss, bound", [(Logistic(), 0.25), (CrossEntropy(), 0.5), (Hinge(width=0.1), 10.0)])
def test_the_largest_lr_of_other_losses_is_safe_by_the_bound_of_their_curvature(loss, bound):
    """2 / L for the loss and its penalty, whose Hessian is at most L = bound |phi|^2 / n + alpha: descent never climbs."""
    case, alpha = model(k=3), 0.7
    y = np.array([0, 1, 2, 1, 0]) if isinstance(loss, CrossEntropy) else np.sign(case.y)
    told = predict_from_kernel(case.ntk, y, times=[0.0], loss=loss, optimizer=SGD(0.1), penalty=alpha, f0=case.f0)
    curvature = np.linalg.eigvalsh(case.phi.T @ case.phi)[-1] / 5
    assert_allclose(told.largest_lr, 2 / (bound * curvature + alpha), rtol=1e-12)


def test_the_default_times_run_from_the_fastest_mode_to_the_slowest():
    K, alpha = torch.diag(torch.tensor([40.0, 0.4, 0.0, 4.0], dtype=torch.float64)), 0.5
    times = predict_from_kernel(K, torch.ones(4), penalty=alpha).times.tolist()
    rates = 40 / 4 + alpha, 0.4 / 4 + alpha  # of K / n, and the mode without rate does not count
    assert times[0] == 0 and times[-1] == inf
    assert_allclose([times[1], times[-2]], [0.01 / rates[0], 100 / rates[1]], rtol=1e-12)
    assert_allclose(np.diff(np.log(times[1:-1])), np.log(times[2] / times[1]), rtol=1e-9)


def test_on_separable_data_the_logistic_outputs_grow_like_log_t():
    run = predict_from_kernel(torch.eye(1), torch.ones(1), times=[1e3, 1e6, 1e9], loss=Logistic())
    # f + exp(f) = t + 1 + f(0) for one point: f = log t up to (log t) / t
    assert_allclose(run.train[1:, 0], np.log([1e6, 1e9]), atol=1e-4)
    with pytest.raises(InputError, match="the times include infinity, and the loss is the logistic loss"):
        predict_from_kernel(torch.eye(1), torch.ones(1), times=[inf], loss=Logistic())


def test_the_result_draws_itself_and_serializes():
    matplotlib.use("Agg")
    case = model(k=1)
    run = predict_from_kernel(case.ntk, case.y[:, 0], test=case.test, y_test=np.ones(3))
    assert run.train.shape == (len(run.times), 5) and run.test.shape == (len(run.times), 3)
    assert float(run.times[0]) == 0 and float(run.times[-1]) == inf
    assert_allclose(run.test_loss, ((run.test - 1) ** 2).sum(1) / 6, rtol=1e-12)
    plain = json.loads(json.dumps(run.to_dict()))
    assert plain["curves"]["times"][-1] == "inf" and plain["verdict"] == str(run)
    assert "train" not in plain["curves"]  # outputs are many
    axes = run.plot(measured={"measured": ([0.1, 1.0], [1.0, 0.5])})
    assert {line.get_label() for line in axes.lines} == {"predicted training", "predicted test", "measured"}
    matplotlib.pyplot.close("all")


def test_a_rank_deficient_kernel_says_what_is_never_learned():
    run = predict_from_kernel(torch.ones(3, 3), torch.tensor([1.0, 2.0, 6.0]), times=[inf])
    assert_allclose(run.train[0], 3.0, rtol=1e-12)  # the mean: all that a constant can fit
    assert "2 modes have rate zero and are never learned" in str(run)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(y=torch.ones(2)), "y must be of shape .* but it has shape"),
        (dict(times=[-1.0]), "times must be numbers from 0 to math.inf"),
        (dict(penalty=-1.0), "penalty must be a finite number of at least 0, but it is -1.0"),
        (dict(test=torch.ones(2, 2)), "test points in rows, training points in columns"),
        (dict(f0=torch.ones(3), test=torch.ones(1, 3)), "f0 is passed without f0_test"),
        (dict(f0_test=torch.ones(2)), "f0_test is passed without test"),
        (dict(y_test=torch.ones(2)), "y_test is passed without test"),
        (dict(ntk=torch.tensor([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])), "positive semidefinite kernel"),
        (dict(ntk=torch.ones(3, 3).tril()), "a symmetric kernel"),
        (dict(y=torch.tensor([0.0, 1.0, 1.0]), loss=Logistic()), r"y holds 0.0 .*labels \+1 and -1"),
        (dict(y=torch.ones(3), loss=CrossEntropy()), "class labels"),
    ],
)
def test_bad_arguments_are_lessons(arguments, message):
    arguments = {"ntk": torch.eye(3), "y": torch.ones(3), **arguments}
    with pytest.raises(InputError, match=message):
        predict_from_kernel(arguments.pop("ntk"), arguments.pop("y"), **arguments)


def test_nan_targets_are_refused():
    with pytest.raises(NotFiniteError, match="y holds 1 numbers that are not finite"):
        predict_from_kernel(torch.eye(2), torch.tensor([1.0, float("nan")]))


@pytest.mark.parametrize("where", ["y", "y_test", "f0", "test"])
def test_complex_numbers_are_refused(where):
    given = {"y": torch.ones(2, 1), "test": torch.ones(1, 2), "y_test": torch.ones(1, 1), "f0": torch.zeros(2, 1)}
    given |= {"f0_test": torch.zeros(1, 1), where: given[where] * 1j}
    with pytest.raises(InputError, match=rf"predict_from_kernel\(ntk, y\): {where} holds torch.complex64"):
        predict_from_kernel(torch.eye(2), given.pop("y"), **given)


def test_a_kernel_that_couples_outputs_says_how_many_classes_there_are():
    """Three outputs, and labels of two classes: the third column of the one-hot targets is zero."""
    kernel = torch.einsum("ij,ab->ijab", torch.diag(torch.tensor([1.0, 2.0])), torch.eye(3)).double()
    run = predict_from_kernel(kernel, torch.tensor([0, 1]), times=[inf])
    assert_allclose(run.train[0], [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert predict_from_kernel(kernel, torch.tensor([0, 1]), times=[0.1], loss=CrossEntropy()).train.shape == (1, 2, 3)


def test_default_times_of_a_diverging_run_end_where_the_error_has_grown_a_million_times():
    """Rate 4 and lr 1: the error is tripled each step, a million takes log 1e6 / log 3 = 12.6 steps."""
    run = predict_from_kernel(4 * torch.eye(1), torch.ones(1), optimizer=SGD(1.0))
    assert run.times[0] == 0 and run.times[-1] == 13 and run.diverges
    slow = predict_from_kernel(4 * torch.eye(1), torch.ones(1), optimizer=SGD(0.501))
    assert_allclose(slow.times[-1], 100 * 0.501, rtol=1e-12)  # hardly grows: a hundred steps


def test_default_times_of_other_losses_are_four_decades_around_the_fastest_mode():
    K, alpha = torch.diag(torch.tensor([6.0, 2.0, 1.0], dtype=torch.float64)), 0.5
    run = predict_from_kernel(K, torch.tensor([1.0, -1.0, 1.0]), loss=Logistic(), penalty=alpha)
    rate = 6 / 3 + alpha
    assert run.times[0] == 0
    assert_allclose([run.times[1], run.times[-1]], [0.01 / rate, 1000 / rate], rtol=1e-12)
    zero = predict_from_kernel(torch.zeros(1, 1), torch.ones(1), loss=Logistic())
    assert zero.times.tolist() == [0.0, 1.0]


def test_the_flow_of_unequal_points_is_accurate_in_the_outputs():
    """One point each: f + exp(f) = 1 + f0 + K t / n with y = 1, for kernels that differ by six orders of magnitude."""
    sizes = torch.tensor([2e5, 0.2], dtype=torch.float64)
    run = predict_from_kernel(torch.diag(sizes), torch.ones(2), times=[0.5], loss=Logistic(), tolerance=1e-6)
    for f, size in zip(run.train[0].tolist(), sizes.tolist(), strict=True):
        assert abs(f + np.exp(f) - 1 - size * 0.5 / 2) < 1e-5 * (1 + np.exp(f))
