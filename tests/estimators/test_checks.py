"""scikit-learn's own battery, without exceptions: one estimator of each kind in every run, the others in the full one."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gnomon.estimators import (
    KernelTransformer,
    NNGPClassifier,
    NNGPRegressor,
    NTKClassifier,
    NTKRegressor,
    ScatteringClassifier,
    ScatteringTransformer,
)

MACHINES = (NTKRegressor, NTKClassifier, NNGPRegressor, NNGPClassifier)


@parametrize_with_checks([NTKClassifier(depth=1), NNGPRegressor(depth=1), KernelTransformer(), ScatteringTransformer()])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([NNGPClassifier(depth=1), NTKRegressor(depth=1), ScatteringClassifier()])
def test_scikit_learn_is_content_with_the_others(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([kind() for kind in MACHINES])
def test_scikit_learn_is_content_with_the_defaults(estimator, check):
    check(estimator)
