"""Neurons, perceptrons, linear models, losses: the beginnings."""
