"""The largest curvature of the loss, and the step that it allows.

    lambda = max_v v^T H v / v^T v,    descent is stable for steps below 2 / lambda                            (1)

With momentum beta the bound is 2 (1 + beta) / lambda. Reference: [cohen2021gradient], [lecun1993automatic].
"""

from dataclasses import dataclass
from math import inf
from typing import Any

from torch import nn

from gnomon.core.arrays import Array
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs
from gnomon.core.losses import AbstractLoss
from gnomon.landscape.hessian import Hessian
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.trace import TraceEstimate, hutchinson

CALL = "sharpness(module, x, y)"


@dataclass(frozen=True, slots=True)
class Sharpness:
    """The largest eigenvalue of the Hessian; a true eigenvalue lies within ``residual`` of it.

    >>> Sharpness(4.0, 0.0, 10).stable_step()
    0.5
    """

    value: float
    residual: float
    products: int

    def stable_step(self, momentum: float = 0.0) -> float:
        """The step below which descent does not oscillate away; infinite where no direction curves up."""
        return 2 * (1 + momentum) / self.value if self.value > 0 else inf

    @property
    def verdict(self) -> str:
        """One sentence."""
        return f"The sharpness is {self.value:.4g}: steps below {self.stable_step():.3g} are stable."

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {"value": self.value, "residual": self.residual, "products": self.products}


def sharpness(
    module: nn.Module, x: Inputs, y: Array, *, loss: AbstractLoss | None = None, iterations: int | None = None,
    seed: int = 0,
) -> Sharpness:  # fmt: skip
    """The largest eigenvalue of the Hessian of the mean loss, by the Lanczos method.

        lambda = max_v v^T H v / v^T v                                                                       (1)

    ``iterations`` is the number of products; by default as many as it takes. Fewer give a smaller number, never a
    larger one.

    Hypotheses: as `hessian`.
    Reference: [cohen2021gradient].
    Cost: a Hessian product for each iteration.

    >>> import torch
    >>> net, x = nn.Linear(2, 1, bias=False), torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> round(sharpness(net, x, torch.zeros(2)).value, 5)                        # largest eigenvalue of x^T x / 2
    2.0
    """
    if iterations is not None and iterations < 1:
        raise InputError(lesson(CALL, f"iterations={iterations}", "at least one", "Leave it out, or pass 20"))
    operator = Hessian(module, loss, x, y)
    steps = None if iterations is None else min(iterations, operator.size)
    found = top_eigenpairs(operator, 1, steps=steps, seed=seed)
    return Sharpness(float(found.values[0]), float(found.residuals[0]), found.products)


def hessian_trace(
    module: nn.Module, x: Inputs, y: Array, *, loss: AbstractLoss | None = None, samples: int = 32, seed: int = 0
) -> TraceEstimate:
    """The trace of the Hessian, the sum of all curvatures, with an interval at 95 % confidence.

        tr H = E[z^T H z],    z of random signs                                                              (1)

    Hypotheses: as `hessian`.
    Reference: [hutchinson1989stochastic].
    Cost: a Hessian product for each sample.

    >>> import torch
    >>> net = nn.Linear(2, 1, bias=False)
    >>> hessian_trace(net, torch.eye(2), torch.zeros(2), samples=4).value        # diagonal: exact
    1.0
    """
    return hutchinson(Hessian(module, loss, x, y), samples=samples, seed=seed)
