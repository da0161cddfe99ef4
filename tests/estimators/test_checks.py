"""scikit-learn's own battery, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from gnomon.estimators import KernelTransformer, NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor


@parametrize_with_checks([NTKRegressor(), NTKClassifier(), NNGPRegressor(), NNGPClassifier(), KernelTransformer()])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
