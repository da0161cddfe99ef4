"""Markov chain samplers, one in each file; all chains run in parallel as one batch."""

from gnomon.bayes.samplers.base import AbstractSampler
from gnomon.bayes.samplers.hmc import HMC
from gnomon.bayes.samplers.langevin import Langevin
from gnomon.bayes.samplers.metropolis import Metropolis
from gnomon.bayes.samplers.stochastic import StochasticGradientSampler

__all__ = ["HMC", "AbstractSampler", "Langevin", "Metropolis", "StochasticGradientSampler"]
