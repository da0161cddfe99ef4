"""Checks of a training run: outcome, learning rate, weight decay, divergence."""
