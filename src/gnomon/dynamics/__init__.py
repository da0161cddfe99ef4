"""Dynamics: what training will do, predicted from a kernel.

Lives here: gradient flow, descent and momentum for any loss, the modes of a kernel, early stopping, ensembles.
Does not live here: networks; kernels are passed as matrices.
May import: core, linalg, training; torch, numpy; scipy inside the functions that need it.
Losses are means over points and time is learning rate times steps: see the equations of ``predict_from_kernel``.
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
