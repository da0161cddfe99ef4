"""Leave-one-out ridge regression, the simple model that several checks use as a baseline.

With the features F of the examples that it is fitted to, and their targets y, both centered,

    f = F w,  w = (F^T F + r)^-1 F^T y,    v_i = y_i + (f_i - y_i) / (1 - H_ii),    H = F (F^T F + r)^-1 F^T   (1)

v_i is what the fit to all other examples says of example i; for examples it was not fitted to, v is f. The ridge r is
the one with the least squared error of (1).

Hypotheses: more examples than features, or a ridge.
Reference: [hastie2009elements], section 7.10.

>>> x = torch.arange(6.0).double()[:, None]
>>> v = leave_one_out_ridge_predictions(x, 2 * x + 1, torch.arange(6))  # a line, told from five of its points
>>> bool((v - 2 * x - 1).abs().max() < 1e-3)
True
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

__all__ = ["leave_one_out_ridge_predictions"]

RIDGES = torch.logspace(-6, 0, 7, dtype=torch.float64)
"""Candidates for the ridge, in units of the largest eigenvalue of F^T F."""


def leave_one_out_ridge_predictions(
    features: Float[Tensor, "n d"], table: Float[Tensor, "n k"], index: Int[Tensor, " m"]
) -> Float[Tensor, "n k"]:
    """Fits ridge regression to some examples; returns leave-one-out predictions for them and normal predictions for the
    others.

    See equation (1) of the module docstring.
    Hypotheses: as above.
    Reference: [hastie2009elements].
    Cost: an eigendecomposition of d features, and m d^2 multiplications.

    >>> leave_one_out_ridge_predictions(torch.zeros(2, 1).double(), torch.tensor([[0.0], [2.0]]).double(),
    ...     torch.arange(1)).tolist()  # the mean
    [[0.0], [0.0]]
    """
    center, mean = features[index].mean(0), table[index].mean(0)
    f, y = features - center, table - mean
    values, vectors = torch.linalg.eigh(f[index].mT @ f[index])
    turned = f[index] @ vectors
    target = turned.mT @ y[index]
    top = values[-1].clamp_min(1e-300)
    best, chosen = torch.inf, RIDGES[-1]
    for ridge in RIDGES:
        scale = 1 / (values.clamp_min(0) + ridge * top)
        own = (turned.square() * scale).sum(1, keepdim=True) + 1 / len(index)
        error = float((((turned * scale) @ target - y[index]) / (1 - own).clamp_min(1e-9)).square().mean())
        if error < best:
            best, chosen = error, ridge
    scale = 1 / (values.clamp_min(0) + chosen * top)
    v = (f @ vectors * scale) @ target
    own = (turned.square() * scale).sum(1, keepdim=True) + 1 / len(index)
    v[index] = y[index] + (v[index] - y[index]) / (1 - own).clamp_min(1e-9)  # (1)
    return v + mean
