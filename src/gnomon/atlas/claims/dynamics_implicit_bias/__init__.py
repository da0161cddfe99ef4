"""Implicit bias claims: which of many solutions training finds, depending on start, step size, noise and network."""
