"""Multiplies vectors by J J^T or J^T J without storing them; J is the Jacobian of outputs with respect to parameters.

With J the Jacobian of all n k outputs with respect to all p parameters,

    J^T u    one backward pass                                          (1)
    J v      one backward pass through the map u -> J^T u               (2)

so neither matrix is formed; their nonzero eigenvalues, which agree, come from `gnomon.linalg`.

>>> import torch
>>> a = tangent_operator(torch.nn.Linear(2, 1), torch.eye(2), parameters="weight")
>>> a.size, round(a.trace(products=6).value, 4)
(2, 2.0)
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction, check_finite_outputs
from gnomon.linalg.lanczos import Eigenpairs, SpectralDensity, spectral_density, top_eigenpairs
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.trace import TraceEstimate, hutch_plus_plus
from gnomon.tangent.checks import check_eval_mode, check_stable_buffers

__all__ = ["TangentOperator", "tangent_operator"]


class TangentOperator(AbstractOperator):
    """The matrix J J^T (outputs) or J^T J (parameters) of a network's Jacobian J, as an operator that multiplies
    vectors.
    """

    def __init__(self, module: nn.Module, x: Any, *, side: str, parameters: str | Sequence[str] | None):
        with preserve(module, mode=None, all_derivatives=True):
            f = PureFunction.of(module, parameters)
            inputs = all_inputs(x, module)
            check_eval_mode(module)
            y = f(inputs)
            check_finite_outputs(y.detach())
            check_stable_buffers(f, inputs)
            self._leaves, self._outputs, self.side = list(f.leaves.values()), y.reshape(-1), side
            self._dummy = torch.zeros_like(self._outputs, requires_grad=True)
            back = torch.autograd.grad(self._outputs, self._leaves, self._dummy, create_graph=True, allow_unused=True)
        self._back = [torch.zeros_like(w) if g is None else g for g, w in zip(back, self._leaves, strict=True)]

    @property
    def size(self) -> int:
        """The number of rows of the operator: one per output and example, or one per parameter."""
        return len(self._outputs) if self.side == "outputs" else sum(w.numel() for w in self._leaves)

    @property
    def like(self) -> Tensor:
        """An empty tensor with the module's dtype and device."""
        return self._outputs.detach().new_empty(0)

    def pull(self, u: Float[Tensor, " nk"]) -> Float[Tensor, " p"]:
        """Returns J^T u for a vector u of outputs, with J the Jacobian of the outputs with respect to the
        parameters.
        """
        grads = torch.autograd.grad(self._outputs, self._leaves, u, retain_graph=True, allow_unused=True)  # (1)
        return torch.cat([
            (torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(grads, self._leaves, strict=True)
        ])  # fmt: skip

    def push(self, v: Float[Tensor, " p"]) -> Float[Tensor, " nk"]:
        """Returns J v for a vector v of parameters, with J the Jacobian of the outputs with respect to the parameters.

        See equation (2) of the module docstring.
        """
        parts = v.split([w.numel() for w in self._leaves])
        pairs = [(g, p.reshape(g.shape)) for g, p in zip(self._back, parts, strict=True) if g.requires_grad]
        (product,) = torch.autograd.grad([g for g, _ in pairs], self._dummy, [p for _, p in pairs], retain_graph=True)
        return product  # (2)

    def matvec(self, v: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the product of the operator with a vector: J J^T v, or J^T J v, with J the Jacobian of
        the outputs.
        """
        return self.push(self.pull(v)) if self.side == "outputs" else self.pull(self.push(v))

    def top(self, k: int, *, seed: int = 0) -> Eigenpairs:
        """Returns the k largest eigenvalues of the operator and their eigenvectors, by the Lanczos method."""
        return top_eigenpairs(self, k, seed=seed)

    def density(self, *, steps: int = 40, starts: int = 8, seed: int = 0) -> SpectralDensity:
        """Estimates the distribution of the operator's eigenvalues, by the Lanczos method."""
        return spectral_density(self, steps=min(steps, self.size), starts=starts, seed=seed)

    def trace(self, *, products: int = 96, confidence: float = 0.95, seed: int = 0) -> TraceEstimate:
        """Estimates the trace of the operator with a confidence interval, from random vectors."""
        return hutch_plus_plus(self, products=products, confidence=confidence, seed=seed)


@add_call_to_errors
def tangent_operator(
    module: nn.Module, data: Any, *, side: str = "outputs", parameters: str | Sequence[str] | None = None
) -> TangentOperator:
    """Returns J J^T or J^T J of a network's Jacobian J as an operator that multiplies vectors without storing the
    matrix.

    Inputs are as in `gnomon.tangent.ntk`, data sets and loaders included; they are held in memory.

    Hypotheses: the module is deterministic and twice differentiable by autograd (relu counts).
    Reference: [jacot2018neural].
    Cost: one forward pass now; two backward passes per product; the graph of x is held as long as the operator.

    >>> net, x = nn.Linear(2, 1), torch.tensor([[3.0, 4.0]])
    >>> float(tangent_operator(net, x).dense())                             # |x|^2 + 1, for the weights and the bias
    26.0
    """
    check_module_is_callable(module)
    if side not in ("outputs", "parameters"):
        accepted = "'outputs' for J J^T or 'parameters' for J^T J"
        raise out_of_range_error("side", accepted, side)
    return TangentOperator(module, data, side=side, parameters=parameters)
