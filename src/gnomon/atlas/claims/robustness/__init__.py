"""Robustness claims: how far an input must move until a decision changes, and attacks, bounds and defenses."""
