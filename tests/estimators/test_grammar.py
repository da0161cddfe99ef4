"""scikit-learn's grammar beyond its battery: frames, pipelines, searches, pickles, networks of one's own."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from torch import nn

import gnomon
from gnomon.estimators import KernelTransformer, NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.estimators.problem import WeightedKernel
from gnomon.estimators.table import TableRows
from gnomon.linalg.solve import NystromSolver


@pytest.fixture
def table():
    X = np.random.default_rng(0).normal(size=(40, 4))
    return X, X[:, 0] ** 2 + X[:, 1]


def test_the_room_is_reached_from_the_front_door():
    assert gnomon.estimators.NTKRegressor is NTKRegressor


def test_frames_and_strings(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = pd.Series(np.where(y > 1, "high", "low"))
    model = NTKClassifier(depth=1).fit(frame, labels)
    assert model.feature_names_in_.tolist() == list("abcd") and set(model.predict(frame)) <= {"high", "low"}
    np.testing.assert_allclose(model.predict_proba(frame), NTKClassifier(depth=1).fit(X, labels).predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("dcba")])
    names = KernelTransformer(3, random_state=0).fit(frame).get_feature_names_out().tolist()
    assert names == ["kerneltransformer0", "kerneltransformer1", "kerneltransformer2"]


def test_pipelines_and_searches(table):
    X, y = table
    pipe = make_pipeline(PolynomialFeatures(2), NTKRegressor(depth=1))
    search = GridSearchCV(pipe, {"ntkregressor__ridge": [1e-3, 1e3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"ntkregressor__ridge": 1e-3}
    features = make_pipeline(KernelTransformer(40, random_state=0), Ridge(1e-3, fit_intercept=False))
    exact = NTKRegressor(depth=2, ridge=1e-3 / scale(X)).fit(X, y)
    centered = y - y.mean()
    np.testing.assert_allclose(features.fit(X, centered).predict(X), exact.predict(X) - y.mean(), atol=1e-6)


def scale(X):
    return NTKRegressor(depth=2).fit(X, X[:, 0]).kernel_scale_


@pytest.mark.parametrize("model", [
    NTKRegressor(solver=NystromSolver(10)), NNGPRegressor(), NTKClassifier(t=3.0), NNGPClassifier(activation=nn.LeakyReLU), KernelTransformer(5),
    NTKRegressor(network=nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))),
])  # fmt: skip
def test_clones_and_pickles(model, table):
    X, y = table
    target = (y > 1).astype(int) if hasattr(model, "predict_proba") else y
    fitted = clone(model).fit(X, target)
    back = pickle.loads(pickle.dumps(fitted))
    read = "transform" if isinstance(model, KernelTransformer) else "predict"
    np.testing.assert_array_equal(getattr(back, read)(X), getattr(fitted, read)(X))


def test_the_learned_state_is_the_rows_and_little_more():
    X = np.random.default_rng(0).normal(size=(500, 20))
    model = NTKRegressor(depth=3, ridge=0.1).fit(X, X[:, :2])
    # 500 rows of 20 features, 2 coefficients and a weight; the rest, the network included, fits into a few pages
    assert len(pickle.dumps(model)) < 500 * 23 * 8 + 20_000


def test_networks_of_ones_own(table):
    X, y = table
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    wanted = NTKRegressor(depth=2, ridge=0.01).fit(X, y).predict(X)
    for network in (
        net,
        lambda d: nn.Sequential(nn.Linear(d, 3), nn.ReLU(), nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1)),
    ):
        np.testing.assert_allclose(NTKRegressor(network=network, ridge=0.01).fit(X, y).predict(X), wanted, rtol=1e-9)
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items()) and net.training
    image = nn.Sequential(
        nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 4, 2, padding=1), nn.GELU(), nn.Flatten(), nn.Linear(36, 1)
    )
    assert NTKRegressor(network=image).fit(X, y).score(X, y) > 0.5


def test_outputs_are_independent(table):
    X, y = table
    both = np.stack([y, -(y**2)], 1)
    joint = NTKRegressor(depth=2, ridge=0.01).fit(X, both).predict(X)
    for j in range(2):
        np.testing.assert_allclose(joint[:, j], NTKRegressor(depth=2, ridge=0.01).fit(X, both[:, j]).predict(X))


def test_a_sphere_forgets_the_size_of_inputs(table):
    X, y = table
    model = NTKRegressor(depth=2, ridge=0.01, scaling="sphere").fit(X, y)
    far = model.scaling_.mean + 10 * (X - model.scaling_.mean)
    np.testing.assert_allclose(model.predict(far), model.predict(X), rtol=1e-8)
    assert np.abs(NTKRegressor(depth=2, ridge=0.01, scaling=None).fit(X, y).points_ - X).max() == 0


def test_features_have_the_kernel_as_inner_products(table):
    X, _ = table
    for kind in ("ntk", "nngp"):
        model = KernelTransformer(12, kind=kind, depth=3, random_state=1).fit(X)
        phi, centers = model.transform(X), torch.from_numpy(model.components_)
        x = torch.from_numpy(model.scaling_(X))
        K, across = model.kernel_(x).numpy(), model.kernel_(x, centers).numpy()
        nystrom = across @ np.linalg.solve(model.kernel_(centers).numpy(), across.T)
        np.testing.assert_allclose(phi @ phi.T, nystrom, rtol=1e-7, atol=1e-9)
        assert np.linalg.eigvalsh(K - nystrom).min() > -1e-9  # what is missing is a kernel
    assert KernelTransformer(100).fit(X).transform(X).shape == (40, 40)


def test_the_kernel_travels_to_other_processes(table):
    X, _ = table
    x = torch.from_numpy(X)
    rows = TableRows(x, x[:, :1], torch.full((40,), 2.0, dtype=torch.float64))
    kernel = WeightedKernel(NTKRegressor(depth=2).fit(X, X[:, 0]).kernel_, rows)
    some, others = torch.arange(5), torch.tensor([7, 3])
    whole = 2 * kernel.kernel(x)  # D K D with D = sqrt(2)
    torch.testing.assert_close(pickle.loads(pickle.dumps(kernel))(some, others), whole[some][:, others])
    torch.testing.assert_close(WeightedKernel(kernel.kernel, rows, whole / 2)(some, others), whole[some][:, others])
