"""Which dtype comes back, as docs/notation.md says it: it does not depend on that of the inputs."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import dynamics, tangent
from gnomon.estimators import NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.linalg.solve import DirectSolver
from gnomon.training import SGD, Squared

DTYPES = (torch.float32, torch.float64)


def network(dtype):
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2)).to(dtype)


def points(dtype):
    x = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    return x.to(dtype), torch.arange(9) % 2


@pytest.mark.parametrize("inputs", DTYPES)
@pytest.mark.parametrize("module", DTYPES)
def test_what_comes_back(module, inputs):
    net, (x, y) = network(module), points(inputs)
    lim = gnomon.limit(net)
    guess = gnomon.sampled_limit(net, draws=2)(x)
    doubles = [lim.ntk(x), lim.nngp(x), lim(x, x).ntk, guess.ntk, guess.nngp_error]
    k = lim.ntk(x)
    told = gnomon.predict(net, (x, y), test=(x, y), times=[1.0])
    doubles += [told.train, told.test, told.loss, told.test_loss, told.accuracy, told.times]
    told = gnomon.predict(lim, (x, y), times=[1.0])
    doubles += [
        told.train,
        dynamics.predict_from_kernel(k.to(inputs), y).train,
        dynamics.gp_posterior(k.to(inputs), y).mean,
    ]
    doubles += [
        tangent.kernel_spectrum(k.to(inputs), y).values,
        DirectSolver().solve(k.to(inputs), y, ridge=0.1).coefficients,
    ]
    run = gnomon.train(net, (x, y), steps=2, outputs=True, optimizer=SGD(0.1))
    doubles += [run.loss, run.accuracy, run.times]
    assert {t.dtype for t in doubles} == {torch.float64}
    asked = gnomon.limit(net, dtype=torch.float32)
    assert asked.ntk(x).dtype == asked.nngp(x).dtype == torch.float32
    own = [gnomon.ntk(net, x), gnomon.linearize(net)(x.to(module)), run.train, next(run.model.parameters())]
    assert {t.dtype for t in own} == {module}
    assert isinstance(tangent.alignment(k, y), float)
    assert gnomon.train(net, (x, x[:, :2]), loss=Squared(), steps=1).loss.dtype == torch.float64


@pytest.mark.parametrize("inputs", (np.float32, np.float64))
@pytest.mark.parametrize("labels", (np.array([3, 7]), np.array(["a", "b"])))
def test_estimators(inputs, labels):
    x, y = (t.numpy() for t in points(torch.float64))
    x = x.astype(inputs)
    for kind in (NTKRegressor, NNGPRegressor):
        assert kind().fit(x, x[:, 0]).predict(x).dtype == np.float64
    found = NTKClassifier().fit(x, labels[y])
    assert found.predict(x).dtype == labels.dtype and found.decision_function(x).dtype == np.float64


def test_data_are_float32_as_torch_makes_modules():
    split = gnomon.data.digits(20, 10)
    assert split.x.dtype == split.x_test.dtype == torch.float32 and split.y.dtype == torch.int64
    assert nn.Linear(64, 10)(split.x.flatten(1)).shape == (20, 10)
    assert torch.equal(split.x * 16, (split.x * 16).round())  # sixteenths are exact in float32
    assert gnomon.data.sphere_points(2, 3).dtype == torch.float64
