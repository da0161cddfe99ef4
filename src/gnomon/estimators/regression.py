"""Base class of the kernel regressors: standardizes targets, and predicts values with standard deviations."""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import RegressorMixin
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.estimators.machine import AbstractKernelMachine
from gnomon.estimators.problem import KernelRegression
from gnomon.estimators.table import checked_rows, moments


class AbstractKernelRegressor(RegressorMixin, AbstractKernelMachine):
    """Base class of kernel regressors, which standardize the targets (mean 0, standard deviation 1) before the fit.

    Learned in addition to ``AbstractKernelMachine``: ``target_mean_`` and ``target_scale_``, (k,).
    """

    @add_call_to_errors
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AbstractKernelRegressor":
        """Fits the regressor to inputs (n, d) and targets (n,) or (n, k); a row of weight w counts as w copies."""
        X, y, weights = checked_rows(self, X, y, sample_weight, numeric=True)
        y = np.asarray(y, dtype=np.float64)
        table = y.reshape(len(y), -1)
        self.target_mean_, self.target_scale_ = moments(table, weights)
        self._flat = y.ndim == 1
        regression = self._choose(X, (table - self.target_mean_) / self.target_scale_, weights, y)
        self._fit_noise(regression)
        self._solve(regression)
        return self

    @add_call_to_errors
    def predict(self, X: Any, *, return_std: bool = False) -> Any:
        """Predicts a value for each row of inputs, and with ``return_std`` also its standard deviation."""
        x = self._inputs(X)
        mean = self._values(x) * self.target_scale_ + self.target_mean_
        if not return_std:
            return mean[:, 0] if self._flat else mean
        std = self._variance(x).clamp_min(0).sqrt().numpy()[:, None] * self.target_scale_
        return (mean[:, 0], std[:, 0]) if self._flat else (mean, std)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit_noise(self, regression: KernelRegression) -> None:
        """Fits what predicted variances need in addition to the kernel, such as a noise level; by default nothing."""

    @abstractmethod
    def _variance(self, x: Float[Tensor, "m d"]) -> Float[Tensor, " m"]:
        """Returns the variance of each prediction, in units of the targets' variance."""

    def _support(self) -> tuple[Tensor, Tensor]:
        """Returns the training points that the fitted function uses, and the square roots of their weights."""
        return torch.from_numpy(self.points_), torch.from_numpy(self.weights_).sqrt()
