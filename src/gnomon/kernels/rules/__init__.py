"""Computes how kernels change from layer to layer, with one family of layers per file; ``base`` has the interface."""
