"""Bayesian inference: samplers of any log density and of any module with a prior, and how far to trust them.

Here live the samplers (`samplers`, one file each), the record of their draws with its diagnostics, posteriors of
modules, predictions with their uncertainty, and Laplace's approximation. Gaussian processes of infinitely wide networks
are in `gnomon.dynamics` and `gnomon.estimators`. It may import the rooms of the ground floor and the cellar.
"""

from gnomon.bayes.density import Density
from gnomon.bayes.diagnostics import burn_in, effective_sample_size, r_hat
from gnomon.bayes.draws import Draws
from gnomon.bayes.laplace import Laplace, laplace
from gnomon.bayes.posterior import ModulePosterior, module_posterior, prior_to_weight_decay
from gnomon.bayes.predictive import Predictive, predictive
from gnomon.bayes.sample import sample
from gnomon.bayes.samplers import HMC, Langevin, Metropolis, StochasticGradient

__all__ = [
    "HMC",
    "Density",
    "Draws",
    "Langevin",
    "Laplace",
    "Metropolis",
    "ModulePosterior",
    "Predictive",
    "StochasticGradient",
    "burn_in",
    "effective_sample_size",
    "laplace",
    "module_posterior",
    "predictive",
    "prior_to_weight_decay",
    "r_hat",
    "sample",
]
