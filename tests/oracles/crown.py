"""Linear bounds of a dense relu network, in numpy, one example and one output at a time, layer after layer."""

import numpy as np


def lower(weights, biases, x, eps, norm, row, low=-1e9, high=1e9):
    """A lower bound of row . f over the ball, with bounds of hidden units by the same means from the first layer on."""
    boxes = []
    for depth in range(len(weights) - 1):
        size = len(weights[depth])
        ends = [[_down(weights[: depth + 1], biases[: depth + 1], boxes, x, eps, norm, s * np.eye(size)[u], low, high) * s
                 for s in (1, -1)] for u in range(size)]  # fmt: skip
        boxes.append(np.array(ends))
    return _down(weights, biases, boxes, x, eps, norm, row, low, high)


def _down(weights, biases, boxes, x, eps, norm, row, low, high):
    a, total = row @ weights[-1], row @ biases[-1]
    for w, b, box in zip(weights[-2::-1], biases[-2::-1], boxes[::-1], strict=True):
        for u, (lo, hi) in enumerate(box):
            if lo >= 0:
                continue
            if hi <= 0:
                a[u] = 0
            elif a[u] >= 0:
                a[u] *= float(hi > -lo)
            else:
                slope = hi / (hi - lo)
                total, a[u] = total - a[u] * slope * lo, a[u] * slope
        total, a = total + a @ b, a @ w
    left, right = np.clip(x - eps, low, high), np.clip(x + eps, low, high)
    box = np.minimum(a * left, a * right).sum()
    return total + (box if norm == "inf" else max(box, a @ x - eps * np.linalg.norm(a)))
