"""Turns a record of the user's training loop into findings."""
