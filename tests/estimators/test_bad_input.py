"""Bad input as scikit-learn's users expect it: refused with a reason, or handled without a fuss."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.estimators import KernelTransformer, NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor

REGRESSORS = (NTKRegressor, NNGPRegressor)
CLASSIFIERS = (NTKClassifier, NNGPClassifier)
EVERY = (*REGRESSORS, *CLASSIFIERS, KernelTransformer)


@pytest.fixture
def table():
    X = np.random.default_rng(0).normal(size=(20, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none(kind, bad, table):
    X, y = table
    model = kind().fit(X, y)
    X = X.copy()
    X[3, 1] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        kind().fit(X, y)
    with pytest.raises(ValueError, match="NaN|infinity"):
        getattr(model, "transform" if kind is KernelTransformer else "predict")(X)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_targets_that_are_none(kind, table):
    X, y = table
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(X, np.where(np.arange(20) == 3, np.nan, y))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class(kind, table):
    X, _ = table
    with pytest.raises(ValueError, match=r"one class, \['a'\] \(expected at least two classes\)"):
        kind().fit(X, ["a"] * 20)


@pytest.mark.parametrize("kind", EVERY)
def test_constant_columns_change_nothing_on_the_training_scale(kind, table):
    X, y = table
    # Constants that are no binary fractions: their mean is off by rounding, which must not become a feature.
    wide = np.column_stack([X, np.full(20, 0.1), np.full(20, 1e9 / 3)])
    read = "transform" if kind is KernelTransformer else "predict"
    options = {"n_components": 20, "random_state": 0} if kind is KernelTransformer else {}
    # A column of zeros widens the first layer: sums over features are divided by 5 in place of 3.
    plain, padded = kind(**options).fit(np.column_stack([X, np.zeros((20, 2))]), y), kind(**options).fit(wide, y)
    expected = getattr(plain, read)(np.column_stack([X, np.zeros((20, 2))]))
    np.testing.assert_allclose(getattr(padded, read)(wide), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_all_columns_constant_predicts_the_mean(kind):
    found = kind().fit(np.full((6, 2), 3.3), np.arange(6.0))
    np.testing.assert_allclose(found.predict([[3.3, 3.3]]), 2.5)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_one_row(kind):
    model = kind().fit([[1.0, 2.0]], [5.0])
    assert model.predict([[1.0, 2.0], [9.0, 9.0]]) == pytest.approx([5.0, 5.0])
    assert np.isfinite(model.predict([[1.0, 2.0], [9.0, 9.0]], return_std=True)[1]).all()
    assert model.selection_ is None


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_row_is_one_class(kind):
    with pytest.raises(ValueError, match="one class"):
        kind().fit([[1.0, 2.0]], [1])


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("ridge", ["auto", 0.0, 1e-3])
def test_duplicated_rows_with_different_targets_meet_in_the_middle(kind, ridge):
    X = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), 2, 0)
    found = kind(depth=2, ridge=ridge).fit(X, [1.0, 3.0, 4.0, 6.0, 7.0, 9.0])
    values = found.predict(X)
    np.testing.assert_allclose(values[::2], values[1::2], rtol=1e-9)
    if (
        ridge == 0.0
    ):  # coefficients of duplicates are large and cancel: a sum of n products is off by n roundings of them
        sums = np.abs(found.coefficients_).sum() * float(found.kernel_scale_) * float(np.max(found.target_scale_))
        allowed = len(X) * np.finfo(float).eps * sums
        assert allowed < 1e-3
        np.testing.assert_allclose(values[::2], [2.0, 5.0, 8.0], rtol=0, atol=max(allowed, 1e-9))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_duplicated_rows_with_different_labels_share_the_probability(kind):
    X = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0]]), 40, 0)
    y = np.repeat(["a", "b", "a", "b"], [30, 10, 10, 30])
    p = kind(depth=1).fit(X, y).predict_proba([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(p, [[0.75, 0.25], [0.25, 0.75]], atol=0.03)  # 2 / 82 of smoothing, and shrinkage


@pytest.mark.parametrize("kind", (*REGRESSORS, *CLASSIFIERS))
def test_weights(kind, table):
    X, y = table
    with pytest.raises(ValueError, match="negative values in sample_weight"):
        kind().fit(X, y, sample_weight=np.linspace(-1, 1, 20))
    with pytest.raises(ValueError, match="zero"):
        kind().fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match="sample_weight"):
        kind().fit(X, y, sample_weight=np.ones(19))


@pytest.mark.parametrize("options, words", [
    ({"depth": -1}, 'depth must be a whole number of at least 0 or "auto", but it is -1'),
    ({"depth": 2.5}, "depth must be .* but it is 2.5"),
    ({"depth": 1, "fixed_layers": 2}, "fixed_layers is 2 and depth is 1"),
    ({"activation": "step"}, "activation must be one of .* but it is 'step'"),
    ({"weight_std": -1.0}, "weight_std must be a finite number of at least 0, but it is -1.0"),
    ({"bias_std": "large"}, "bias_std must be .* but it is 'large'"),
    ({"scaling": "minmax"}, "scaling must be .* but it is 'minmax'"),
    ({"ridge": -1.0}, "ridge must be a number of at least 0, .* but it is -1.0"),
    ({"ridge": "small"}, "ridge must be .* but it is 'small'"),
    ({"select": "aic"}, "select must be .* but it is 'aic'"),
    ({"solver": "cholesky"}, "solver must be .* but it is 'cholesky'"),
    ({"t": -1.0}, "t must be None, .* but it is -1.0"),
    ({"t": 1.0, "select": "evidence"}, 't is 1.0 and select is "evidence"'),
    ({"network": 3}, "network must be None, an nn.Module, or a function .* but it is a int"),
    ({"network": lambda d: d}, "network must be .* but it returns a int"),
])  # fmt: skip
def test_options(options, words, table):
    with pytest.raises(InputError, match=words):
        NTKRegressor(**options).fit(*table)


def test_options_of_the_others(table):
    with pytest.raises(InputError, match='amplitude must be a number above 0 or "auto", but it is 0'):
        NNGPRegressor(amplitude=0).fit(*table)
    with pytest.raises(InputError, match="kind must be .* but it is 'rbf'"):
        KernelTransformer(kind="rbf").fit(*table)
    with pytest.raises(InputError, match="n_components must be a whole number of at least 1, but it is 0"):
        KernelTransformer(0).fit(*table)
    with pytest.raises(InputError, match="depth must be a whole number of at least 0, but it is 'auto'"):
        KernelTransformer(depth="auto").fit(*table)


def test_splits_that_name_rows_without_weight(table):
    X, y = table
    weights = np.where(np.arange(20) < 5, 0.0, 1.0)
    folds = [(np.arange(10), np.arange(10, 20))]
    with pytest.raises(InputError, match="the splits contain row 19, but only 15 rows have a positive weight"):
        NTKRegressor(select=folds).fit(X, y, sample_weight=weights)
