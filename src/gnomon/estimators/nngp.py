"""Scikit-learn estimators that predict the Bayesian posterior of an infinitely wide network (NNGP).

    f(x) = S(x, X) (S(X, X) + r)^{-1} y                                                                   (1)
    V(x) = s (S(x, x) - S(x, X) (S(X, X) + r)^{-1} S(X, x))                                               (2)
    s = y^T (S(X, X) + r)^{-1} y / n                                                                      (3)

with the prior kernel S (NNGP). The amplitude s multiplies the variance of the last layer; its value (3) maximizes the
evidence and does not change (1). The noise of the targets has variance s r.

Hypotheses: infinite width; Gaussian noise. Classes are not Gaussian targets; (1) is used for them anyway.
Reference: [lee2018deep]; [rasmussen2006gaussian], sections 2.2 and 5.4.1.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import out_of_range_error
from gnomon.dynamics import gp_posterior
from gnomon.estimators.classification import AbstractKernelClassifier
from gnomon.estimators.machine import AbstractKernelMachine
from gnomon.estimators.network import Kind
from gnomon.estimators.problem import KernelRegression
from gnomon.estimators.regression import AbstractKernelRegressor


class _NNGPOptions(AbstractKernelMachine):
    """Defines the options that only the estimators with the Bayesian network kernel (NNGP) have."""

    @property
    def _kind(self) -> Kind:
        return "nngp"


@dataclass(kw_only=True, eq=False, repr=False)
class NNGPRegressor(_NNGPOptions, AbstractKernelRegressor):
    """A regressor that predicts the posterior of an infinitely wide Bayesian network.

    See equations (1) and (2) of the module docstring.

    Args:
        network: None for an MLP with the next two options, an ``nn.Module`` on rows of features, or a function from
            the number of features to one. It is read, never run.
        depth: hidden layers of the MLP, or "auto" for the best of 1 to 5.
        activation: a name such as "relu", "gelu" or "tanh", or a module class.
        weight_std: standard deviation of the weights times sqrt(fan_in), in every layer of any network.
        bias_std: standard deviation of the biases.
        amplitude: s for targets of unit variance, or "auto" for (3).
        scaling: "standard" (mean 0, deviation 1), "sphere" (then moved to a sphere), or None.
        ridge: r, in units of the mean diagonal of S(X, X), 1e-10 at least, or "auto".
        select: how "auto" is decided: "leave-one-out" or "evidence", both without refits, or anything that
            scikit-learn accepts as ``cv``.
        solver: "auto", or an object of ``gnomon.linalg.solve``.

    Learned state: the lists in ``AbstractKernelMachine`` and ``AbstractKernelRegressor``; ``amplitude_``;
    ``noise_std_``, (k,), the deviation of the noise in the units of y. ``predict(X, return_std=True)`` returns the
    standard deviation of the function; the deviation of an observation is sqrt(std^2 + noise_std_^2).

    Cost: n^2 kernel entries and the solver's n^3 / 3; for "auto" 9 n^3 for every network, n at most 1,500. ``predict``
    m s kernel entries; with ``return_std`` s^3 / 3 + m s^2 more.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> model = NNGPRegressor(depth=2, select="evidence").fit(X, np.sin(3 * X[:, 0]))
    >>> mean, std = model.predict([[0.1], [3.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(0.3)) < 0.01), bool(std[1] > 10 * std[0])
    (True, True)
    """

    amplitude: Any = "auto"

    def _fit_noise(self, regression: KernelRegression) -> None:
        ridge = self.ridge_ * self.kernel_scale_
        if isinstance(self.amplitude, str) and self.amplitude == "auto":
            examined = regression.examined()
            self.amplitude_ = examined.modes.amplitude(ridge / examined.scale) / examined.scale  # (3)
        elif isinstance(self.amplitude, int | float) and 0 < self.amplitude < inf:
            self.amplitude_ = float(self.amplitude)
        else:
            raise out_of_range_error("amplitude", 'a number above 0 or "auto"', self.amplitude)
        self.noise_std_ = sqrt(self.amplitude_ * ridge) * self.target_scale_

    def _variance(self, x: Float[Tensor, "m d"]) -> Float[Tensor, " m"]:
        points, root = self._support()
        function = gp_posterior(
            self.kernel_(points) * root * root[:, None],
            torch.zeros(len(points), dtype=torch.float64),
            nngp_test=self.kernel_(x, points) * root,
            nngp_test_test=self.kernel_.diagonal(x),
            noise=self.ridge_ * self.kernel_scale_,
        )
        return self.amplitude_ * function.variance  # (2)


@dataclass(kw_only=True, eq=False, repr=False)
class NNGPClassifier(_NNGPOptions, AbstractKernelClassifier):
    """A classifier that fits one-hot labels by the posterior mean of an infinitely wide Bayesian network.

    See equation (1) of the module docstring.

    Args:
        network: see ``NNGPRegressor``, as for all other options.
        depth: see ``network``.
        activation: see ``network``.
        weight_std: see ``network``.
        bias_std: see ``network``.
        scaling: see ``network``.
        ridge: see ``network``.
        select: see ``network``; the leave-one-out score is the Brier score of the outputs.
        solver: see ``network``.

    ``predict_proba`` is calibrated by one temperature, which is fitted on leave-one-out scores.

    Learned state: the lists in ``AbstractKernelMachine`` and ``AbstractKernelClassifier``.

    Cost: the cost of ``NNGPRegressor``, plus 9 n^3, n at most 1,500, for the calibration.

    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> NNGPClassifier(depth=2, ridge=1e-6).fit(X, list("aabbcc")).predict([[0.05], [1.05], [2.05]]).tolist()
    ['a', 'b', 'c']
    """
