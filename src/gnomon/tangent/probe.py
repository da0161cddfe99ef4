"""Runs a network on three examples, to check whether it has a tangent kernel and which tensor axes hold the examples.

The forward pass serves the checks of the input; its graph serves the plan.

>>> import torch
>>> probe = Probe(PureFunction.of(torch.nn.Linear(2, 1)), torch.randn(5, 2))
>>> probe.outputs.shape, [use.name for use in probe.uses], probe.layout(1, probe.factors[1])
(torch.Size([3, 1]), ['bias', 'weight'], ExampleLayout(axis=0, before=1, after=1))
"""

from functools import cached_property
from math import prod

import torch
from torch import Tensor
from torch.autograd.graph import Node

from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.pure import PureFunction
from gnomon.tangent.factors import Factors
from gnomon.tangent.graph import Use, footprint, keeps_rows, nodes, uses
from gnomon.tangent.layout import PERMUTATION, SCALES, TEST_EXAMPLES, ExampleLayout, candidates, permuted_with
from gnomon.tangent.rules import factors_of


class Probe:
    """Three examples of x with the autograd graph of the network's outputs; backward passes run when first needed."""

    def __init__(self, f: PureFunction, x: Inputs, *, shapes: bool = True):
        n = count_examples(x)
        self.f, self.single = f, n == 1
        # whether the sizes of tensors show which axis holds the examples; checked again on larger blocks
        self.shapes = shapes and n > TEST_EXAMPLES
        self.x = take_examples(x, torch.arange(TEST_EXAMPLES) % n)
        before = torch.get_rng_state()
        self.outputs = f(self.x)
        self.drew = not torch.equal(before, torch.get_rng_state())  # whether the forward pass drew random numbers

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes of the autograd graph of the network's outputs."""
        return nodes(self.outputs)

    @cached_property
    def uses(self) -> list[Use]:
        """The operations that use parameters, in the order of the autograd graph."""
        return uses(self.nodes, self.f.leaves)

    @cached_property
    def factors(self) -> list[Factors | None]:
        """For each use of a parameter, the formula of its gradient; None if no rule covers the operation."""
        return [factors_of(use.node, use.slot, use.argument_shape) for use in self.uses]

    def bytes(self) -> tuple[int, int]:
        """Returns the bytes per example that activations need, and that gradients of each output need."""
        results = {use.node: use.node._input_metadata[0] for use in self.uses}
        gradients = sum(prod(m.shape) * m.dtype.itemsize for m in results.values())
        return -(-footprint(self.nodes) // TEST_EXAMPLES), -(-gradients // TEST_EXAMPLES)

    def layout(self, i: int, factors: Factors) -> ExampleLayout | None:
        """Returns which tensor axis holds the examples in the result of an operation; None if it is uncertain.

        In a graph of row-wise operations an axis of as many rows as examples shows it by its size; otherwise by tests.
        """
        rows = ExampleLayout(0, 1, 1)
        if self._rowwise and factors.allows(rows) and self.uses[i].node._input_metadata[0].shape[:1] == [TEST_EXAMPLES]:
            return rows
        alive, every = self._layouts[self.uses[i].node]
        possible = [layout for layout in every if factors.allows(layout)]
        if len(possible) == 1 and alive:
            return possible[0]
        if factors.saved is None or not possible or self._permute_examples is None:
            return None
        use = self._permute_examples[i]
        again = factors_of(use.node, use.slot, use.argument_shape)
        if again is None or again.saved is None:
            return None
        moved = [layout for layout in possible if permuted_with(layout, factors.saved, again.saved, TEST_EXAMPLES)]
        return moved[0] if len(moved) == 1 or (moved and self.single) else None

    @cached_property
    def _rowwise(self) -> bool:
        return self.shapes and keeps_rows(self.nodes)

    @cached_property
    def _gradients(self) -> tuple[dict[Node, Tensor | None], ...]:
        """Gradients of a random combination of outputs at every use of a parameter, with and without scaled
        examples.
        """
        y = self.outputs
        edges = list({use.node: use.output for use in self.uses}.values())
        weights = torch.rand(y.shape, generator=torch.Generator().manual_seed(0)).to(y) + 0.5
        scales = torch.tensor(SCALES).to(y).unsqueeze(1)
        by_node: list[dict[Node, Tensor | None]] = []
        for cotangent in (weights, weights * scales):
            grads = torch.autograd.grad(y, edges, cotangent, retain_graph=True, allow_unused=True) if edges else ()
            by_node.append({edge.node: g for edge, g in zip(edges, grads, strict=True)})
        return tuple(by_node)

    @cached_property
    def _layouts(self) -> dict[Node, tuple[bool, list[ExampleLayout]]]:
        """For each operation that uses a parameter: whether it has a gradient, and which tensor axes may hold the
        examples.
        """
        plain, scaled = self._gradients
        layouts: dict[Node, tuple[bool, list[ExampleLayout]]] = {}
        for node, g in plain.items():
            other = scaled[node]
            if g is None or other is None:
                layouts[node] = False, []
            else:
                layouts[node] = bool(g.any()), candidates(g, other, TEST_EXAMPLES)
        return layouts

    @cached_property
    def _permute_examples(self) -> list[Use] | None:
        again = uses(nodes(self.f(take_examples(self.x, torch.tensor(PERMUTATION)))), self.f.leaves)
        same = [u.signature for u in again] == [u.signature for u in self.uses]
        return again if same else None
