"""Computes gradients of single examples and outputs for a block of examples, for the tangent kernel.

One forward pass serves all outputs and all parameters. A backward pass stops at the results of the operations that
use parameters; the gradients of the parameters themselves, summed over the batch, are never formed. The examples go
through in pieces whose activations stay near the processor: memory that is used again costs less than new memory.
"""

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.pure import PureFunction, check_finite_outputs
from gnomon.tangent.factors import Factors, Lookup, Matrix
from gnomon.tangent.gate import consumers, gate, readout
from gnomon.tangent.graph import keep_channels_last, nodes, uses
from gnomon.tangent.layout import ExampleLayout, scaled_with
from gnomon.tangent.plan import KernelTerm, NTKPlan
from gnomon.tangent.rules import factors_of

Gradients = dict[int, Tensor | None]
"""For each use, by its number: the gradient of one output, summed over examples, with respect to its result."""

PIECE_BYTES = 128 * 2**20
"""Bytes of activations that one piece may hold, so that its tensors reuse memory that was just freed."""


class ChangedGraph(Exception):
    """Raised if the autograd graph of a block of examples differs from the graph on which the computation was
    planned.
    """


class Block:
    """The examples in the rows or columns of one tile of the kernel matrix, divided into pieces that fit
    into memory.
    """

    def __init__(self, f: PureFunction, x: Inputs, plan: NTKPlan, start: int = 0):
        n = count_examples(x)
        chunk = max(1, min(n, PIECE_BYTES // max(1, plan.activations)))
        chunk = -(-n // -(-n // chunk))  # Makes all pieces nearly equal in size, so that none wastes memory.
        self.x, self.size = x, n
        self.pieces = [Piece(f, take_examples(x, slice(i, i + chunk)), plan, start + i) for i in range(0, n, chunk)]

    def __len__(self) -> int:
        return self.size

    @property
    def outputs(self) -> Tensor:
        """The network's outputs for all examples of the block, of shape (n, k)."""
        return torch.cat([piece.outputs.detach() for piece in self.pieces])

    def gradients(self, cotangent: Tensor) -> list[Gradients]:
        """Returns gradients of the outputs, weighted by ``cotangent``, at the results of all operations that use
        parameters.
        """
        return [piece.gradients(cotangent) for piece in self.pieces]

    def inputs(self, term: KernelTerm) -> list[Tensor]:
        """Returns the inputs of a layer with a weight matrix for all examples, in pieces (n, groups, positions,
        features).
        """
        return [piece.inputs(term) for piece in self.pieces]

    def grads(self, term: KernelTerm, gradients: list[Gradients]) -> list[Tensor]:
        """Returns the gradients at the output of a layer with a weight matrix, in pieces (n, groups, positions,
        features).
        """
        return [piece.grads(term, g) for piece, g in zip(self.pieces, gradients, strict=True)]

    def readout(self, term: KernelTerm) -> list[Tensor]:
        """Returns the gradients of pooled values with respect to a convolution's output, in pieces (n, groups,
        positions, units).
        """
        return [piece.readout(term) for piece in self.pieces]

    def gates(self, term: KernelTerm, gradients: list[Gradients]) -> Tensor:
        """Returns the gradients of one network output with respect to a convolution's globally pooled values, of shape
        (n, units).
        """
        pooled = [g[term.uses[0]] for g in gradients]
        shapes = [len(piece.outputs) for piece in self.pieces]
        units = next((g[0].numel() for g in pooled if g is not None), 1)
        like = self.pieces[0].outputs
        return torch.cat(
            [like.new_zeros(n, units) if g is None else g.reshape(n, -1) for g, n in zip(pooled, shapes, strict=True)]
        )

    def tokens(self, term: KernelTerm) -> Tensor:
        """Returns the indices that the examples looked up in an embedding table, of shape (n, positions)."""
        return torch.cat([piece.tokens(term) for piece in self.pieces])

    def token_grads(self, term: KernelTerm, gradients: list[Gradients]) -> Tensor:
        """Returns the gradients at the output of an embedding layer, of shape (n, positions, features)."""
        return torch.cat([piece.token_grads(term, g) for piece, g in zip(self.pieces, gradients, strict=True)])

    def per_example(self, term: KernelTerm, gradients: list[Gradients]) -> Tensor:
        """Returns each example's gradient with respect to one group of parameters, of shape (n, p)."""
        return torch.cat([piece.per_example(term, g) for piece, g in zip(self.pieces, gradients, strict=True)])


class Piece:
    """A few examples with the autograd graph of the network's outputs for them."""

    def __init__(self, f: PureFunction, x: Inputs, plan: NTKPlan, start: int):
        self.outputs = f(x)
        check_finite_outputs(self.outputs.detach(), start)
        graph = nodes(self.outputs) if plan.terms else []
        self.uses = uses(graph, f.leaves)
        if any(operation == "ConvolutionBackward0" for _, operation, _ in plan.signature):
            keep_channels_last(graph)
        if plan.terms and tuple(use.signature for use in self.uses) != plan.signature:
            raise ChangedGraph
        self.factors: list[Factors | None] = [factors_of(u.node, u.slot, u.argument_shape) for u in self.uses]
        self._edges = {i: self.uses[i].output for term in plan.terms for i in term.uses}
        users = consumers(graph) if any(term.gated for term in plan.terms) else {}
        for term in plan.terms:
            if term.gated:
                edge = gate(self.uses[term.uses[0]].node, users)
                if edge is None:
                    raise ChangedGraph
                self._edges[term.uses[0]] = edge
        self._inputs: dict[tuple[int, ...], Tensor] = {}
        if not all(self._fits(i, layout) for term in plan.terms for i, layout in _place(term)):
            raise ChangedGraph
        if plan.terms and not plan.settled and not self._verify_layout(plan):
            raise ChangedGraph

    def _fits(self, i: int, layout: ExampleLayout) -> bool:
        shape = self.uses[i].node._input_metadata[0].shape
        return shape[layout.axis] == len(self.outputs) * layout.positions

    def _verify_layout(self, plan: NTKPlan) -> bool:
        """Checks that the examples are on the tensor axes that the plan assumes, by scaling outputs and comparing
        gradients.
        """
        n, edges = len(self.outputs), {i: self.uses[i].output for term in plan.terms for i in term.uses}
        scales = 2.0 ** torch.arange(n).remainder(7).to(self.outputs)
        scales = scales[torch.randperm(n, generator=torch.Generator().manual_seed(0))]
        plain_and_scaled = []
        for weights in (torch.ones_like(self.outputs), scales.unsqueeze(1).expand_as(self.outputs)):
            keys = list(dict.fromkeys(edges.values()))
            grads = torch.autograd.grad(self.outputs, keys, weights, retain_graph=True, allow_unused=True)
            plain_and_scaled.append(dict(zip(keys, grads, strict=True)))
        plain, scaled = plain_and_scaled
        return all(
            plain[edges[i]] is None or scaled_with(layout, plain[edges[i]], scaled[edges[i]], scales)
            for term in plan.terms
            for i, layout in _place(term)
        )

    def gradients(self, cotangent: Tensor) -> Gradients:
        """Returns gradients of the outputs, weighted by ``cotangent``, at all operations that use parameters."""
        if not self._edges:
            return {}
        weights = cotangent.expand_as(self.outputs)
        edges = list(dict.fromkeys(self._edges.values()))
        grads = torch.autograd.grad(self.outputs, edges, weights, retain_graph=True, allow_unused=True)
        by_edge = dict(zip(edges, grads, strict=True))
        return {i: by_edge[edge] for i, edge in self._edges.items()}

    def inputs(self, term: KernelTerm) -> Tensor:
        """Returns the inputs of a layer with a weight matrix; several calls of the layer count as more positions."""
        if term.uses not in self._inputs:
            parts = [self._matrix(i).inputs(layout) for i, layout in _place(term)]
            self._inputs[term.uses] = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
        return self._inputs[term.uses]

    def grads(self, term: KernelTerm, gradients: Gradients) -> Tensor:
        """Returns the gradients at a layer with a weight matrix; zeros if the output does not depend on the layer."""
        parts = [self._matrix(i).grads(layout, self._or_zeros(i, gradients[i])) for i, layout in _place(term)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)

    def readout(self, term: KernelTerm) -> Tensor:
        """Returns the gradients of pooled values with respect to a convolution's output, (n, groups, positions,
        units).
        """
        i, layout = _place(term)[0]
        return self._matrix(i).grads(layout, readout(self._edges[i], self.uses[i].output))

    def tokens(self, term: KernelTerm) -> Tensor:
        """Returns the indices that examples looked up in an embedding table, one row per example."""
        return torch.cat([self._lookup(i).indices(layout) for i, layout in _place(term)], dim=1)

    def token_grads(self, term: KernelTerm, gradients: Gradients) -> Tensor:
        """Returns the gradients at the output of an embedding layer, one row per example."""
        parts = [self._lookup(i).grads(layout, self._or_zeros(i, gradients[i])) for i, layout in _place(term)]
        return torch.cat(parts, dim=1)

    def per_example(self, term: KernelTerm, gradients: Gradients) -> Tensor:
        """Returns each example's gradient with respect to one group of parameters, of shape (n, p)."""
        places = term.places or (None,) * len(term.uses)
        parts = []
        for (i, layout), place in zip(_place(term), places, strict=True):
            factors = self.factors[i]
            assert factors is not None  # The plan contains only terms whose factors are known.
            part = factors.per_example(layout, self._or_zeros(i, gradients[i]))
            parts.append(part if place is None else _scatter(part, place))
        return sum(parts[1:], parts[0])

    def _or_zeros(self, i: int, g: Tensor | None) -> Tensor:
        shape = self.uses[i].node._input_metadata[0].shape
        return self.outputs.new_zeros(tuple(shape)) if g is None else g

    def _matrix(self, i: int) -> Matrix:
        factors = self.factors[i]
        assert isinstance(factors, Matrix)
        return factors

    def _lookup(self, i: int) -> Lookup:
        factors = self.factors[i]
        assert isinstance(factors, Lookup)
        return factors


def unit(outputs: int, which: int, like: Tensor) -> Tensor:
    """Returns a unit vector of length ``outputs`` with its one at index ``which``.

    >>> unit(3, 1, torch.zeros(()))
    tensor([0., 1., 0.])
    """
    cotangent = like.new_zeros(outputs)
    cotangent[which] = 1
    return cotangent


def _place(term: KernelTerm) -> list[tuple[int, ExampleLayout]]:
    return list(zip(term.uses, term.layouts, strict=True))


def _scatter(part: Tensor, place: Tensor) -> Tensor:
    flat = place.flatten()
    there = flat > 0
    total = part.new_zeros(len(part), flat.numel())
    total[:, there] = part[:, flat[there] - 1]
    return total
