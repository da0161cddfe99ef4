"""Bayesian inference for networks: Markov chain samplers and diagnostics, predictive uncertainty, Laplace
approximation.

Contains: samplers of any log density and of modules, their diagnostics, predictive uncertainty, Laplace
approximation.
Does not contain: Gaussian processes of wide networks (`gnomon.dynamics`, `gnomon.estimators`).
May import: adapter, core, findings, training.
"""

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.diagnostics import effective_sample_size, r_hat
from gnomon.bayes.dropout import dropout_predictive
from gnomon.bayes.ensemble import deep_ensemble
from gnomon.bayes.laplace import laplace
from gnomon.bayes.posterior import module_posterior
from gnomon.bayes.predictive import posterior_predictive
from gnomon.bayes.sample import sample_posterior
from gnomon.bayes.samplers import HMC, Langevin, Metropolis, StochasticGradientSampler

__all__ = [
    "LogDensityWithGradient",
    "HMC",
    "Langevin",
    "Metropolis",
    "StochasticGradientSampler",
    "deep_ensemble",
    "dropout_predictive",
    "effective_sample_size",
    "laplace",
    "module_posterior",
    "posterior_predictive",
    "r_hat",
    "sample_posterior",
]
