"""Scikit-learn estimators based on infinitely wide networks and on scattering transforms.

Contains: scikit-learn regressors, classifiers and transformers on the NTK, the NNGP and scattering coefficients.
Does not contain: kernels and solvers themselves.
May import: core, decisions, dynamics, kernels, linalg, models, program, scattering.
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
