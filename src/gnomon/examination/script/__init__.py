"""Runs a user's training script unchanged and records what its loop does (`gnomon watch`)."""
