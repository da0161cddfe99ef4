"""The best subset of columns of a least-squares problem, by trying all."""

from itertools import combinations

import numpy as np


def best_subset(columns, target, size):
    """The columns of the subset of a size with the smallest residual."""

    def left(subset):
        weights = np.linalg.lstsq(columns[:, list(subset)], target, rcond=None)[0]
        return np.linalg.norm(columns[:, list(subset)] @ weights - target)

    return min(combinations(range(columns.shape[1]), size), key=left)
