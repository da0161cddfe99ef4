"""Interpretability claims: which inputs, units, layers and frequencies a network uses, and the information it keeps."""
