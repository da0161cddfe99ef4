"""Invariance and equivariance under groups."""
