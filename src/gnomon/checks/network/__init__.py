"""Checks of the network: signals, dead units, connections, normalization, training and eval mode."""
