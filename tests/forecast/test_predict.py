"""The front door: modules, limits, kernels and matrices; what is exact is exact, and what is refused is told."""

import copy
import json

import matplotlib
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.core import InputError
from gnomon.data import sphere_points
from gnomon.dynamics import CrossEntropy, Squared
from gnomon.forecast import predict
from gnomon.training import SGD, Adam
from tests.forecast.networks import Wide
from tests.oracles.training import steps


def linear(outputs=2):
    """Linear in its parameters, and its outputs share some of them: the kernel couples outputs."""
    torch.manual_seed(5)
    features = nn.Linear(3, 7).double()
    shared = nn.Linear(7, outputs, bias=False).double()
    features.requires_grad_(False)

    class Coupled(nn.Module):
        def __init__(self):
            super().__init__()
            self.features, self.shared, self.common = features, shared, nn.Parameter(torch.randn(7).double())

        def forward(self, x):
            h = torch.tanh(self.features(x))
            return self.shared(h) + (h @ self.common)[:, None]

    return Coupled()


def points():
    return torch.randn(9, 3).double(), torch.randn(4, 3).double()


@pytest.mark.parametrize("momentum", [0.0, 0.8])
@pytest.mark.parametrize("classes", [False, True])
def test_a_model_linear_in_its_parameters_is_predicted_exactly(classes, momentum):
    (x, x_test), net, way = points(), linear(), SGD(0.2, momentum=momentum)
    y = torch.randint(0, 2, (9,)) if classes else torch.randn(9, 2).double()
    y_test = torch.zeros(4, dtype=torch.long) if classes else torch.randn(4, 2).double()  # a test part of one class
    run = gnomon.train(net, (x, y), test=(x_test, y_test), optimizer=way, steps=30, record=1, outputs=True)
    told = predict(net, (x, y), test=(x_test, y_test), optimizer=way, times=run.times)
    assert_allclose(told.train, run.train, atol=1e-10)
    assert_allclose(told.test, run.test, atol=1e-10)
    assert_allclose(told.loss, run.loss, rtol=1e-9)
    assert_allclose(told.test_loss, run.test_loss, rtol=1e-9)
    uncoupled = predict(net, (x, y), test=x_test, optimizer=way, times=run.times, outputs="trace")
    assert float((uncoupled.train - run.train).abs().max()) > 0.01 and "uncoupled" in str(uncoupled)
    if classes:
        assert torch.equal(told.accuracy, run.accuracy) and torch.equal(told.test_accuracy, run.test_accuracy)


def test_coupled_outputs_flow_like_the_parameters_for_cross_entropy():
    (x, x_test), net = points(), linear()
    y = torch.randint(0, 2, (9,))
    h, h_test = (torch.tanh(net.features(p)).detach() for p in (x, x_test))
    # both outputs as one vector: outputs (n, 2) = A theta with theta = (shared, common)
    phi = torch.stack([F.pad(h, (0, 14)) + F.pad(h, (14, 0)), F.pad(h, (7, 7)) + F.pad(h, (14, 0))], 1)
    theta0 = torch.cat([net.shared.weight.flatten(), net.common]).detach()

    def slope(theta):
        theta = theta.requires_grad_()
        return -torch.autograd.grad(F.cross_entropy(phi @ theta, y), theta)[0]

    theta, count = theta0.clone(), 400
    for _ in range(count):
        k1 = slope(theta.clone())
        k2 = slope(theta + k1 / count)
        k3 = slope(theta + k2 / count)
        k4 = slope(theta + 2 * k3 / count)
        theta = theta + (k1 + 2 * k2 + 2 * k3 + k4) / (3 * count)
    told = predict(net, (x, y), test=x_test, times=[2.0])
    assert_allclose(told.train[0], phi @ theta, atol=1e-6)


def test_the_module_stays_as_it_was_and_dropout_is_off():
    x, x_test = points()
    net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 1))
    before, state = copy.deepcopy(net.state_dict()), torch.get_rng_state()
    told = predict(net, (x, x[:, 0]), test=x_test)
    assert net.training and net[1].training and torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(before.values(), net.state_dict().values(), strict=True))
    assert net[0].weight.dtype == torch.float32 and told.train.dtype == torch.float64
    assert_allclose(told.train[0], copy.deepcopy(net).double().eval()(x).detach(), atol=1e-12)


