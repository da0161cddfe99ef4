"""Runs the user's module, captures the outputs of its layers and copies it, without changing the original."""
