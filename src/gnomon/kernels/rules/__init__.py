"""Defines how kernels pass through layers, with one layer family per file; ``base`` has the interface."""
