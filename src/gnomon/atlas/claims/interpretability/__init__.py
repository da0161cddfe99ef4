"""Interpretability claims: which inputs, units, layers and frequencies networks use, and the information they keep."""
