"""Counts the directions in parameter space along which the loss does not change to second order.

    at a fitted minimum  H = J^T S J / n,    rank H <= n k,    flat directions = p - rank                         (1)

J is the Jacobian of the n k outputs in the p parameters: more parameters than outputs leave a whole set of minima.
Hypotheses: all examples are fitted, so that H is its Gauss-Newton part. Reference: [sagun2016eigenvalues].

>>> import torch
>>> flat_directions(nn.Linear(5, 1, bias=False), (torch.eye(5)[:2], torch.zeros(2))).flat
3
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.checks import check_integer, check_weights
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import finite_loss

__all__ = ["FlatDirections", "flat_directions"]

JACOBIAN_ROUNDINGS = 10
"""A singular value below this multiple of the floating-point precision times |J| counts as zero."""
COLUMNS_PER_TILE = 2**18
"""Number of columns of J that are held in float64 at once."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatDirections(Result):
    """Result: how many directions of the parameters change outputs of the examples, and the curvatures along them."""

    parameters: int
    rank: int
    values: Tensor
    loss: float

    @property
    def flat(self) -> int:
        """The number of directions of the parameters that change no output of these examples to first order."""
        return self.parameters - self.rank  # (1)

    @property
    def verdict(self) -> str:
        """A sentence with the number of directions of the parameters that change no output."""
        return (
            f"{self.flat:,} of {self.parameters:,} directions in parameter space change no output of these examples; "
            f"the other {self.rank} directions do."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the curvatures of the loss that are not zero, largest first."""
        shown = self.values[self.values > 0]
        line = Line("curvature", range(1, len(shown) + 1), shown)
        return (
            Plot(
                "Curvatures of a fitted minimum",
                (line,),
                Axis("direction, largest curvature first"),
                Axis("curvature", log=True),
            ),
        )


@add_call_to_errors
def flat_directions(module: nn.Module, data: Any, *, examples: int = 100, loss: Loss | None = None) -> FlatDirections:
    """Counts the directions of the parameters that change no output of the examples.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        examples: number of examples to use, the first of the data; the count is exact for them.
        loss: as in `hessian`; only for the reported loss.

    Hypotheses: see the module. Reference: [sagun2016eigenvalues].
    Cost: a backward pass for each output of each example, O((n k)^2 p) for their products.

    >>> flat_directions(nn.Linear(2, 1), (torch.tensor([[1.0, 0.0]]), torch.zeros(1))).rank
    1
    """
    check_weights(module)
    most = check_integer("examples", examples)
    with preserve(module):
        objective = Objective.of(data, module, loss)
        value = finite_loss(objective.measure(module, None)[0])
        f = PureFunction.of(module)
        leaves, inputs, rows = list(f.leaves.values()), objective.data.first(most).x, []
        n = len(objective.data.first(most))
        for i in range(n):
            out = f(take_examples(inputs, slice(i, i + 1)))[0]
            for a in range(len(out)):
                parts = torch.autograd.grad(out[a], leaves, retain_graph=a + 1 < len(out), allow_unused=True,
                                            materialize_grads=True)  # fmt: skip
                rows.append(torch.cat([g.flatten() for g in parts]))
    p = len(rows[0])
    values = torch.linalg.eigvalsh(_gram(rows)).flip(0).clamp_min(0)
    precision = torch.finfo(rows[0].dtype).eps
    least = max((JACOBIAN_ROUNDINGS * precision) ** 2, torch.finfo(torch.float64).eps * max(p, len(rows)) ** 0.5)
    return FlatDirections(p, int((values > least * float(values.sum())).sum()), values / n, value)


def _gram(rows: list[Tensor]) -> Tensor:
    """Returns J J^T in double precision from the rows of the Jacobian J, computed in blocks of columns."""
    total = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=rows[0].device)
    for start in range(0, len(rows[0]), COLUMNS_PER_TILE):
        part = torch.stack([row[start : start + COLUMNS_PER_TILE] for row in rows]).double()
        total += part @ part.T
    return total
