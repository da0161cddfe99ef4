"""Lists the integer codes of the operations that compiled kernel loops can run."""

AFFINE, KINK, TRAINED, ERF, SIGN, NORMALIZE, DROPOUT, SCALE, ADD = range(1, 10)
"""Operations on single numbers, and on every entry of a plane."""
DATA, FETCH, CONV, POOL, FLAT = range(10, 15)
"""Operations on displacement planes only."""
SERIES = 15
"""A dual as a power series, on numbers and planes."""
RECTIFIED = 16
"""A ReLU and the affine layer after it in one pass, on single numbers."""
