"""Computes leave-one-out errors and evidence of kernel ridge regression for every ridge, without refitting.

Rows have weights w_i, D = diag(sqrt(w)), N = sum w_i, and the kernel is taken relative to its mean diagonal. With

    A = D K D = Q diag(l) Q^T,   c = Q g(l) Q^T D y,   g(l) = 1 / (l + r)                                (1)

the fit leaves D (y - f(X)) = Q e(l) Q^T D y with e(l) = 1 - l g(l), and e_ii = [Q e(l) Q^T]_ii. Taking u_i =
min(1, w_i) of row i away (the row if w_i <= 1, one of its w_i copies otherwise) leaves at that row

    y_i - f_{-i}(x_i) = (y_i - f(x_i)) / (1 - (u_i / w_i) (1 - e_ii))                                    (2)

which is c_i / [(A + r)^{-1}]_ii for unit weights. Training that stops at time t has, with T = t (mean diagonal) / N,

    g(l) = (1 - exp(-(l + r) T)) / (l + r)                                                               (3)

with its limit T at l + r = 0, and (2) is then the usual approximation for smoothers that are linear in y; it is exact
at t = infinity. The evidence is computed for N rows under N(0, s (K + r)), with the amplitude s that maximizes it:

    s = y^T D (A + r)^{-1} D y / N,   log p = -(N log(2 pi s) + N + sum log(l + r) + (N - n) log r) / 2  (4)

for each output, with one s for all. A whole number as weight is the number of copies of the row, in (2) and in (4).

Hypotheses: squared loss; inputs and targets are scaled before, and a left-out row does not change their scale.
Reference: [rasmussen2006gaussian], sections 5.4.1 and 5.4.2.
Cost: 9 n^3 operations once, n^2 (k + 1) for each ridge.

>>> import torch
>>> K, y = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64), torch.tensor([[1.0], [0.0]]).double()
>>> ridge_modes(K, y, torch.ones(2).double()).left_out(0.0).flatten().round(decimals=9)    # 1 - 0 / 2 and 0 - 1 / 2
tensor([ 1.0000, -0.5000], dtype=torch.float64)
"""

from dataclasses import dataclass
from math import inf, log, pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.results.record import Record

__all__ = ["MIN_RELATIVE_RIDGE", "RidgeModes", "ridge_modes"]

MIN_RELATIVE_RIDGE = 1e-10
"""Smallest ridge of a fit without regularization. Below it, rounding decides the fit at two equal rows with
different targets."""


@dataclass(frozen=True, slots=True, eq=False)
class RidgeModes(Record):
    """Kernel ridge regression written in the kernel's eigenvectors, which makes fits for any ridge cheap.

    ``values`` and ``vectors`` are l and Q of (1), ``targets`` is Q^T D y. Ridges are relative to the kernel's mean
    diagonal; at T = infinity they are `MIN_RELATIVE_RIDGE` at least.

    >>> modes = ridge_modes(torch.eye(1).double(), torch.ones(1, 1).double(), torch.ones(1).double(), time=1.0)
    >>> round(float(modes.coefficients(0.0)), 9) == round(1 - torch.e**-1, 9)
    True
    """

    values: Float[Tensor, " n"]
    vectors: Float[Tensor, "n n"]
    targets: Float[Tensor, "n k"]
    weights: Float[Tensor, " n"]
    time: float

    def eigen_coefficients(self, ridge: float) -> Float[Tensor, "n k"]:
        """Returns the coefficients of the ridge regression fit with respect to the kernel's eigenvectors."""
        total = self.values + self._ridge(ridge)
        gain = torch.where(total > 0, -torch.expm1(-total * self.time) / total, self.time)
        return self.targets * gain[:, None]  # (1) (3)

    def coefficients(self, ridge: float) -> Float[Tensor, "n k"]:
        """Returns the coefficients c of the fit f(x) = sum_i K(x, x_i) c_i at a ridge penalty.

        See equation (1) of the module docstring.
        """
        return self.vectors @ self.eigen_coefficients(ridge)

    def left_out(self, ridge: float) -> Float[Tensor, "n k"]:
        """Returns the leave-one-out residuals: each target minus the prediction of a fit without this point."""
        r = self._ridge(ridge)
        total = self.values + r
        # `remainder` is 1 - l g(l) for an eigenvalue l and its filter g(l), computed without cancellation.
        remainder = torch.where(total > 0, (r + self.values * torch.exp(-total * self.time)) / total, 1.0)
        residual = (self.vectors @ (remainder[:, None] * self.targets)) / self.weights.sqrt()[:, None]
        share = self.weights.clamp_max(1.0) / self.weights
        left = (1 - share) + share * (self.vectors.square() @ remainder)
        return residual / left[:, None]  # (2)

    def amplitude(self, ridge: float) -> float:
        """Returns the factor of the kernel for which the Gaussian process evidence of the targets is largest.

        See equation (4) of the module docstring.
        """
        total = float(self.weights.sum()) * self.targets.shape[1]
        return float((self.targets.square() / (self.values + max(ridge, MIN_RELATIVE_RIDGE))[:, None]).sum()) / total

    def log_evidence(self, ridge: float) -> float:
        """Returns the Gaussian process log evidence log p(y), summed over outputs; infinite if all targets are zero."""
        n, k = self.targets.shape
        r, total, s = max(ridge, MIN_RELATIVE_RIDGE), float(self.weights.sum()), self.amplitude(ridge)
        if s == 0:
            return inf
        determinant = float((self.values + r).log().sum()) + (total - n) * log(r)
        return -k * (total * log(2 * pi * s) + total + determinant) / 2  # (4)

    def _ridge(self, ridge: float) -> float:
        return max(ridge, MIN_RELATIVE_RIDGE) if self.time == inf else ridge


def ridge_modes(
    gram: Float[Tensor, "n n"], y: Float[Tensor, "n k"], weights: Float[Tensor, " n"], *, time: float = inf
) -> RidgeModes:
    """Decomposes a weighted kernel matrix into eigenvectors, from which fits for any ridge are cheap.

    Cost: 9 n^3 operations and three matrices like K.

    >>> y = torch.tensor([[2.0], [4.0]]).double()
    >>> ridge_modes(torch.eye(2).double(), y, torch.ones(2).double()).coefficients(1.0).flatten()      # y / (1 + 1)
    tensor([1., 2.], dtype=torch.float64)
    """
    root = weights.sqrt()
    values, vectors = torch.linalg.eigh(root[:, None] * gram * root)
    return RidgeModes(values.clamp_min(0.0), vectors, vectors.T @ (root[:, None] * y), weights, time)