def test_a_module_that_insists_on_its_dtype_is_taken_as_it_is():
    class Stubborn(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 1)

        def forward(self, x):
            return self.inner(x.float())

    (x, _), net, rate = points(), Stubborn(), 0.1
    y = x[:, :1] * x[:, 1:2]
    phi = torch.cat([x, torch.ones(9, 1).double()], 1)  # linear in its four parameters
    theta0 = torch.cat([net.inner.weight, net.inner.bias[:, None]], 1).detach().T
    path = steps(phi, y, theta0, rate, 30)
    told = predict(net, (x, y), optimizer=SGD(rate), times=[0.0, 10 * rate, 30 * rate])
    assert_allclose(told.train, phi.numpy() @ path[[0, 10, 30]], atol=1e-5)  # a hundred float32 roundings
    assert net.inner.weight.dtype == torch.float32


@pytest.mark.parametrize("own", [True, False])
def test_a_penalty_pulls_to_the_start_which_is_the_module_or_what_is_given(own):
    (x, x_test), net, rate = points(), nn.Linear(3, 1).double(), 0.2
    y = torch.randn(9, 1).double()
    phi, phi_test = (torch.cat([p, torch.ones(len(p), 1).double()], 1) for p in (x, x_test))
    theta0 = torch.cat([net.weight, net.bias[:, None]], 1).detach().T * (1 if own else 0)
    path = steps(phi, y, theta0, rate, 20, alpha=0.5)
    starts = {} if own else {"f0": torch.zeros(9, 1).double(), "f0_test": torch.zeros(4, 1).double()}
    told = predict(net, (x, y), test=x_test, optimizer=SGD(rate), times=[0.0, 20 * rate], penalty=0.5, **starts)
    assert_allclose(told.train, phi.numpy() @ path[[0, 20]], atol=1e-12)
    assert_allclose(told.test, phi_test.numpy() @ path[[0, 20]], atol=1e-12)


def test_limits_and_functions_are_kernels():
    x, x_test = points()
    y = x[:, 0] * x[:, 1]
    net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
    lim = gnomon.limit(net)
    K, between = lim.ntk(x), lim.ntk(x_test, x)
    wanted = gnomon.dynamics.predict_from_kernel(K, y, test=between, times=[1e-3, 1e-2])
    for told in (
        predict(lim, (x, y), test=x_test, times=[1e-3, 1e-2]),
        predict(lambda a, b: lim.ntk(a, b), (x, y), test=x_test, times=[1e-3, 1e-2]),
        predict(lim, (x.numpy(), y.numpy()), test=x_test.numpy(), times=[1e-3, 1e-2]),
    ):
        assert_allclose(told.train, wanted.train, atol=1e-12)
        assert_allclose(told.test, wanted.test, atol=1e-12)
    own = predict(net, (x, y), test=x_test, kernel="infinite", times=[1e-3, 1e-2])
    f0, f0_test = (net.double()(p).detach() for p in (x, x_test))
    wanted = gnomon.dynamics.predict_from_kernel(
        K, y[:, None], test=between, f0=f0, f0_test=f0_test, times=[1e-3, 1e-2]
    )
    assert_allclose(own.test, wanted.test, atol=1e-6)  # the module's own outputs before it was made float64
    assert "infinite width" in own.verdict


