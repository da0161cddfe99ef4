"""A block of examples with its graph: activations once, gradients for each output asked for.

One forward pass serves all outputs and all parameters. A backward pass stops at the results of the operations that
use parameters; the gradients of the parameters themselves, summed over the batch, are never formed.
"""

import torch
from torch import Tensor

from gnomon.tangent.graph import uses
from gnomon.tangent.inputs import Inputs
from gnomon.tangent.layout import Layout
from gnomon.tangent.plan import Plan, Term
from gnomon.tangent.pure import Pure
from gnomon.tangent.rules import Lookup, Matrix, Rule, rule

Gradients = dict[int, Tensor | None]
"""For each use, by its number: the gradient of one output, summed over examples, with respect to its result."""


class ChangedGraph(Exception):
    """The graph of this block is not the one the plan was made for."""


class Block:
    """The examples of one tile's rows, or columns, and everything the contraction needs of them."""

    def __init__(self, f: Pure, x: Inputs, plan: Plan):
        self.f, self.x, self.plan = f, x, plan
        self.outputs = f(x)
        self.uses = uses(self.outputs, f.leaves) if plan.terms else []
        if plan.terms and tuple(use.signature for use in self.uses) != plan.signature:
            raise ChangedGraph
        self.rules: list[Rule | None] = [rule(u.node, u.slot, u.consumed) for u in self.uses]
        needed = {i for term in plan.terms for i in term.uses}
        self._edges = {self.uses[i].node: self.uses[i].output for i in needed}
        self._inputs: dict[tuple[int, ...], Tensor] = {}

    def __len__(self) -> int:
        return len(self.outputs)

    def gradients(self, cotangent: Tensor) -> Gradients:
        """Gradients of sum_i <cotangent, f(x_i)> at every use; example i's part is that of its own outputs."""
        if not self._edges:
            return {}
        weights = cotangent.expand_as(self.outputs)
        edges = list(self._edges.values())
        grads = torch.autograd.grad(self.outputs, edges, weights, retain_graph=True, allow_unused=True)
        by_node = dict(zip(self._edges, grads, strict=True))
        return {i: by_node[use.node] for i, use in enumerate(self.uses) if use.node in by_node}

    def inputs(self, term: Term) -> Tensor:
        """The activations of a matrix term, (n, groups, positions, features), kept for all outputs."""
        if term.uses not in self._inputs:
            parts = [self._matrix(i).inputs(layout) for i, layout in self._placed(term)]
            self._inputs[term.uses] = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
        return self._inputs[term.uses]

    def grads(self, term: Term, gradients: Gradients) -> Tensor | None:
        """The gradients of a matrix term, (n, groups, positions, features), or None where they all vanish."""
        given = [gradients[i] for i in term.uses]
        if all(g is None for g in given):
            return None
        parts = []
        for (i, layout), g in zip(self._placed(term), given, strict=True):
            parts.append(self._matrix(i).grads(layout, self._or_zeros(i, g)))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)

    def tokens(self, term: Term) -> Tensor:
        """The indices of a lookup term, (n, positions)."""
        return torch.cat([self._lookup(i).indices(layout) for i, layout in self._placed(term)], dim=1)

    def token_grads(self, term: Term, gradients: Gradients) -> Tensor:
        """The gradients of a lookup term, (n, positions, features)."""
        parts = [self._lookup(i).grads(layout, self._or_zeros(i, gradients[i])) for i, layout in self._placed(term)]
        return torch.cat(parts, dim=1)

    def each(self, term: Term, gradients: Gradients) -> Tensor:
        """Per-example gradients (n, p) of a vector or mixed term."""
        total: Tensor | None = None
        places = term.places or (None,) * len(term.uses)
        for (i, layout), place in zip(self._placed(term), places, strict=True):
            g = self._or_zeros(i, gradients[i])
            part = _dense(self.rules[i], layout, g)
            if place is not None:
                part = _scattered(part, place)
            total = part if total is None else total + part
        return total

    def _placed(self, term: Term) -> list[tuple[int, Layout]]:
        return list(zip(term.uses, term.layouts, strict=True))

    def _or_zeros(self, i: int, g: Tensor | None) -> Tensor:
        shape = self.uses[i].node._input_metadata[0].shape
        return self.outputs.new_zeros(tuple(shape)) if g is None else g

    def _matrix(self, i: int) -> Matrix:
        return self.rules[i]

    def _lookup(self, i: int) -> Lookup:
        return self.rules[i]


def unit(outputs: int, which: int, like: Tensor) -> Tensor:
    """The cotangent that asks for one output.

    >>> unit(3, 1, torch.zeros(()))
    tensor([0., 1., 0.])
    """
    cotangent = like.new_zeros(outputs)
    cotangent[which] = 1
    return cotangent


def _dense(how: Rule, layout: Layout, g: Tensor) -> Tensor:
    """(n, p) in the order of the view that was consumed."""
    if isinstance(how, Matrix):
        a, g = how.inputs(layout), how.grads(layout, g)
        left, right = (a, g) if how.flip else (g, a)
        return torch.matmul(left.transpose(2, 3), right).flatten(1)
    if isinstance(how, Lookup):
        flat = how.grads(layout, g)
        index = how.indices(layout).unsqueeze(-1).expand_as(flat)
        table = flat.new_zeros(len(flat), how.rows, flat.shape[-1])
        return table.scatter_add_(1, index, flat).flatten(1)
    return how.each(layout, g)


def _scattered(part: Tensor, place: Tensor) -> Tensor:
    flat = place.flatten()
    there = flat > 0
    total = part.new_zeros(len(part), flat.numel())
    total[:, there] = part[:, flat[there] - 1]
    return total
