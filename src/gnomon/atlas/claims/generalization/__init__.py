"""Generalization claims: how well a model fitted to training data predicts new examples."""
