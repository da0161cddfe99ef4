"""Runs the user's module, captures the outputs of its layers, copies it, and leaves the original unchanged."""
