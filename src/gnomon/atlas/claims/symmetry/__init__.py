"""Symmetry claims: invariance and equivariance under groups of transformations."""
