"""What a kernel machine learns from: scaled inputs, centered targets and weights, as tensors, and kernels of them."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.checks import as_numbers
from gnomon.estimators.network import NetworkKernel


def plain(values: Any, name: str, call: str) -> Any:
    """A torch tensor as an array, wherever and of whatever float it is; all else as scikit-learn takes it.

    >>> import torch
    >>> plain(torch.ones(1, dtype=torch.bfloat16, requires_grad=True), "X", "NTKRegressor().fit(X, y)")
    array([1.])
    """
    if not isinstance(values, Tensor):
        return values
    table = as_numbers(values, name, call=call).detach().cpu()
    return table.double().numpy() if table.is_floating_point() else table.numpy()


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """n inputs, k targets each, and positive weights.

    >>> import torch
    >>> rows = Rows(torch.zeros(3, 2), torch.zeros(3, 1), torch.tensor([1.0, 1.0, 2.0]))
    >>> rows.total, len(rows[torch.tensor([0, 2])].x)
    (4.0, 2)
    """

    x: Float[Tensor, "n d"]
    y: Float[Tensor, "n k"]
    weights: Float[Tensor, " n"]

    def __getitem__(self, index: Int[Tensor, " m"]) -> "Rows":
        return Rows(self.x[index], self.y[index], self.weights[index])

    @property
    def total(self) -> float:
        """The number of rows that the weights stand for."""
        return float(self.weights.sum())

    @property
    def root(self) -> Float[Tensor, " n"]:
        """Square roots of the weights."""
        return self.weights.sqrt()

    def mean(self, values: Float[Tensor, " n"]) -> float:
        """A weighted mean; one in place of zero, which measures nothing."""
        return float(self.weights @ values) / self.total or 1.0


@dataclass(frozen=True, slots=True, eq=False)
class WeightedKernel:
    """D K D of the rows, D = diag(sqrt(w)), as a function of row and column numbers; picklable, for other processes.

    >>> import torch
    >>> from gnomon.models import mlp
    >>> from gnomon.program import Law
    >>> x = torch.eye(2, dtype=torch.float64)
    >>> kernel = NetworkKernel(mlp(2, width=1, depth=0), Law(1.0), "nngp")                  # x . x' / 2
    >>> WeightedKernel(kernel, Rows(x, x, torch.tensor([1.0, 4.0]).double()))(torch.arange(2), torch.arange(2))
    tensor([[0.5000, 0.0000],
            [0.0000, 2.0000]], dtype=torch.float64)
    """

    kernel: NetworkKernel
    rows: Rows

    def __call__(self, rows: Int[Tensor, " a"], columns: Int[Tensor, " b"]) -> Float[Tensor, "a b"]:
        """The tile of these rows and columns."""
        root, x = self.rows.root, self.rows.x
        return root[rows, None] * self.kernel(x[rows], x[columns]) * root[columns]

    def matrix(self) -> Float[Tensor, "n n"]:
        """All of it, exactly symmetric, computed in one pass and scaled in place."""
        gram, root = self.kernel(self.rows.x), self.rows.root
        return gram if bool((root == 1).all()) else gram.mul_(root).mul_(root[:, None])
