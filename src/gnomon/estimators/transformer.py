"""Computes features of each row whose inner products approximate the kernel of an infinitely wide network (Nystrom
method).

With m rows Z drawn as centers, K(Z, Z) = V diag(l) V^T,

    phi(x) = K(x, Z) V diag(l^{-1/2}) V^T,   phi(x) . phi(x') = K(x, Z) K(Z, Z)^+ K(Z, x')                (1)

which equals K(x, x') if x or x' is a center, and everywhere if K has rank m. Eigenvalues within m eps l_1 of zero are
dropped.

Hypotheses: K positive semidefinite. Reference: [williams2001using].
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer
from gnomon.estimators.network import NetworkOptions, candidates
from gnomon.estimators.table import Scaling, to_numpy
from gnomon.linalg.solve.base import row_blocks, tile_bytes


class KernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer to features whose inner products approximate a network's kernel, for use in a linear
    model.

    See equation (1) of the module docstring.

    Args:
        n_components: m, the number of centers and of features; all rows if there are fewer.
        kind: "ntk" or "nngp".
        network: None for an MLP with the next options, an ``nn.Module`` on rows of features, or a function from the
            number of features to one.
        depth: hidden layers of the MLP.
        activation: a name such as "relu", "gelu" or "tanh", or a module class.
        weight_std: standard deviation of the weights times sqrt(fan_in), in every layer of any network.
        bias_std: standard deviation of the biases.
        fixed_layers: layers of the MLP, from the first, that are not trained; only for the NTK.
        scaling: "standard", "sphere" or None.
        random_state: seed for sampling the centers.

    Learned state: ``components_`` (m, d), the scaled centers; ``normalization_`` (m, m), the root in (1); ``kernel_``;
    ``scaling_``.

    Cost: 9 m^3 operations; for ``transform`` n m kernel entries and n m^2 operations.

    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> phi = KernelTransformer(n_components=20, scaling=None).fit(X)
    >>> K = phi.kernel_(torch.from_numpy(X)).numpy()
    >>> bool(np.abs(phi.transform(X) @ phi.transform(X).T - K).max() < 1e-9)        # all rows are centers
    True
    """

    def __init__(
        self,
        n_components: Any = 100,
        *,
        kind: Any = "ntk",
        network: Any = None,
        depth: Any = 2,
        activation: Any = "relu",
        weight_std: Any = 2.0**0.5,
        bias_std: Any = 1.0,
        fixed_layers: Any = 0,
        scaling: Any = "standard",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kind = kind
        self.network = network
        self.depth = depth
        self.activation = activation
        self.weight_std = weight_std
        self.bias_std = bias_std
        self.fixed_layers = fixed_layers
        self.scaling = scaling
        self.random_state = random_state

    @add_call_to_errors
    def fit(self, X: Any, y: Any = None) -> "KernelTransformer":
        """Chooses random training rows as centers, from whose kernel matrix the features are computed; ignores y."""
        X = validate_data(self, to_numpy(X, "X"), dtype=np.float64)
        self._check()
        self.scaling_ = Scaling.of(X, np.ones(len(X)), self.scaling)
        m = min(int(self.n_components), len(X))
        chosen = check_random_state(self.random_state).permutation(len(X))[:m]
        options = NetworkOptions(self.network, self.activation, self.weight_std, self.bias_std, self.kind)
        self.kernel_ = options.kernel(X.shape[1], depth=self.depth, fixed_layers=self.fixed_layers)
        self.components_ = self.scaling_(X[chosen])
        values, vectors = torch.linalg.eigh(self.kernel_(torch.from_numpy(self.components_)))
        rounding = m * torch.finfo(torch.float64).eps * float(values[-1])
        inverse = torch.where(values > rounding, values, torch.inf).rsqrt()
        self.normalization_ = ((vectors * inverse) @ vectors.T).numpy()
        return self

    @add_call_to_errors
    def transform(self, X: Any) -> np.ndarray:
        """Returns features of each row, one for each random center; their inner products approximate the network's
        kernel.

        See equation (1) of the module docstring.
        """
        check_is_fitted(self)
        X = validate_data(self, to_numpy(X, "X"), dtype=np.float64, reset=False)
        x, centers = (torch.from_numpy(np.ascontiguousarray(a)) for a in (self.scaling_(X), self.components_))
        root = torch.from_numpy(self.normalization_)
        strips = row_blocks(len(x), len(root), tile_bytes(None))
        return torch.cat([self.kernel_(x[rows], centers) @ root for rows in strips]).numpy()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _check(self) -> None:
        if self.kind not in ("ntk", "nngp"):
            raise out_of_range_error("kind", '"ntk" or "nngp"', self.kind)
        check_integer("n_components", self.n_components)
        for name, layers in (("depth", self.depth), ("fixed_layers", self.fixed_layers)):
            if layers == "auto":  # "auto" would choose the layers by the targets, which a transformer does not get.
                raise out_of_range_error(name, "a whole number of at least 0", layers)
        list(candidates(self.depth, self.fixed_layers, deepest=1))
