"""First floor: what training will do, told from a kernel before it happens.

Lives here: gradient flow, descent and momentum for any loss, the modes of a kernel, early stopping, ensembles.
Does not live here: networks; a kernel comes in as a matrix, from wherever it was computed.
May import: core, linalg, training (its record, drawn beside the predicted one); torch, numpy; scipy and matplotlib
inside the functions that need them.
Losses are means over points and time is learning rate times steps: ``predict`` says it once, with the equations.
"""

from gnomon.core.losses import AbstractLoss, CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.dynamics.ensemble import Ensemble, Posterior, ensemble, posterior
from gnomon.dynamics.modes import Modes, modes
from gnomon.dynamics.optimizers import AbstractOptimizer, Descent, Flow, Momentum
from gnomon.dynamics.predict import predict
from gnomon.dynamics.stopping import Stopping, stopping
from gnomon.dynamics.trajectory import Trajectory

__all__ = [
    "AbstractLoss",
    "AbstractOptimizer",
    "CrossEntropy",
    "Descent",
    "Ensemble",
    "Exponential",
    "Flow",
    "Hinge",
    "Logistic",
    "Modes",
    "Momentum",
    "Posterior",
    "Squared",
    "Stopping",
    "Trajectory",
    "ensemble",
    "modes",
    "posterior",
    "predict",
    "stopping",
]
