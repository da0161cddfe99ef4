"""The operations of compiled programs, each number once; compiled loops take them in as constants."""

AFFINE, KINK, TRAINED, ERF, SIGN, NORMALIZE, DROPOUT, SCALE, ADD = range(1, 10)
"""On single numbers, and on every entry of a plane."""
DATA, FETCH, CONV, POOL, FLAT = range(10, 15)
"""On planes of displacements alone."""
SERIES = 15
"""A dual as a power series, on both."""
RECTIFIED = 16
"""A ReLU and the affine layer after it in one pass, on single numbers."""
