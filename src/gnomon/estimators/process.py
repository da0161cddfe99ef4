"""Provides kernels of infinitely wide networks for the Gaussian processes of scikit-learn and gpytorch.

    K(x, x'; w, b) = NNGP or NTK of an MLP with weight_std w and bias_std b in every layer                 (1)
    dK / d log w ~ (K(w e^h) - K(w e^-h)) / 2h                                                             (2)

Both libraries choose w, b and other hyperparameters by the gradient of the evidence; (2) has a relative
error of h^2, 1e-8. The depth is an integer: compare the evidence of several depths.

Hypotheses: infinite width. References: [lee2018deep], [jacot2018neural].
"""

from math import exp, log
from typing import Any, Literal

import numpy as np
import torch
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel
from torch import Tensor, nn

from gnomon.core.errors import MissingExtraError, add_call_to_errors, out_of_range_error
from gnomon.estimators.network import NetworkKernel, NetworkOptions

__all__ = ["NetworkGPKernel", "gpytorch_kernel"]

LOG_STEP = 1e-4
"""h of equation (2): its square and the rounding 1e-16 / h are both below 1e-8."""
KINDS = ("nngp", "ntk")


class NetworkGPKernel(Kernel):
    """The kernel of an infinitely wide MLP for scikit-learn's Gaussian processes, with gradients for its two
    hyperparameters.

    See equation (1) of the module docstring.

    Args:
        kind: "nngp" or "ntk".
        depth: hidden layers.
        activation: a name such as "relu", or a module class.
        weight_std: w, times 1 / sqrt(fan_in).
        bias_std: b, above 0.
        weight_std_bounds: search interval of w, or "fixed".
        bias_std_bounds: search interval of b, or "fixed".

    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> model = GaussianProcessRegressor(NetworkGPKernel(depth=2), alpha=1e-6).fit(x, x[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.01)
    True
    """

    def __init__(
        self,
        kind: str = "nngp",
        depth: int = 1,
        activation: Any = "relu",
        weight_std: float = 2**0.5,
        bias_std: float = 0.1,
        weight_std_bounds: Any = (1e-2, 1e2),
        bias_std_bounds: Any = (1e-3, 1e2),
    ) -> None:
        self.kind, self.depth, self.activation = kind, depth, activation
        self.weight_std, self.bias_std = weight_std, bias_std
        self.weight_std_bounds, self.bias_std_bounds = weight_std_bounds, bias_std_bounds

    @property
    def hyperparameter_weight_std(self) -> Any:
        """Describes the hyperparameter weight_std, which scikit-learn searches on a logarithmic scale."""
        return Hyperparameter("weight_std", "numeric", self.weight_std_bounds)

    @property
    def hyperparameter_bias_std(self) -> Any:
        """Describes the hyperparameter bias_std, which scikit-learn searches on a logarithmic scale."""
        return Hyperparameter("bias_std", "numeric", self.bias_std_bounds)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Returns the kernel matrix and, on request, its derivatives with respect to the hyperparameters."""
        x = torch.as_tensor(np.asarray(X, dtype=np.float64))
        y = None if Y is None else torch.as_tensor(np.asarray(Y, dtype=np.float64))
        matrix = self._at(x.shape[1], self.weight_std, self.bias_std)(x, y).numpy()
        if not eval_gradient:
            return matrix
        slopes = [
            _slope(lambda w, b: self._at(x.shape[1], w, b)(x), self.weight_std, self.bias_std, name).numpy()
            for name in ("bias_std", "weight_std")  # scikit-learn orders hyperparameters by the alphabet.
            if not getattr(self, f"hyperparameter_{name}").fixed
        ]
        return matrix, np.stack(slopes, 2) if slopes else np.empty((*matrix.shape, 0))

    def diag(self, X: Any) -> Any:
        """Returns the kernel of each row of inputs with itself."""
        x = torch.as_tensor(np.asarray(X, dtype=np.float64))
        return self._at(x.shape[1], self.weight_std, self.bias_std).diagonal(x).numpy()

    def is_stationary(self) -> bool:
        """Returns False, because the kernel depends on more than the difference of two inputs."""
        return False

    def _at(self, inputs: int, weight_std: float, bias_std: float) -> NetworkKernel:
        return _kernel(self.kind, self.depth, self.activation, weight_std, bias_std, inputs)


@add_call_to_errors
def gpytorch_kernel(
    kind: str = "nngp",
    *,
    depth: int = 1,
    activation: Any = "relu",
    weight_std: float = 2**0.5,
    bias_std: float = 0.1,
) -> nn.Module:
    """Creates the kernel of an infinitely wide MLP as a ``gpytorch.kernels.Kernel`` with two hyperparameters.

        dK / d log w ~ (K(w e^h) - K(w e^-h)) / 2h                                                         (1)

    Args:
        kind: "nngp" or "ntk".
        depth: hidden layers.
        activation: a name such as "relu", or a module class.
        weight_std: w at the start.
        bias_std: b at the start.

    Gradients reach w and b, not the inputs. Hypotheses: see the module. Reference: [lee2018deep].
    Cost: one kernel matrix, four more for its gradients.

    >>> try:
    ...     kernel = gpytorch_kernel(depth=2)
    ... except MissingExtraError as error:
    ...     print("pip install gpytorch" in str(error))
    True
    """
    try:
        from gpytorch.kernels import Kernel as Base
    except ImportError as error:
        raise MissingExtraError("gpytorch is not installed. Run: pip install gpytorch") from error
    # Built early, because this call raises an error for invalid options before any work is done.
    _kernel(kind, depth, activation, weight_std, bias_std, 1)

    def matrix(x: Tensor, y: Tensor, weight_std: float, bias_std: float) -> Tensor:
        made = _kernel(kind, depth, activation, weight_std, bias_std, x.shape[-1])
        return made(x.detach().double(), y.detach().double()).to(x)

    class WideNetworkKernel(Base):
        """The kernel of an infinitely wide network, for Gaussian processes of gpytorch."""

        has_lengthscale = False

        def __init__(self) -> None:
            super().__init__()
            self.register_parameter("log_weight_std", nn.Parameter(torch.tensor(log(weight_std))))
            self.register_parameter("log_bias_std", nn.Parameter(torch.tensor(log(bias_std))))

        def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: Any) -> Tensor:
            whole = _Differenced.apply(matrix, x1, x2, self.log_weight_std, self.log_bias_std)
            return whole.diagonal(dim1=-1, dim2=-2) if diag else whole

    return WideNetworkKernel()


class _Differenced(torch.autograd.Function):
    """Autograd function for a kernel matrix, whose derivatives in two hyperparameters are finite differences."""

    @staticmethod
    def forward(ctx: Any, matrix: Any, x: Tensor, y: Tensor, log_w: Tensor, log_b: Tensor) -> Tensor:
        w, b = exp(float(log_w)), exp(float(log_b))
        ctx.slopes = [_slope(lambda w, b: matrix(x, y, w, b), w, b, name) for name in ("weight_std", "bias_std")]
        return matrix(x, y, w, b)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, None, *((grads[0] * slope).sum() for slope in ctx.slopes)


def _slope(matrix: Any, weight_std: float, bias_std: float, name: str) -> Tensor:
    """Returns the derivative of a kernel matrix with respect to the logarithm of a hyperparameter, by finite
    differences.
    """
    up, down = exp(LOG_STEP), exp(-LOG_STEP)
    if name == "weight_std":
        return (matrix(weight_std * up, bias_std) - matrix(weight_std * down, bias_std)) / (2 * LOG_STEP)  # (2)
    return (matrix(weight_std, bias_std * up) - matrix(weight_std, bias_std * down)) / (2 * LOG_STEP)  # (2)


def _kernel(kind: str, depth: int, activation: Any, w: float, b: float, inputs: int) -> NetworkKernel:
    if kind not in KINDS:
        raise out_of_range_error("kind", '"nngp" or "ntk"', kind)
    chosen: Literal["ntk", "nngp"] = "ntk" if kind == "ntk" else "nngp"
    return NetworkOptions(None, activation, float(w), float(b), chosen).kernel(inputs, depth=depth, fixed_layers=0)
