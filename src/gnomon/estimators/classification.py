"""Base class of scikit-learn classifiers with network kernels: class scores and calibrated probabilities.

k classes are k targets, [y = c] minus the frequency of c; two classes are one target, +1 for the second and -1 for the
first, minus its mean. The score of a class is the value of the fitted function plus the subtracted mean.

Probabilities are computed from scores with one factor s, fitted on leave-one-out scores:

    p_c(x) = exp(s f_c(x)) / sum_b exp(s f_b(x))                                                       (1)
    s minimizes -sum_i w_i sum_c q_ic log p_c(x_i),  with f_{-i} in place of f                          (2)
    q_ic = (1 - e) [y_i = c] + e / k,   e = k / (N + k),   N = sum_i w_i                                (3)

(1) keeps the order of the classes, so the most probable class is the predicted class. In (2) f_{-i} comes from the
leave-one-out shortcut: no row evaluates a function that it helped to fit, and nothing is fitted twice. (3) is Laplace's
rule of succession: a perfect score on N rows does not prove certainty, so s stays finite.

Hypotheses: rows are exchangeable; s moves little between N - 1 and N rows.
Reference: [platt1999probabilistic], [guo2017calibration].
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.metrics import predicted_classes
from gnomon.decisions.temperature import best_score_factor
from gnomon.estimators.machine import AbstractKernelMachine
from gnomon.estimators.problem import KernelRegression
from gnomon.estimators.table import checked_rows

FACTORS = (1e-6, 1e6)
"""Smallest and largest factor of (1)."""


class AbstractKernelClassifier(ClassifierMixin, AbstractKernelMachine):
    """Base class of kernel classifiers, which fit one-hot labels by squared loss.

    Learned in addition to ``AbstractKernelMachine``: ``classes_``; ``target_mean_``; ``temperature_``, the factor by
    which scores are multiplied before the softmax, s of (1).
    """

    @add_call_to_errors
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AbstractKernelClassifier":
        """Fits the classifier to inputs (n, d) and labels (n,) of any type; a row of weight w counts as w copies."""
        X, y, weights = checked_rows(self, X, y, sample_weight, numeric=False)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            what = f"y contains only one class, {self.classes_.tolist()}"
            raise InputError(what, accepted="at least two classes", fix="Pass rows of another class as well")
        table = np.where(codes == 1, 1.0, -1.0)[:, None] if k == 2 else np.eye(k)[codes]
        self.target_mean_ = weights @ table / weights.sum()
        regression = self._choose(X, table - self.target_mean_, weights, y)
        self.temperature_ = self._fit_temperature(regression.examined())
        self._solve(regression)
        return self

    @add_call_to_errors
    def decision_function(self, X: Any) -> np.ndarray:
        """Returns a score for each class, or for two classes a single score that is positive for the second class."""
        scores = self._values(self._inputs(X)) + self.target_mean_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @add_call_to_errors
    def predict(self, X: Any) -> np.ndarray:
        """Returns the class with the largest score for each row of inputs."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)
        return self.classes_[codes]

    @add_call_to_errors
    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns class probabilities for each row of inputs, calibrated on leave-one-out scores."""
        scores = torch.from_numpy(self.decision_function(X).reshape(-1, self.coefficients_.shape[1]))
        return torch.softmax(self.temperature_ * _columns(scores), 1).numpy()

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Returns logarithms of ``predict_proba``, which are finite even if probabilities round to zero."""
        scores = torch.from_numpy(self.decision_function(X).reshape(-1, self.coefficients_.shape[1]))
        return torch.log_softmax(self.temperature_ * _columns(scores), 1).numpy()

    def _fit_temperature(self, regression: KernelRegression) -> float:
        table = regression.rows.y + torch.from_numpy(self.target_mean_)
        scores = table - regression.left_out(self.ridge_ * self.kernel_scale_)
        codes = predicted_classes(table)
        return score_factor(_columns(scores), codes, regression.rows.weights)


def score_factor(scores: Float[Tensor, "n k"], classes: Int[Tensor, " n"], weights: Float[Tensor, " n"]) -> float:
    """Finds the factor by which class scores are multiplied before the softmax, so that their cross-entropy is
    smallest.

    See equations (1) and (2) of the module docstring.

    >>> scores = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]]).double()          # right three times of four
    >>> s = score_factor(scores, torch.zeros(4, dtype=torch.long), torch.ones(4).double() * 1e9)     # (3) vanishes
    >>> round(float(torch.sigmoid(torch.tensor(s))), 6)
    0.75
    """
    n, k = scores.shape
    smoothing = k / (float(weights.sum()) + k)
    targets = torch.full_like(scores, smoothing / k)
    targets[torch.arange(n), classes] += 1 - smoothing  # (3)
    return best_score_factor(scores, targets, weights, FACTORS)


def _columns(scores: Float[Tensor, "m _"]) -> Float[Tensor, "m _"]:
    """Returns class scores with one column per class, also for two classes, which share one score."""
    return torch.cat([-scores, scores], 1) / 2 if scores.shape[1] == 1 else scores
