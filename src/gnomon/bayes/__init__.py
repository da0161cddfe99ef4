"""How uncertain is the network, given a prior?

Contains: samplers of any log density and of modules, their diagnostics, predictive uncertainty, Laplace
approximation.
Does not contain: Gaussian processes of wide networks (`gnomon.dynamics`, `gnomon.estimators`).
May import: core, findings, training.
"""

from gnomon.bayes.density import Density
from gnomon.bayes.diagnostics import burn_in, effective_sample_size, r_hat
from gnomon.bayes.draws import Draws
from gnomon.bayes.dropout import DropoutPredictive, dropout_predictive
from gnomon.bayes.ensemble import Ensemble, deep_ensemble
from gnomon.bayes.laplace import Laplace, laplace
from gnomon.bayes.posterior import ModulePosterior, module_posterior, prior_to_weight_decay
from gnomon.bayes.predictive import Predictive, predictive
from gnomon.bayes.sample import sample
from gnomon.bayes.samplers import HMC, Langevin, Metropolis, StochasticGradient

__all__ = [
    "Density",
    "Draws",
    "Ensemble",
    "DropoutPredictive",
    "HMC",
    "Langevin",
    "Laplace",
    "Metropolis",
    "ModulePosterior",
    "Predictive",
    "StochasticGradient",
    "burn_in",
    "deep_ensemble",
    "dropout_predictive",
    "effective_sample_size",
    "laplace",
    "module_posterior",
    "predictive",
    "prior_to_weight_decay",
    "r_hat",
    "sample",
]
