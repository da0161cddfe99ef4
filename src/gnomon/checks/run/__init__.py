"""Checks on a training run: outcome, learning rate, weight decay, divergence."""
