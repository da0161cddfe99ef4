"""Scikit-learn estimators that predict like an infinitely wide network trained by gradient descent on squared loss.

    f(x) = T(x, X) (T(X, X) + r)^{-1} y                       trained to the end, with a ridge r             (1)
    f(x, t) = T(x, X) G_t y                                   trained until time t, ``problem`` (2)          (2)
    V(x) = S(x, x) - 2 A S(X, x) + A S(X, X) A^T              variance over initializations                  (3)

with the tangent kernel T, the prior kernel S (NNGP) and A the map from y to f(x) in (1) or (2). Networks of an ensemble
start from functions drawn from N(0, S) and end at functions with mean f and variance V.

Hypotheses: infinite width, squared loss, gradient flow. In (1) the ridge pulls the parameters toward their initial
values.
Reference: [jacot2018neural]; [lee2019wide], section 2.3, for (3); [arora2020harnessing] for small tables.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.dynamics import kernel_ensemble
from gnomon.estimators.classification import AbstractKernelClassifier
from gnomon.estimators.machine import AbstractKernelMachine
from gnomon.estimators.network import Kind
from gnomon.estimators.problem import training_time
from gnomon.estimators.regression import AbstractKernelRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class _NTKOptions(AbstractKernelMachine):
    """Defines the options that only the estimators with the tangent kernel (NTK) have."""

    fixed_layers: Any = 0
    t: Any = None

    @property
    def _kind(self) -> Kind:
        return "ntk"

    @property
    def _fixed_layers(self) -> Any:
        return self.fixed_layers

    @property
    def _t(self) -> Any:
        return self.t


@dataclass(kw_only=True, eq=False, repr=False)
class NTKRegressor(_NTKOptions, AbstractKernelRegressor):
    """A regressor that predicts what an infinitely wide network trained with gradient descent would.

    See equations (1) to (3) of the module docstring.

    Args:
        network: None for an MLP with the next three options, an ``nn.Module`` on rows of features (start it with
            ``nn.Unflatten`` for images), or a function from the number of features to one. It is read, never run.
        depth: hidden layers of the MLP, or "auto" for the best of 1 to 5.
        activation: a name such as "relu", "gelu" or "tanh", or a module class.
        weight_std: standard deviation of the weights times sqrt(fan_in), in every layer of any network.
        bias_std: standard deviation of the biases.
        fixed_layers: layers of the MLP, from the first, that are not trained; "auto" for the best.
        scaling: "standard" (mean 0, deviation 1), "sphere" (then moved to a sphere), or None.
        ridge: r, in units of the mean diagonal of T(X, X), 1e-10 at least, or "auto".
        select: how "auto" is decided: "leave-one-out" or "evidence", both without refits, or anything that
            scikit-learn accepts as ``cv``.
        solver: "auto", or an object of ``gnomon.linalg.solve``.
        t: time at which training stops, learning rate times steps on the mean squared error halved; None for the end.
            With ``t``, ``ridge="auto"`` means ridge 0.

    Learned state: the lists in ``AbstractKernelMachine`` and ``AbstractKernelRegressor``; s (d + k + 1) numbers, with s
    the number of rows, or of centers for ``NystromSolver``.

    Cost: n^2 kernel entries and the solver's n^3 / 3; for "auto" 9 n^3 for every network, n at most 1,500. ``predict``
    m s kernel entries; with ``return_std`` 9 s^3 more.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> model = NTKRegressor(depth=2).fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]]) - 0.25) < 0.01)
    True
    >>> mean, std = NTKRegressor(depth=1, ridge=0.0, scaling=None).fit(X, X[:, 0]).predict(X, return_std=True)
    >>> bool(std.max() < 1e-5)                               # at the end all networks agree on the training points
    True
    """

    def _variance(self, x: Float[Tensor, "m d"]) -> Float[Tensor, " m"]:
        points, root = self._support()
        (nngp, ntk), (nngp_test, ntk_test) = self.kernel_.both(points), self.kernel_.both(x, points)
        n, total, t = len(points), float(root.square().sum()), training_time(self.t)
        networks = kernel_ensemble(
            ntk * root * root[:, None],
            nngp * root * root[:, None],
            torch.zeros(n, dtype=torch.float64),
            ntk_test=ntk_test * root,
            nngp_test=nngp_test * root,
            nngp_test_test=self.kernel_.diagonal(x, "nngp"),
            times=[t * n / total],
            penalty=self.ridge_ * self.kernel_scale_ / n,
        )
        return networks.variance[0]  # (3)


@dataclass(kw_only=True, eq=False, repr=False)
class NTKClassifier(_NTKOptions, AbstractKernelClassifier):
    """A classifier that fits one-hot labels by squared loss, as an infinitely wide network trained with gradient
    descent would.

    Args:
        network: see ``NTKRegressor``, as for all other options.
        depth: see ``network``.
        activation: see ``network``.
        weight_std: see ``network``.
        bias_std: see ``network``.
        fixed_layers: see ``network``.
        scaling: see ``network``.
        ridge: see ``network``.
        select: see ``network``; the score is the Brier score of the outputs.
        solver: see ``network``.
        t: see ``network``.

    ``predict_proba`` is calibrated by one temperature, which is fitted on leave-one-out scores.

    Learned state: the lists in ``AbstractKernelMachine`` and ``AbstractKernelClassifier``.

    Cost: the cost of ``NTKRegressor``, plus 9 n^3, n at most 1,500, for the calibration.

    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = NTKClassifier(depth=2, ridge=1e-6).fit(X, ["no", "yes", "yes", "no"])       # exclusive or
    >>> model.predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """
