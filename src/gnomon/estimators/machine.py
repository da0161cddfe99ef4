"""What all estimators of the room share: the way from a table to a function, and from the function to its values.

fit:      check -> drop rows without weight -> scale -> select a network and a ridge -> train
predict:  check -> scale -> kernel with the supporting rows, strip by strip -> values
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from gnomon.core.errors import InputError, lesson
from gnomon.estimators.network import Kind, NetworkKernel, Recipe, shapes
from gnomon.estimators.rows import Rows, plain
from gnomon.estimators.scaling import Scaling
from gnomon.estimators.selection import DEEPEST, GRID, Selection, examined, given, select
from gnomon.estimators.training import followed, solved
from gnomon.linalg.shortcut import FLOOR, Spectrum, spectrum
from gnomon.linalg.solve.base import blocks, tile_room


class AbstractKernelMachine(BaseEstimator, ABC):
    """A function of the kernel of an infinitely wide network, fitted to a table.

    Learned, for all: ``kernel_`` (a network of width one and its law), ``points_`` (s, d) and ``coefficients_`` (s, k),
    the function itself; ``scaling_``; ``weights_`` (s,); ``depth_``, ``fixed_layers_``, ``ridge_``; ``selection_``, how
    these were chosen, or None; ``solver_``, the solver that was used, and ``verdict_``, what it did and why.
    """

    network: Any
    depth: Any
    activation: Any
    weight_std: Any
    bias_std: Any
    scaling: Any
    ridge: Any
    select: Any
    solver: Any

    @property
    @abstractmethod
    def _kind(self) -> Kind:
        """Which kernel."""

    @abstractmethod
    def _fixed(self) -> Any:
        """Fixed layers: a number, or "auto"."""

    @abstractmethod
    def _time(self) -> float:
        """How long to train."""

    @property
    def _call(self) -> str:
        return f"{type(self).__name__}().fit(X, y)"

    def _positive_rows(self, X: Any, y: Any, sample_weight: Any, *, many: bool) -> tuple[np.ndarray, Any, np.ndarray]:
        """Checked inputs, targets and weights of the rows that count."""
        X, y = plain(X, "X", self._call), plain(y, "y", self._call)
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=many, y_numeric=many)
        weights = np.ones(len(X)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            cure = "Pass weights that are zero or more"
            raise InputError(lesson(self._call, "negative values in sample_weight", "weights that count rows", cure))
        kept = weights > 0
        if not kept.any():
            raise InputError(lesson(self._call, "all sample weights are zero", "a row that counts", "Drop the weights"))
        return (X, y, weights) if kept.all() else (X[kept], y[kept], weights[kept])

    def _learn(self, X: np.ndarray, targets: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> Rows:
        """Fit the function to centered targets (n, k); returns the rows in their scale."""
        self.scaling_ = Scaling.of(X, weights, self.scaling, self._call)
        rows = Rows(*(torch.from_numpy(np.ascontiguousarray(a)) for a in (self.scaling_(X), targets, weights)))
        t = self._time()
        networks = [(0, 0)] if self.network is not None else list(self._networks())
        ridges = self._ridges(t)
        self.selection_ = None
        if len(networks) * len(ridges) > 1 and len(X) > 1:  # one row gives no reason to choose
            options = {"ridges": ridges, "t": t, "by": self.select, "labels": labels, "call": self._call}
            self.selection_ = select(networks, self._kernel, rows, **options)
        best = self.selection_ or Selection(*networks[0], ridges[0], 0.0, "nothing", ())
        self.depth_, self.fixed_layers_ = best.depth, best.fixed_layers
        self.ridge_ = max(best.ridge, FLOOR) if t == inf else best.ridge
        self.kernel_ = self._kernel(self.depth_, self.fixed_layers_)
        self.kernel_scale_ = rows.mean(self.kernel_.diagonal(rows.x))
        ridge = self.ridge_ * self.kernel_scale_
        if t < inf:
            found = followed(self.kernel_, rows, ridge=ridge, t=t)
        else:
            found = solved(self.kernel_, rows, ridge=ridge, solver=self.solver, call=self._call)
        self.solver_, self.verdict_ = found.solver, found.verdict
        self.coefficients_ = found.coefficients.numpy()
        self.points_, self.weights_ = rows.x[found.support].numpy(), rows.weights[found.support].numpy()
        self.total_weight_ = rows.total
        return rows

    def _networks(self) -> Iterator[tuple[int, int]]:
        return shapes(self.depth, self._fixed(), deepest=DEEPEST, call=self._call)

    def _ridges(self, t: float) -> tuple[float, ...]:
        """Ridges to choose from: the one that is given, none where time is the regularizer, or a grid."""
        if isinstance(self.ridge, str) and self.ridge == "auto":
            return (0.0,) if t < inf else GRID
        return (given(self.ridge, self._call),)

    def _kernel(self, depth: int, fixed: int) -> NetworkKernel:
        recipe = Recipe(self.network, self.activation, self.weight_std, self.bias_std, self._kind, self._call)
        return recipe.kernel(self.n_features_in_, depth=depth, fixed_layers=fixed)

    def _examined(self, rows: Rows) -> tuple[Rows, Spectrum]:
        """The rows that judge the fit, and their spectrum."""
        seen = rows[examined(len(rows.x))]
        time = self._time() * self.kernel_scale_ / seen.total
        return seen, spectrum(self.kernel_(seen.x) / self.kernel_scale_, seen.y, seen.weights, time=time)

    def _inputs(self, X: Any) -> Float[Tensor, "m d"]:
        """New points, checked and scaled."""
        check_is_fitted(self)
        X = validate_data(self, plain(X, "X", self._call), dtype=np.float64, reset=False)
        return torch.from_numpy(np.ascontiguousarray(self.scaling_(X)))

    def _values(self, x: Float[Tensor, "m d"]) -> np.ndarray:
        """The function at scaled points, (m, k), in strips that fit into memory."""
        points, c = torch.from_numpy(self.points_), torch.from_numpy(self.coefficients_)
        strips = [self.kernel_(x[rows], points) @ c for rows in blocks(len(x), len(points), tile_room(None))]
        return torch.cat(strips).numpy()
