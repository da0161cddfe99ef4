"""Second floor: infinitely wide networks as scikit-learn estimators.

Lives here: regressors and classifiers on the NTK and NNGP of a network, and its Nystrom features as a transformer;
scattering coefficients as a transformer and under a classifier; kernels of wide networks for Gaussian processes.
Does not live here: kernels, solvers, training in function space; they come from the rooms below.
May import: core, program, linalg, models, kernels, dynamics, scattering; torch, numpy, scipy, scikit-learn.
The room is imported when it is first asked for, so that ``import gnomon`` does not import scikit-learn.
"""

from gnomon.estimators.nngp import NNGPClassifier, NNGPRegressor
from gnomon.estimators.ntk import NTKClassifier, NTKRegressor
from gnomon.estimators.process import NetworkGPKernel, gpytorch_kernel
from gnomon.estimators.scattering import ScatteringClassifier, ScatteringTransformer
from gnomon.estimators.transformer import KernelTransformer

__all__ = [
    "KernelTransformer",
    "NetworkGPKernel",
    "NNGPClassifier",
    "NNGPRegressor",
    "NTKClassifier",
    "NTKRegressor",
    "ScatteringClassifier",
    "ScatteringTransformer",
    "gpytorch_kernel",
]
