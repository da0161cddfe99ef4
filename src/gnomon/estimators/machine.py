"""Base class of the four scikit-learn estimators with network kernels: options, choice of network, solving, predicting.

fit:      check and scale the table (`table`) -> candidate networks (`network`) -> Gram matrix (`problem`) and choice
          (`selection`) -> temperature or amplitude by leave-one-out -> solve (`problem`)
predict:  check and scale -> kernel with the supporting rows, strip by strip -> values
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from gnomon.core.errors import out_of_range_error
from gnomon.estimators.network import Kind, NetworkOptions, candidates
from gnomon.estimators.problem import KernelRegression, training_time
from gnomon.estimators.selection import GRID, MAX_DEPTH, select
from gnomon.estimators.table import Scaling, TableRows, to_numpy
from gnomon.linalg.ridge_modes import MIN_RELATIVE_RIDGE
from gnomon.linalg.solve.base import row_blocks, tile_bytes


@dataclass(kw_only=True, eq=False, repr=False)
class AbstractKernelMachine(BaseEstimator, ABC):
    """Base class of the four scikit-learn estimators that fit a table with the kernel of an infinitely wide network.

    Learned by all estimators: ``kernel_`` (a network of width one and its law), ``points_`` (s, d) and
    ``coefficients_`` (s, k),
    the function itself; ``scaling_``; ``weights_`` (s,); ``depth_``, ``fixed_layers_``, ``ridge_``; ``selection_``, how
    they were chosen, or None; ``solver_``, the solver that was used, and ``verdict_``, a sentence on how it solved.
    """

    network: Any = None
    depth: Any = "auto"
    activation: Any = "relu"
    weight_std: Any = 2.0**0.5
    bias_std: Any = 1.0
    scaling: Any = "standard"
    ridge: Any = "auto"
    select: Any = "leave-one-out"
    solver: Any = "auto"

    @property
    @abstractmethod
    def _kind(self) -> Kind:
        """Returns which kernel the estimator uses: "ntk" (trained network) or "nngp" (Bayesian network)."""

    @property
    def _fixed_layers(self) -> Any:
        """Returns the number of layers of the estimator's network that are not trained, or "auto"."""
        return 0

    @property
    def _t(self) -> Any:
        """Returns the time at which training of the infinitely wide network stops, or None for training to the end."""
        return None

    def _choose(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> KernelRegression:
        """Scales the inputs and chooses network and ridge penalty; returns the kernel regression problem to solve.

        Its Gram matrix is computed only if the choice, or leave-one-out on these rows, needs it.
        """
        t = training_time(self._t)
        self.scaling_ = Scaling.of(X, weights, self.scaling)
        rows = TableRows(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (self.scaling_(X), targets, weights)))
        options = NetworkOptions(self.network, self.activation, self.weight_std, self.bias_std, self._kind)
        shapes = [(0, 0)]
        if self.network is None:
            shapes = list(candidates(self.depth, self._fixed_layers, deepest=MAX_DEPTH))
        ridges = _ridges(self.ridge, t)

        kernel = partial(options.kernel, X.shape[1])
        (self.depth_, self.fixed_layers_), ridge, self.selection_ = shapes[0], ridges[0], None
        if len(shapes) * len(ridges) > 1 and len(X) > 1:  # A choice needs several rows, and several candidates.
            chosen, regression = select(shapes, kernel, rows, ridges=ridges, t=t, by=self.select, labels=labels)
            self.depth_, self.fixed_layers_, ridge = chosen.depth, chosen.fixed_layers, chosen.ridge
            self.selection_ = chosen
        else:
            regression = KernelRegression(kernel(depth=shapes[0][0], fixed_layers=shapes[0][1]), rows, t)
        self.kernel_, self.kernel_scale_ = regression.kernel, regression.scale
        self.ridge_ = max(ridge, MIN_RELATIVE_RIDGE) if t == inf else ridge
        return regression

    def _solve(self, regression: KernelRegression) -> None:
        """Solves the kernel regression and stores the fitted function in the estimator; frees the kernel matrix."""
        function = regression.solve(self.ridge_ * self.kernel_scale_, solver=self.solver)
        rows, support = regression.rows, function.support
        self.solver_, self.verdict_ = function.solver, function.verdict
        self.coefficients_ = function.coefficients.numpy()
        self.points_, self.weights_ = rows.x[support].numpy(), rows.weights[support].numpy()

    def _inputs(self, X: Any) -> Float[Tensor, "m d"]:
        """Checks and scales new inputs of the estimator; returns them as a tensor."""
        check_is_fitted(self)
        X = validate_data(self, to_numpy(X, "X"), dtype=np.float64, reset=False)
        return torch.from_numpy(np.ascontiguousarray(self.scaling_(X)))

    def _values(self, x: Float[Tensor, "m d"]) -> np.ndarray:
        """Evaluates the fitted function at scaled inputs, in blocks of rows that fit into memory."""
        points, c = torch.from_numpy(self.points_), torch.from_numpy(self.coefficients_)
        strips = [self.kernel_(x[rows], points) @ c for rows in row_blocks(len(x), len(points), tile_bytes(None))]
        return torch.cat(strips).numpy()


def _ridges(ridge: Any, t: float) -> tuple[float, ...]:
    """Returns the ridge penalties to try: the user's number, zero if training stops early, or a grid of values."""
    if isinstance(ridge, str) and ridge == "auto":
        return (0.0,) if t < inf else GRID
    if isinstance(ridge, bool) or not isinstance(ridge, int | float) or not isfinite(ridge) or ridge < 0:
        accepted = 'a number of at least 0, in units of the mean diagonal of the kernel, or "auto"'
        raise out_of_range_error("ridge", accepted, ridge)
    return (float(ridge),)
