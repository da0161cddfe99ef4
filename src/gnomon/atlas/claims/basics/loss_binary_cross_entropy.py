"""The constant that minimizes the binary cross-entropy over 0-1 labels is the mean of the labels.

    L(p) = -mean(y) log p - (1 - mean(y)) log(1 - p),    L'(p) = 0  at  p = mean(y)                      (1)

p is the predicted probability and y are the labels.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Returns random labels, about a third of them 1."""
    return (np.random.default_rng(seed).random(n) < 0.35).astype(float)


def predicted(n, seed):
    """Returns the mean of the labels, and the loss of predicting this constant for all examples."""
    m = problem(n, seed).mean()
    return [m, -m * np.log(m) - (1 - m) * np.log(1 - m)]


def minimum(n, seed, loss):
    """Returns the constant prediction with the smallest loss, and this loss."""
    from scipy.optimize import minimize_scalar

    y = torch.from_numpy(problem(n, seed))
    found = minimize_scalar(
        lambda p: float(loss(torch.full_like(y, p), y)), bounds=(0, 1), method="bounded", options={"xatol": 1e-10}
    )
    return [found.x, found.fun]


observed = partial(minimum, loss=functional.binary_cross_entropy)  # torch's binary cross-entropy.
control = partial(minimum, loss=functional.l1_loss)  # Control: the mean absolute error, whose minimizer is the median.

CLAIM = Claim(
    id="loss-binary-cross-entropy",
    question="Which constant prediction minimizes the binary cross-entropy?",
    equation=r"\mathrm{argmin}_p\, -\frac1n \sum_i [y_i \log p + (1-y_i) \log(1-p)] = \bar y",
    axes=("minimizer, then smallest loss", "probability; loss"),
    source=Source("derived"),
    premises=(Premise("the loss is logarithmic"),),
    parameters={"n": 60},
    full={"n": 10_000},
    judge=equals(within=1e-6, because="near a minimum, losses within 1e-8 n of it differ by rounding only"),
    remark="Sometimes misprinted with the prediction in place of the label and with a plus before its second term.",
)
