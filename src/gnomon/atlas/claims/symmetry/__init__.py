"""Claims about symmetry: invariance and equivariance under groups of transformations."""
