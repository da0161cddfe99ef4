"""Predicts the course of gradient descent training from a kernel matrix, without training.

Contains: gradient flow, descent and momentum for any loss, modes of a kernel, early stopping, ensembles, posteriors.
Does not contain: networks; kernels are passed as matrices.
May import: core, findings, linalg, training.
"""

from gnomon.core.losses import CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.dynamics.ensemble import kernel_ensemble
from gnomon.dynamics.error_decay import GradientFlow, error_decay
from gnomon.dynamics.modes import training_modes
from gnomon.dynamics.posterior import gp_posterior
from gnomon.dynamics.predict import predict_from_kernel
from gnomon.dynamics.stopping import equivalent_stopping_time

__all__ = [
    "CrossEntropy",
    "Exponential",
    "GradientFlow",
    "Hinge",
    "Logistic",
    "Squared",
    "kernel_ensemble",
    "error_decay",
    "training_modes",
    "gp_posterior",
    "predict_from_kernel",
    "equivalent_stopping_time",
]
