"""Checks on the network: signals, activity, wiring, normalization, modes."""
