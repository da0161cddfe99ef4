"""Posteriors, Markov chains, Langevin dynamics, Gaussian processes."""
