"""Defines what Hessian, Gauss-Newton and Fisher matrices share: they are used through products with vectors.

    L(w) = (1 / n) sum_i l(f(w, x_i), y_i)                                                           (1)

Each of them is a symmetric p x p matrix that is a mean over examples, so the products of batches add up. If all
examples fit in one batch, its graph is kept; otherwise the graph is rebuilt for every product.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_examples
from gnomon.core.errors import NotFiniteError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_module_is_callable
from gnomon.core.machine.budget import limit_time
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.pure import PureFunction
from gnomon.core.modules.run import run_module
from gnomon.core.modules.saved_bytes import bytes_saved_for_backward, examples_that_fit
from gnomon.linalg.conjugate import LinearSolve, solve_operator
from gnomon.linalg.diagonal import DiagonalEstimate, diagonal
from gnomon.linalg.lanczos import Eigenpairs, SpectralDensity, spectral_density, top_eigenpairs
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.trace import TraceEstimate, automatic_trace, hutch_plus_plus, hutchinson
from gnomon.training.evaluate import Loss, Objective

__all__ = ["AbstractCurvature"]

MAX_EXAMPLES_PER_GRAPH = 512
"""Maximum number of examples whose graph is held at once, if the caller passes none and memory allows."""
SECOND_DERIVATIVE_MEMORY = 4
"""Memory of a second derivative relative to what a forward pass keeps for the first."""
Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The arguments that define a curvature matrix: module, loss with data, chosen parameters, and examples per
    graph.
    """

    module: nn.Module
    objective: Objective
    parameters: Names
    tile: int

    @classmethod
    def of(cls, module: Any, data: Any, loss: Loss | None, parameters: Names, tile: int | None) -> "Setup":
        """Checks the arguments of `hessian` and similar functions, and returns them as one record."""
        if isinstance(module, nn.Module):
            module, data = adapt_examples(module, data)
        check_module_is_callable(module)
        with preserve(module, mode=None):
            objective = Objective.of(data, module, loss)
            tile = _affordable(module, objective) if tile is None else check_integer("tile", tile)
            return cls(module, objective, parameters, tile)


