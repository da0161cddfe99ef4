"""scikit-learn's own battery, without exceptions: at one depth in every run, with everything "auto" in the full one."""

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


@parametrize_with_checks(
    [*(kind(depth=1) for kind in MACHINES), KernelTransformer(), ScatteringTransformer(), ScatteringClassifier()]
)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([kind() for kind in MACHINES])
def test_scikit_learn_is_content_with_the_defaults(estimator, check):
    check(estimator)
