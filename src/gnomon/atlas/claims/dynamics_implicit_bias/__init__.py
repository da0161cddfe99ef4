"""Implicit bias claims: which of many solutions training finds, depending on start, steps, noise and architecture."""
