"""Scikit-learn estimators that use wavelet scattering coefficients as features of signals or images.

    phi(x) = S_J x, the averages of x, of its wavelet moduli, and of the moduli of these
         (1)

Reference: [bruna2013invariant].
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.estimators.table import to_numpy
from gnomon.scattering import Scattering1d, Scattering2d

ROWS_PER_BLOCK = 1024
"""Number of rows transformed at once."""


class ScatteringTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer that computes wavelet scattering coefficients of rows that are signals or images.

    See equation (1) of the module docstring.

    Args:
        J: averages over 2^J points; shorter rows are averaged over their whole length.
        shape: height and width if rows are flattened images; None if rows are signals.
        L: number of angles, for images.
        Q: wavelets per octave, for signals.
        max_order: 1 or 2.
        padding: a mode of ``numpy.pad``.

    Learned state: ``scattering_``, the transform; ``n_features_in_``.

    Cost: the cost of the transform.

    >>> X = np.ones((3, 64))
    >>> ScatteringTransformer(J=2, shape=(8, 8), L=4).fit_transform(X).shape                   # 25 paths, 2 x 2 places
    (3, 100)
    """

    def __init__(
        self, J: Any = 2, *, shape: Any = None, L: Any = 8, Q: Any = 8, max_order: Any = 2, padding: Any = "reflect"
    ) -> None:
        self.J = J
        self.shape = shape
        self.L = L
        self.Q = Q
        self.max_order = max_order
        self.padding = padding

    @add_call_to_errors
    def fit(self, X: Any, y: Any = None) -> "ScatteringTransformer":
        """Builds the scattering transform for rows of this length; ignores y."""
        X = validate_data(self, to_numpy(X, "X"), dtype=np.float64, ensure_min_features=2)
        self.scattering_ = _transform(self, X.shape[1])
        return self

    @add_call_to_errors
    def transform(self, X: Any) -> np.ndarray:
        """Returns the scattering coefficients of each row, flattened to one row of features."""
        check_is_fitted(self)
        X = validate_data(self, to_numpy(X, "X"), dtype=np.float64, reset=False)
        rows = torch.from_numpy(np.ascontiguousarray(X)).reshape(len(X), *self.scattering_.shape)
        features = torch.cat([self.scattering_(part).flatten(1) for part in rows.split(ROWS_PER_BLOCK)]).numpy()  # (1)
        return np.hstack([X, features]) if self.scattering_.J < self.J else features

    @property
    def _n_features_out(self) -> int:
        count = int(self.scattering_(torch.zeros(1, *self.scattering_.shape)).numel())
        return count + (self.n_features_in_ if self.scattering_.J < self.J else 0)


class ScatteringClassifier(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier (linear by default) on standardized scattering coefficients.

    See equation (1) of the module docstring.

    Args:
        classifier: any classifier of scikit-learn; logistic regression by default.
        J: averages over 2^J points; shorter rows are averaged over their whole length.
        shape: height and width if rows are flattened images; None if rows are signals.
        L: number of angles, for images.
        Q: wavelets per octave, for signals.
        max_order: 1 or 2.
        padding: a mode of ``numpy.pad``.

    Learned state: ``pipeline_``, transform, scaling and classifier; ``classes_``; ``n_features_in_``.

    Cost: the cost of the transform and of the classifier.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> bool(ScatteringClassifier(shape=(8, 8), L=4).fit(X[::4], y[::4]).score(X[1::4], y[1::4]) > 0.93)
    True
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        J: Any = 2,
        shape: Any = None,
        L: Any = 8,
        Q: Any = 8,
        max_order: Any = 2,
        padding: Any = "reflect",
    ) -> None:
        self.classifier = classifier
        self.J = J
        self.shape = shape
        self.L = L
        self.Q = Q
        self.max_order = max_order
        self.padding = padding

    @add_call_to_errors
    def fit(self, X: Any, y: Any) -> "ScatteringClassifier":
        """Computes and scales the scattering coefficients of the rows, and fits the classifier to them."""
        X, y = validate_data(self, to_numpy(X, "X"), y, dtype=np.float64, ensure_min_features=2)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise InputError(
                "y has only one class", accepted="at least two classes", fix="Pass examples of another class"
            )
        names = ("J", "shape", "L", "Q", "max_order", "padding")
        features = ScatteringTransformer(**{name: getattr(self, name) for name in names})
        last = LogisticRegression(C=0.1, max_iter=1000) if self.classifier is None else clone(self.classifier)
        self.pipeline_ = make_pipeline(features, StandardScaler(), last).fit(X, y)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Returns the predicted class of each row."""
        rows = self._rows(X)
        return self.pipeline_.predict(rows)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the class probabilities of each row, if the classifier supports them."""
        rows = self._rows(X)
        return self.pipeline_.predict_proba(rows)

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, to_numpy(X, "X"), dtype=np.float64, reset=False)


def _transform(options: ScatteringTransformer, features: int) -> Scattering1d | Scattering2d:
    """Creates the scattering transform for signals or images with this number of features."""
    J = check_integer("J", options.J)
    if options.shape is None:
        J = min(J, features.bit_length() - 1)
        return Scattering1d(J, features, options.Q, options.max_order, padding=options.padding)
    shape = tuple(options.shape)
    if len(shape) != 2 or shape[0] * shape[1] != features:
        found = f"rows have {features} numbers and shape is {options.shape}"
        raise InputError(found, accepted="rows that are images", fix="Pass shape=(height, width) of the images")
    J = min(J, min(shape).bit_length() - 1)
    return Scattering2d(J, shape, options.L, options.max_order, padding=options.padding)
