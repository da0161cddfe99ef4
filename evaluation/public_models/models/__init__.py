"""Architectures that are published only as code, written again with the same interface and the same parameters."""
