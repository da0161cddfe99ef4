"""Robustness claims: how far an input must move before a decision changes, attacks, bounds and defenses."""
