"""Runs the user's module, captures its layers and leaves it unchanged."""
