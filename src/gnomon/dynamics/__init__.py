"""Given a Gram matrix, what will training do?

Contains: gradient flow, descent and momentum for any loss, modes of a kernel, early stopping, ensembles, posteriors.
Does not contain: networks; kernels are passed as matrices.
May import: core, findings, linalg, training.
"""

from gnomon.core.losses import AbstractLoss, CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.dynamics.ensemble import Ensemble, ensemble
from gnomon.dynamics.error_decay import AbstractErrorDecay, Flow, error_decay
from gnomon.dynamics.modes import Modes, modes
from gnomon.dynamics.posterior import Posterior, posterior
from gnomon.dynamics.predict import predict_from_kernel
from gnomon.dynamics.stopping import Stopping, stopping
from gnomon.dynamics.trajectory import Trajectory

__all__ = [
    "AbstractErrorDecay",
    "AbstractLoss",
    "CrossEntropy",
    "Ensemble",
    "Exponential",
    "Flow",
    "Hinge",
    "Logistic",
    "Modes",
    "Posterior",
    "Squared",
    "Stopping",
    "Trajectory",
    "ensemble",
    "error_decay",
    "modes",
    "posterior",
    "predict_from_kernel",
    "stopping",
]
