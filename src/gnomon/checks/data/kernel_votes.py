"""Predicts each label from similar examples by leave-one-out kernel regression.

With the kernel K of m examples, their targets y (centered) and a ridge r,

    k(x, z) = exp(-|x - z| / s),    s the mean distance of two examples                                          (1)
    v_i = y_i - (A y)_i / A_ii,     A = (K + r)^-1                                                               (2)

v_i is what the fit to all other examples says of example i, exactly. r is the one with the least squared error of (2)
on some of the examples. More than ``most`` examples are fitted in parts; each part votes on itself by (2) and on the
next one, and the two votes are averaged.

Hypotheses: numbers of an example that are on one scale; rows with similar targets are near.
Reference: [rasmussen2006gaussian], section 5.4.2, for (2); [zhang2015divide] for fits in parts.

>>> x = torch.arange(200.0)[:, None]
>>> v = leave_one_out_kernel_predictions(x, (x > 99).double())
>>> round(float(((v > 0.5) == (x > 99)).double().mean()), 1)                  # all but next to the border
1.0
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_seed

__all__ = ["leave_one_out_kernel_predictions"]

EXAMPLES_PER_FIT = 2500
"""Number of examples fitted at once."""
RIDGE_EXAMPLES = 600
"""Examples on which the ridge is chosen."""
RIDGES = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidates for the ridge; the kernel is one on the diagonal."""


@add_call_to_errors
def leave_one_out_kernel_predictions(
    x: Float[Tensor, "n p"],
    table: Float[Tensor, "n k"],
    *,
    seed: int = 0,
    examples_per_fit: int = EXAMPLES_PER_FIT,
    max_fitted: int | None = None,
) -> Float[Tensor, "n k"]:
    """Predicts the target of every example from the other examples, by kernel ridge regression.

    See equation (2) of the module docstring.
    ``examples_per_fit`` examples are fitted at once: fewer are faster but less accurate. With ``max_fitted``, only this
    number of examples are fitted, and the rest are predicted by the mean of all fits.

    Hypotheses: as above.
    Reference: [rasmussen2006gaussian].
    Cost: a Cholesky inverse for each ``examples_per_fit`` examples: a second on one core for 2500, 0.1 for 1000.

    >>> x, y = torch.tensor([[0.0], [0.0], [9.0], [9.0]]), torch.tensor([[0.0], [1.0], [5.0], [5.0]])
    >>> leave_one_out_kernel_predictions(x, y)[:2].argmax().item()  # the second decides about the first
    0
    """
    generator = torch.Generator().manual_seed(check_seed(seed))
    n = len(x) if max_fitted is None else max_fitted
    # Double precision, because the distance between nearly equal rows loses all digits in float32.
    order, x = torch.randperm(n, generator=generator), x.double()
    parts = order.tensor_split(-(-n // examples_per_fit))
    few = x[order[:RIDGE_EXAMPLES]]
    scale = float(torch.cdist(few, few).mean()) or 1.0
    ridge = _ridge(_kernel(few, few, scale), table[order[:RIDGE_EXAMPLES]])
    votes = torch.zeros(table.shape, dtype=torch.float64)
    for j, part in enumerate(parts):
        y, mean = table[part].double(), table[part].double().mean(0)
        k = _kernel(x[part], x[part], scale)
        k.diagonal().add_(ridge)
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(k))
        weights = inverse @ (y - mean)
        votes[part] += y - weights / inverse.diagonal()[:, None]  # (2)
        if len(parts) > 1:
            after = parts[(j + 1) % len(parts)]
            votes[after] += _kernel(x[after], x[part], scale) @ weights + mean
        votes[n:] += (_kernel(x[n:], x[part], scale) @ weights + mean) * min(2, len(parts)) / len(parts)
    return votes / min(2, len(parts))


def _kernel(a: Tensor, b: Tensor, scale: float) -> Tensor:
    return torch.exp(-torch.cdist(a, b) / scale)  # (1)


def _ridge(kernel: Tensor, table: Tensor) -> float:
    """Chooses the ridge penalty of kernel regression with the smallest leave-one-out error.

    See equation (2) of the module docstring.
    """
    values, vectors = torch.linalg.eigh(kernel)
    turned = vectors.mT @ (table.double() - table.double().mean(0))

    def error(ridge: float) -> float:
        inverse = 1 / (values.clamp_min(0) + ridge)
        own = (vectors.square() * inverse).sum(1, keepdim=True)
        return float((vectors @ (inverse[:, None] * turned) / own).square().mean())

    return min(RIDGES, key=error)
