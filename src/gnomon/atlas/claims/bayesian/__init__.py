"""Bayesian claims: posteriors, Markov chains, Langevin dynamics and Gaussian processes."""
