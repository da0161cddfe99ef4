"""Runs a user's training script unchanged and records what its training loop does (`gnomon watch`)."""
