"""Multiplies Gauss-Newton and Fisher matrices of the mean loss by vectors, without storing the matrices.

With J_i = df(x_i) / dw, and M_i a matrix in the outputs of example i,

    A = (1 / n) sum_i J_i^T M_i J_i                                                                  (1)
    Gauss-Newton       M_i = d^2 l / df^2                                                            (2)
    Fisher             M_i = E[g g^T],  g = dl / df for y drawn from the model's own prediction      (3)
    Fisher, sampled    M_i = mean of g g^T over m such draws                                         (4)
    empirical Fisher   M_i = g g^T      for the y of the data                                        (5)

(2) leaves out of the Hessian the curvature of f itself, and is never negative. For cross-entropy, squared and logistic
loss (3) is equal to (2). (4) estimates it without bias; (5) is another matrix, close to (3) only if the model fits the
data. A product is J v in forward mode (`gnomon.landscape.jvp`) and one backward pass.

Reference: [schraudolph2002fast] for (1), [martens2020new] for (3) and [kunstner2019limitations] for (5).

>>> import torch
>>> net, x = nn.Linear(2, 1, bias=False), torch.eye(2)
>>> gauss_newton(net, (x, torch.zeros(2))).dense()                                   # x x^T averaged
tensor([[0.5000, 0.0000],
        [0.0000, 0.5000]])
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.losses import CrossEntropy, Logistic, Squared
from gnomon.core.modules.outputs import output_tensor
from gnomon.landscape.curvature import AbstractCurvature, Setup
from gnomon.landscape.jvp import double_backward_jvp, forward_mode_jvp, jvp_matches_vjp
from gnomon.training.evaluate import Loss

__all__ = ["GaussNewtonOperator", "empirical_fisher", "fisher", "gauss_newton"]

Middle = Callable[[Tensor], Tensor]
"""Maps u to M u for the outputs of a batch, weighted by the share of the batch in the mean."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One batch prepared for products with a Gauss-Newton or Fisher matrix: inputs, random state, and outputs with
    graph.
    """

    x: Inputs
    random: Tensor
    outputs: Tensor
    middle: Middle


class AbstractOutputCurvature(AbstractCurvature):
    """A curvature matrix of the form mean of J^T M J, with the Jacobian J of the outputs and a matrix M of the
    outputs.
    """

    _forward: bool | None = None
    """Whether J v is computed in forward mode; None before the first product."""

    def _part(self, number: int, x: Inputs, y: Tensor) -> Part:
        random = torch.get_rng_state()
        outputs = self._outputs(x)
        return Part(x, random, outputs, self._middle(number, outputs.detach(), y))

    def _product(self, part: Part, pieces: list[Tensor]) -> list[Tensor]:
        if not part.outputs.requires_grad:  # The outputs do not depend on these parameters, so the product is zero.
            return [torch.zeros_like(u) for u in pieces]
        return list(
            torch.autograd.grad(part.outputs, self._leaves, part.middle(self._jvp(part, pieces)), retain_graph=True,
                                allow_unused=True, materialize_grads=True)
        )  # (1)  # fmt: skip

    def _jvp(self, part: Part, pieces: list[Tensor]) -> Tensor:
        """Returns the product of a batch's Jacobian with a vector, which is given in pieces, one per parameter."""
        if self._forward is not False:
            with self._reading():
                torch.set_rng_state(part.random)
                moved = forward_mode_jvp(
                    lambda leaves: output_tensor(self._f.module_output(part.x, leaves)),
                    self._f.leaves,
                    pieces,
                )
            if self._forward is None:
                self._forward = moved is not None and jvp_matches_vjp(part.outputs, self._leaves, pieces, moved)
            if self._forward and moved is not None:
                return moved
        return double_backward_jvp(part.outputs, self._leaves, pieces)

    def _middle(self, number: int, outputs: Tensor, y: Tensor) -> Middle:
        raise NotImplementedError

    def _slope(self, outputs: Tensor, y: Tensor, *, graph: bool) -> tuple[Tensor, Tensor]:
        """Returns the outputs as a leaf tensor, and the derivative of the batch's loss with respect to the outputs."""
        leaf = outputs.requires_grad_()
        return leaf, torch.autograd.grad(self._weighted_loss(leaf, y), leaf, create_graph=graph)[0]


class GaussNewtonOperator(AbstractOutputCurvature):
    """The Gauss-Newton matrix of the loss, as an operator that multiplies vectors."""

    def _middle(self, number: int, outputs: Tensor, y: Tensor) -> Middle:
        leaf, slope = self._slope(outputs, y, graph=True)

        def middle(u: Tensor) -> Tensor:
            if not slope.requires_grad:  # A loss that is linear in the outputs has no curvature, so the result is zero.
                return torch.zeros_like(u)
            return torch.autograd.grad(slope, leaf, u, retain_graph=True)[0]  # (2)

        return middle


class EmpiricalFisherOperator(AbstractOutputCurvature):
    """The empirical Fisher matrix as an operator: the mean of g g^T over the gradients g of single examples."""

    def _middle(self, number: int, outputs: Tensor, y: Tensor) -> Middle:
        # The factor n turns the gradient of the mean loss into gradients of each example's own loss, which the Fisher
        # matrix needs.
        slope = self._slope(outputs, y, graph=False)[1] * self._n
        return _outer(slope[None], self._n)  # (5)