def test_classes_for_squared_loss_are_one_hot():
    (x, _), net = points(), linear(3)
    labels = torch.randint(0, 2, (9,))  # the third class is absent
    told = predict(net, (x, labels), loss=Squared(), times=[0.0, 1.0])
    table = predict(net, (x, F.one_hot(labels, 3).double()), times=[0.0, 1.0])
    assert_allclose(told.train, table.train)
    assert told.accuracy is not None
    assert predict(net, (x, labels), times=[0.0]).loss_name == CrossEntropy.name


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_steps_below_the_largest_converge_and_steps_above_diverge_as_predicted(factor):
    """The error starts along the first mode, so that (1 - step lambda)^2 multiplies the predicted loss at every step.

    Stability is local: with an error of size a the kernel moves by O(a) or less, and the measured loss is the predicted
    one up to a relative error that falls with a, at first order or faster.
    """
    x, net = sphere_points(8, 3, seed=3), Wide(512, seed=1)
    f0 = net(x).detach()[:, 0]
    first = torch.linalg.eigh(gnomon.ntk(net, x)).eigenvectors[:, -1]
    largest = predict(net, (x, f0), times=[0.0]).largest_lr
    way, sizes, gaps = SGD(factor * largest), (1e-3, 1e-4, 1e-5), []
    for size in sizes:
        y = f0 + size * first
        run = gnomon.train(net, (x, y), optimizer=way, steps=40, record=1)
        told = predict(net, (x, y), optimizer=way, times=run.times)
        assert told.diverges == run.diverges == (factor > 1)
        assert_allclose(told.loss[-1] / told.loss[0], (1 - 2 * factor) ** 80, rtol=1e-6)
        gaps.append(float((run.loss / told.loss - 1).abs().max()))
    assert np.polyfit(np.log(sizes), np.log(gaps), 1)[0] > 0.9, gaps
    assert gaps[-1] < 0.001  # at the smallest size the measured loss is multiplied by 106, or by 0.007, as predicted


def test_far_above_the_largest_step_a_linear_model_leaves_the_floats_and_both_say_so():
    (x, _), net = points(), linear()
    y = torch.randn(9, 2).double()
    way = SGD(3 * predict(net, (x, y), times=[0.0]).largest_lr)
    run = gnomon.train(net, (x, y), optimizer=way, steps=10**5)
    told = predict(net, (x, y), optimizer=way)
    assert run.stopped == "diverged" and told.diverges
    assert "diverged" in run.verdict and "it diverges" in told.verdict


def test_the_trajectory_draws_itself_beside_a_measured_run():
    matplotlib.use("Agg")
    (x, x_test), net = points(), linear()
    y, y_test = torch.randn(9, 2).double(), torch.randn(4, 2).double()
    run = gnomon.train(net, (x, y), test=(x_test, y_test), optimizer=SGD(0.1), steps=50)
    told = predict(net, (x, y), test=(x_test, y_test), optimizer=run.optimizer, times=run.times)
    axes = told.plot(measured=run)
    lines = {line.get_label(): line for line in axes.lines}
    assert set(lines) == {"predicted training", "predicted test", "measured training", "measured test"}
    assert_allclose(lines["measured training"].get_ydata(), run.loss[1:])
    assert_allclose(
        lines["predicted training"].get_ydata(), np.asarray(lines["measured training"].get_ydata()), rtol=1e-8
    )
    assert json.loads(json.dumps(told.to_dict()))["kernel"] == "its own kernel"
    matplotlib.pyplot.close("all")


def test_optimizers_of_training_are_understood_and_others_refused():
    (x, _), net = points(), linear()
    y = torch.randn(9, 2).double()
    assert predict(net, (x, y), optimizer=SGD(0.1)).optimizer == SGD(0.1)
    assert predict(net, (x, y), optimizer=SGD(0.1, momentum=0.5)).optimizer == SGD(0.1, momentum=0.5)
    with pytest.raises(InputError, match="the optimizer is Adam"):
        predict(net, (x, y), optimizer=Adam())
    with pytest.raises(InputError, match="without decay"):
        predict(net, (x, y), optimizer=SGD(0.1, decay=0.1))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda net, x, y: predict(net, x), "the data have no targets"),
        (lambda net, x, y: predict(x @ x.T, (x, y)), "Call gnomon.dynamics.predict_from_kernel"),
        (
            lambda net, x, y: predict(net, (x, y), kernel="wide"),
            "kernel must be one of 'empirical', 'infinite', but it is 'wide'",
        ),
        (
            lambda net, x, y: predict(net, (x, y), outputs="mean"),
            "outputs must be one of 'auto', 'full', 'trace', but it is 'mean'",
        ),
        (lambda net, x, y: predict(net, (x, y[:3])), "a target for each input"),
        (lambda net, x, y: predict(net, (x, torch.full((9,), 4))), "labels from 4 to 4"),
    ],
)
def test_bad_calls_are_lessons(call, message):
    x, _ = points()
    with pytest.raises(InputError, match=message):
        call(linear(), x, torch.randn(9, 2).double())
