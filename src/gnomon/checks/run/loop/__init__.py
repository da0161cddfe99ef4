"""Finds mistakes in the user's training loop, from a record of its run."""
