"""Rules: how kernels pass through layers, one layer family per file; ``base`` has their interface."""
