"""Checks of the network: signals, dead units, connections, normalization, train and eval mode."""
