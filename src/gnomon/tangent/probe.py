"""Three examples, run once: enough to see whether a network has a kernel, and where its examples are.

The forward pass serves the checks at the door; the graph it leaves serves the plan.

>>> import torch
>>> probe = Probe(Pure.of(torch.nn.Linear(2, 1)), torch.randn(5, 2))
>>> probe.outputs.shape, [use.name for use in probe.uses], probe.layout(1, probe.rules[1])
(torch.Size([3, 1]), ['bias', 'weight'], Layout(axis=0, before=1, after=1))
"""

from functools import cached_property
from math import prod

import torch
from torch import Tensor
from torch.autograd.graph import Node

from gnomon.core.inputs import Inputs, count, take
from gnomon.core.pure import Pure
from gnomon.tangent.graph import Use, footprint, keeps_rows, nodes, uses
from gnomon.tangent.layout import EXAMPLES, PERMUTATION, SCALES, Layout, candidates, moves
from gnomon.tangent.rules import Rule, rule


class Probe:
    """A few examples of x with the graph of their outputs; backward passes are made when first asked for."""

    def __init__(self, f: Pure, x: Inputs, *, shapes: bool = True):
        n = count(x)
        self.f, self.single = f, n == 1
        self.shapes = shapes and n > EXAMPLES  # sizes may be trusted: blocks of another size will confirm them
        self.x = take(x, torch.arange(EXAMPLES) % n)
        before = torch.get_rng_state()
        self.outputs = f(self.x)
        self.drew = not torch.equal(before, torch.get_rng_state())  # whether random numbers were drawn

    @cached_property
    def nodes(self) -> list[Node]:
        """The whole graph."""
        return nodes(self.outputs)

    @cached_property
    def uses(self) -> list[Use]:
        """Where the parameters are used."""
        return uses(self.nodes, self.f.leaves)

    @cached_property
    def rules(self) -> list[Rule | None]:
        """What each use does."""
        return [rule(use.node, use.slot, use.consumed) for use in self.uses]

    def bytes(self) -> tuple[int, int]:
        """Bytes per example of activations, and of gradients per output."""
        results = {use.node: use.node._input_metadata[0] for use in self.uses}
        gradients = sum(prod(m.shape) * m.dtype.itemsize for m in results.values())
        return -(-footprint(self.nodes) // EXAMPLES), -(-gradients // EXAMPLES)

    def layout(self, i: int, how: Rule) -> Layout | None:
        """Where the examples are in use i, or None where that cannot be told for certain.

        In a graph of row-wise operations an axis of as many rows as examples says it by its size; else experiments.
        """
        rows = Layout(0, 1, 1)
        if self._rowwise and how.allows(rows) and self.uses[i].node._input_metadata[0].shape[:1] == [EXAMPLES]:
            return rows
        alive, every = self._layouts[self.uses[i].node]
        found = [layout for layout in every if how.allows(layout)]
        if len(found) == 1 and alive:
            return found[0]
        if how.seen is None or not found or self._permuted is None:
            return None
        use = self._permuted[i]
        again = rule(use.node, use.slot, use.consumed)
        if again is None or again.seen is None:
            return None
        moved = [layout for layout in found if moves(layout, how.seen, again.seen, EXAMPLES)]
        return moved[0] if len(moved) == 1 or (moved and self.single) else None

    @cached_property
    def _rowwise(self) -> bool:
        return self.shapes and keeps_rows(self.nodes)

    @cached_property
    def _gradients(self) -> tuple[dict[Node, Tensor | None], ...]:
        """Gradients at every use of a random positive combination of outputs, plain and with examples scaled."""
        y = self.outputs
        edges = list({use.node: use.output for use in self.uses}.values())
        weights = torch.rand(y.shape, generator=torch.Generator().manual_seed(0)).to(y) + 0.5
        scales = torch.tensor(SCALES).to(y).unsqueeze(1)
        found: list[dict[Node, Tensor | None]] = []
        for cotangent in (weights, weights * scales):
            grads = torch.autograd.grad(y, edges, cotangent, retain_graph=True, allow_unused=True) if edges else ()
            found.append({edge.node: g for edge, g in zip(edges, grads, strict=True)})
        return tuple(found)

    @cached_property
    def _layouts(self) -> dict[Node, tuple[bool, list[Layout]]]:
        """For each node with uses, whether its gradient is not all zero, and where the examples may be in it."""
        plain, scaled = self._gradients
        found: dict[Node, tuple[bool, list[Layout]]] = {}
        for node, g in plain.items():
            other = scaled[node]
            if g is None or other is None:
                found[node] = False, []
            else:
                found[node] = bool(g.any()), candidates(g, other, EXAMPLES)
        return found

    @cached_property
    def _permuted(self) -> list[Use] | None:
        again = uses(nodes(self.f(take(self.x, torch.tensor(PERMUTATION)))), self.f.leaves)
        same = [u.signature for u in again] == [u.signature for u in self.uses]
        return again if same else None