class SampledFisherOperator(AbstractOutputCurvature):
    """The Fisher matrix estimated with labels drawn from the model's own predictions, as an operator."""

    def __init__(self, setup: Setup, samples: int, seed: int) -> None:
        self._samples, self._seed = samples, seed
        super().__init__(setup)

    def block(self, parameters: str | Sequence[str]) -> "SampledFisherOperator":
        """Returns the Fisher matrix of some of the parameters, with the same random draws."""
        return SampledFisherOperator(replace(self._setup, parameters=parameters), self._samples, self._seed)

    def _middle(self, number: int, outputs: Tensor, y: Tensor) -> Middle:
        # The generator is seeded here, so that every product with a vector uses the same random draws.
        generator = torch.Generator(outputs.device).manual_seed(self._seed + number)
        f = outputs.reshape(len(y), -1)
        slopes = _draw(self._setup.objective.loss, f, self._samples, generator)
        return _outer(slopes.reshape(self._samples, *outputs.shape), self._n * self._samples)  # (4)


@add_call_to_errors
def gauss_newton(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    tile: int | None = None,
) -> GaussNewtonOperator:
    """Returns the Gauss-Newton matrix of the loss as an operator; arguments and methods are as for `hessian`.

    See equation (2) of the module docstring.
    Hypotheses: a loss that is a mean over examples, each a function of its own outputs, and convex in them for a matrix
    that is never negative.
    Reference: [schraudolph2002fast].
    Cost: per product a forward pass with its derivative and a backward pass, and for more than ``tile`` examples one
    more forward pass; a module without forward mode takes three backward passes.

    >>> A = gauss_newton(nn.Linear(1, 1), (torch.tensor([[2.0]]), torch.zeros(1)))        # (2, 1)^T (2, 1)
    >>> [round(abs(v), 4) for v in A.top(2).values.tolist()]
    [5.0, 0.0]
    """
    return GaussNewtonOperator(Setup.of(module, data, loss, parameters, tile))


@add_call_to_errors
def fisher(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    tile: int | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> AbstractOutputCurvature:
    """Returns the Fisher matrix of the model's own predictions as an operator: exact, or from ``draws`` random draws.

    See equations (3) and (4) of the module docstring.
    Other arguments and all methods are the same as for `hessian`; targets only determine the kind of prediction.

    Hypotheses: cross-entropy (a categorical prediction), squared loss (a Gaussian one of variance 1) or logistic loss.
    Reference: [martens2020new].
    Cost: as for `gauss_newton`.

    >>> net, x = nn.Linear(1, 2, bias=False), torch.ones(1, 1)
    >>> nn.init.zeros_(net.weight).shape
    torch.Size([2, 1])
    >>> fisher(net, (x, torch.tensor([0]))).dense()                                       # diag(p) - p p^T
    tensor([[ 0.2500, -0.2500],
            [-0.2500,  0.2500]])
    """
    setup = Setup.of(module, data, loss, parameters, tile)
    if not isinstance(setup.objective.loss, CrossEntropy | Squared | Logistic):
        fix = "Pass CrossEntropy(), Squared() or Logistic(), or use gauss_newton or empirical_fisher"
        raise InputError(
            f"the loss is {setup.objective.name}", accepted="the negative logarithm of a probability density", fix=fix
        )
    if draws is None:
        return GaussNewtonOperator(setup)  # (3)
    return SampledFisherOperator(setup, check_integer("draws", draws), check_seed(seed))


@add_call_to_errors
def empirical_fisher(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    tile: int | None = None,
) -> EmpiricalFisherOperator:
    """Returns the empirical Fisher matrix (mean of g g^T over per-example gradients g) as an operator that multiplies
    vectors.

    See equation (5) of the module docstring.
    Hypotheses: a loss that is a mean over examples, each a function of its own outputs.
    Reference: [kunstner2019limitations], which explains why it does not approximate curvature away from a good fit.
    Cost: as for `gauss_newton`.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> nn.init.zeros_(net.weight).shape
    torch.Size([1, 1])
    >>> empirical_fisher(net, (torch.ones(2, 1), torch.tensor([1.0, 3.0]))).dense()      # (1 + 9) / 2
    tensor([[5.]])
    """
    return EmpiricalFisherOperator(Setup.of(module, data, loss, parameters, tile))


def _outer(slopes: Tensor, count: int) -> Middle:
    """Returns a function that multiplies output vectors by the mean of g g^T over random draws of g, for each
    example.
    """
    flat = slopes.flatten(2) if slopes.dim() > 2 else slopes[..., None]

    def middle(u: Tensor) -> Tensor:
        products = torch.einsum("mnk,nk->mn", flat, u.reshape(flat.shape[1:]))
        return (torch.einsum("mn,mnk->nk", products, flat) / count).reshape(u.shape)

    return middle


def _draw(loss: Loss, f: Tensor, samples: int, generator: torch.Generator) -> Tensor:
    """Returns derivatives of the loss with respect to the outputs, for targets drawn from the network's predictions."""
    shape = (samples, *f.shape)
    if isinstance(loss, CrossEntropy):
        p = torch.softmax(f.double(), 1)
        labels = torch.multinomial(p, samples, replacement=True, generator=generator).T
        return (p - torch.nn.functional.one_hot(labels, f.shape[1])).to(f.dtype)
    if isinstance(loss, Squared):
        return torch.randn(shape, generator=generator, dtype=f.dtype, device=f.device)
    p = torch.sigmoid(f)
    positive = torch.rand(shape, generator=generator, dtype=f.dtype, device=f.device) < p
    return torch.where(positive, p - 1, p)