class AbstractCurvature(AbstractOperator):
    """A curvature matrix of the mean loss, such as the Hessian, that is used through products with vectors."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        with preserve(setup.module, mode=None):
            self._n = len(setup.objective)  # Counted once, because counting a stream's examples reads all of them.
            self._f = PureFunction.of(setup.module, setup.parameters)
            self._kept = list(self._parts()) if self._n <= setup.tile else None

    @abstractmethod
    def _part(self, number: int, x: Inputs, y: Tensor) -> Any:
        """Returns stored values of batch ``number``, which products with the curvature matrix use again."""

    @abstractmethod
    def _product(self, part: Any, pieces: list[Tensor]) -> list[Tensor]:
        """Returns a batch's contribution to the product of the curvature matrix with a vector, in pieces, one per
        parameter.
        """

    @property
    def size(self) -> int:
        """The number of chosen parameters, which is the number of rows of the curvature matrix."""
        return sum(w.numel() for w in self._leaves)

    @property
    def like(self) -> Tensor:
        """An empty tensor with the dtype and device in which products with the curvature matrix are computed."""
        return self._leaves[0].detach().new_empty(0)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of their entries in a vector."""
        return tuple(self._f.leaves)

    def matvec(self, v: Float[Tensor, " p"]) -> Float[Tensor, " p"]:
        """Multiplies the curvature matrix by a vector v with one entry per parameter."""
        leaves = self._leaves
        pieces = [part.reshape(w.shape) for part, w in zip(v.split([w.numel() for w in leaves]), leaves, strict=True)]
        total = None
        for part in self._parts() if self._kept is None else self._kept:
            share = torch.cat([h.flatten() for h in self._product(part, pieces)])
            total = share if total is None else total.add_(share)
        assert total is not None  # The data contain at least one batch, so the sum exists.
        return total

    def gradient(self) -> Float[Tensor, " p"]:
        """Returns the gradient of the mean loss, dL / dw."""
        total = self.like.new_zeros(self.size)
        for _, x, y in self._batches():
            with self._reading():
                gradients = torch.autograd.grad(self._share(x, y), self._leaves, allow_unused=True,
                                                materialize_grads=True)  # fmt: skip
            total += torch.cat([g.flatten() for g in gradients])
        return total

    def block(self, parameters: str | Sequence[str]) -> "AbstractCurvature":
        """Returns the curvature matrix of some of the parameters, chosen by a pattern of their names."""
        return type(self)(replace(self._setup, parameters=parameters))

    def by_layer(self) -> Iterator[tuple[str, "AbstractCurvature"]]:
        """Yields the name of each layer and the block of the curvature matrix that belongs to the layer's parameters.

        Parameters of the module itself have the name "".
        """
        layers = dict.fromkeys(name.rpartition(".")[0] for name in self.names)
        for layer in layers:
            yield layer, self.block([name for name in self.names if name.rpartition(".")[0] == layer])

    @add_call_to_errors
    @limit_time
    def top(
        self,
        k: int = 1,
        *,
        iterations: int | None = None,
        accuracy: float | None = None,
        seed: int = 0,
        budget: float | None = None,
    ) -> Eigenpairs:
        """Returns the k largest eigenvalues of the curvature matrix and their eigenvectors, by the Lanczos method.

        ``budget``, here and in the other methods, is the number of seconds after which the call ends with an error that
        says how long it would take.
        """
        return top_eigenpairs(self, k, steps=iterations, accuracy=accuracy, seed=seed)

    @add_call_to_errors
    @limit_time
    def density(
        self, *, steps: int = 40, starts: int = 4, seed: int = 0, budget: float | None = None
    ) -> SpectralDensity:
        """Estimates the distribution of the curvature matrix's eigenvalues, by the Lanczos method."""
        return spectral_density(self, steps=min(steps, self.size), starts=starts, seed=seed)

    @add_call_to_errors
    @limit_time
    def trace(
        self, *, products: int = 60, confidence: float = 0.95, method: str = "auto", seed: int = 0,
        budget: float | None = None,
    ) -> TraceEstimate:  # fmt: skip
        """Estimates the trace of the curvature matrix with a confidence interval, from products with random vectors.

        See `gnomon.linalg.trace`.
        """
        if method not in ("auto", "hutch++", "hutchinson"):
            known = '"auto", "hutch++" or "hutchinson"'
            raise out_of_range_error("method", known, method)
        if method == "auto" and products >= 12:
            return automatic_trace(self, products=products, confidence=confidence, seed=seed)
        if method != "hutchinson":
            return hutch_plus_plus(self, products=products, confidence=confidence, seed=seed)
        return hutchinson(self, samples=products, confidence=confidence, seed=seed)

    @add_call_to_errors
    @limit_time
    def diagonal(
        self, *, samples: int = 100, confidence: float = 0.95, seed: int = 0, budget: float | None = None
    ) -> DiagonalEstimate:
        """Estimates every diagonal entry of the curvature matrix with a confidence interval, from random vectors."""
        return diagonal(self, samples=samples, confidence=confidence, seed=seed)

    @add_call_to_errors
    @limit_time
    def inverse_product(
        self, b: Float[Tensor, " p"], *, damping: float = 0.0, tolerance: float = 1e-5, products: int = 1000,
        budget: float | None = None,
    ) -> LinearSolve:  # fmt: skip
        """Solves (A + damping I) x = b for x, with A the curvature matrix, by conjugate gradients."""
        return solve_operator(self, b, damping=damping, tolerance=tolerance, products=products)

    def to_scipy(self) -> Any:
        """Returns the curvature matrix as a ``scipy.sparse.linalg.LinearOperator``, for scipy's own solvers."""
        from scipy.sparse.linalg import LinearOperator  # Imported here, because scipy is slow to import.

        like = self.like

        def product(v: Any) -> Any:
            return self.matvec(torch.as_tensor(v).reshape(-1).to(like)).cpu().numpy()

        kind = like.cpu().numpy().dtype
        return LinearOperator((self.size, self.size), matvec=product, rmatvec=product, dtype=kind)

    @property
    def _leaves(self) -> list[Tensor]:
        return list(self._f.leaves.values())

    def _reading(self) -> AbstractContextManager[None]:
        return preserve(self._setup.module, all_derivatives=True)

    def _batches(self) -> Iterator[tuple[int, Inputs, Tensor]]:
        batches, number = self._setup.objective.batches(self._setup.tile), 0
        while True:
            # A shuffling data loader draws random numbers, which must not change the user's random state.
            with random_state():
                batch = next(batches, None)
            if batch is None:
                return
            yield number, *batch
            number += 1

    def _parts(self) -> Iterator[Any]:
        for number, x, y in self._batches():
            with self._reading():
                part = self._part(number, x, y)
            yield part

    def _share(self, x: Inputs, y: Tensor) -> Tensor:
        """Returns the contribution of a batch to the mean loss, with the autograd graph."""
        return self._weighted_loss(self._f.module_output(x), y)

    def _weighted_loss(self, outputs: Any, y: Tensor) -> Tensor:
        value = self._setup.objective.loss_of(outputs, y) * (len(y) / self._n)
        if not bool(value.detach().isfinite()):
            fix = "Look for NaN in the weights, or lower the scale of the weights"
            raise NotFiniteError("the loss is not finite", accepted="a finite loss", fix=fix)
        return value

    def _outputs(self, x: Inputs) -> Tensor:
        return output_tensor(self._f.module_output(x))


def _affordable(module: nn.Module, objective: Objective) -> int:
    """Returns how many examples' autograd graphs fit into half of the free memory, at most `MAX_EXAMPLES_PER_GRAPH`."""
    batch = objective.data.first(1)
    y = objective.of_batch(batch)[1]
    with preserve(module, all_derivatives=True):
        each = bytes_saved_for_backward(lambda: objective.loss_of(run_module(module, batch.x), y), module)
    return examples_that_fit(SECOND_DERIVATIVE_MEMORY * each, MAX_EXAMPLES_PER_GRAPH)
