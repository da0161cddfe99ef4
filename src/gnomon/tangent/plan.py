"""Chooses how to compute each parameter's contribution to the tangent kernel, once, on three examples.

The graph of a few examples shows where each parameter is used (`graph`), what the operation does with it (`rules`)
and where the examples are (`layout`). Uses of one parameter that see the same entries are merged: a layer
called t times is a layer with t times as many positions, so the cross terms of tied weights are included.
A parameter with any use that no rule covers goes to ``others`` and is differentiated example by example.

>>> import torch
>>> from gnomon.core.modules.pure import PureFunction
>>> net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))
>>> [(t.layer, t.kind, t.bias) for t in make_plan(Probe(PureFunction.of(net), torch.randn(5, 3))).terms]
[('0', 'matrix', True), ('1', 'vector', False), ('1', 'vector', False)]
"""

from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor

from gnomon.core.modules.pure import PureFunction
from gnomon.tangent.factors import Factors, Lookup, Matrix
from gnomon.tangent.gate import consumers, gate
from gnomon.tangent.graph import Use, entries, rearranges
from gnomon.tangent.layout import TEST_EXAMPLES, ExampleLayout
from gnomon.tangent.probe import Probe

MIN_POSITIONS_FOR_SUMS = 16
"""Number of positions at which per-example sums are cheaper than pairs of positions."""


@dataclass(frozen=True, slots=True)
class KernelTerm:
    """One term of the tangent kernel: a group of parameters whose gradients are computed together."""

    layer: str
    # Form of the parameters' gradients: "matrix", "vector", "lookup", or "mixed" if several uses have different forms.
    kind: str
    uses: tuple[int, ...]
    layouts: tuple[ExampleLayout, ...]
    bias: bool = False  # whether the matrix has the bias as one more input, which is always 1
    gated: bool = False  # whether the outputs depend on this layer only through one pooled value per unit
    places: tuple[Tensor, ...] = ()  # for kind "mixed": flat indices of the parameter entries that each operation uses


@dataclass(frozen=True, slots=True)
class NTKPlan:
    """How to compute a tangent kernel: a method for each group of parameters, and the memory that one example needs."""

    signature: tuple[tuple[str, str, int], ...]
    terms: tuple[KernelTerm, ...]
    others: dict[str, tuple[str, ...]]  # names of the parameters that no rule covers, by layer
    outputs: int  # k
    settled: bool  # false if an operation reorders the examples depending on their values, such as a sort
    activations: int  # bytes per example: results of all operations, and neighborhoods of convolutions
    gradients: int  # bytes per example and output: all gradients, and rows that must be stored as a whole


def make_plan(probe: Probe) -> NTKPlan:
    """Decides on three examples how to compute each parameter's contribution to the tangent kernel.

    Hypotheses: the output for an example does not depend on the other examples.
    Cost: two backward passes on three examples; a second forward pass if positions are ambiguous.
    """
    leaves = probe.f.leaves
    covered: dict[str, list[tuple[int, Factors, ExampleLayout]]] = {}
    uncovered: set[str] = set()
    for i, (use, factors) in enumerate(zip(probe.uses, probe.factors, strict=True)):
        layout = None if factors is None else probe.layout(i, factors)
        if factors is None or layout is None:
            uncovered.add(use.name)
        else:
            covered.setdefault(use.name, []).append((i, factors, layout))
    terms: list[KernelTerm] = []
    for name, leaf in leaves.items():
        if name in covered and name not in uncovered:
            terms += _terms(name, covered[name], probe.uses, leaf)
    merged = _with_gates(_with_biases(terms, probe.uses), probe)
    activations, gradients = probe.bytes()
    matrices = [(h, layout) for group in covered.values() for _, h, layout in group if isinstance(h, Matrix)]
    activations += sum(h.inputs(layout).nbytes for h, layout in matrices) // TEST_EXAMPLES
    whole = {probe.uses[t.uses[0]].name for t in merged if t.kind == "mixed"} | uncovered
    gradients += sum(leaves[name].nbytes for name in whole)
    signature = tuple(use.signature for use in probe.uses)
    k = probe.outputs.shape[1]
    settled = not rearranges(probe.nodes)
    return NTKPlan(signature, tuple(merged), _by_layer(sorted(uncovered)), k, settled, activations, gradients)


def without_terms(f: PureFunction, plan: NTKPlan) -> NTKPlan:
    """Returns a plan that computes all gradients the general, slow way, for graphs that change from batch to batch."""
    return replace(plan, signature=(), terms=(), others=_by_layer(list(f.leaves)), settled=True)


def as_one_layer(plan: NTKPlan) -> NTKPlan:
    """Returns the plan with all parameters in one layer, so that their contributions to the kernel are added up."""
    names = tuple(name for layer in plan.others.values() for name in layer)
    return replace(plan, terms=tuple(replace(t, layer="") for t in plan.terms), others={"": names} if names else {})


def _by_layer(names: list[str]) -> dict[str, tuple[str, ...]]:
    layers: dict[str, list[str]] = {}
    for name in names:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    return {layer: tuple(inside) for layer, inside in layers.items()}


def _kind(factors: Factors) -> str:
    return "matrix" if isinstance(factors, Matrix) else "lookup" if isinstance(factors, Lookup) else "vector"


def _terms(
    name: str, used: list[tuple[int, Factors, ExampleLayout]], every: list[Use], leaf: Tensor
) -> list[KernelTerm]:
    layer = name.rpartition(".")[0]
    if len(used) == 1:
        i, factors, layout = used[0]
        return [KernelTerm(layer, _kind(factors), (i,), (layout,))]
    places = [entries(every[i], leaf) for i, _, _ in used]
    groups: list[list[int]] = []
    for j, place in enumerate(places):
        touched = [g for g in groups if any(bool(((place > 0) & (places[other] > 0)).any()) for other in g)]
        groups = [g for g in groups if g not in touched] + [sorted([j, *(i for g in touched for i in g)])]
    terms = []
    for group in groups:
        numbers, layouts = tuple(used[j][0] for j in group), tuple(used[j][2] for j in group)
        kinds = {_kind(used[j][1]) for j in group}
        alike = len(kinds) == 1 and all(torch.equal(places[j], places[group[0]]) for j in group)
        alike = alike and len({_flip(used[j][1]) for j in group}) == 1
        if alike:
            terms.append(KernelTerm(layer, kinds.pop(), numbers, layouts))
        else:
            terms.append(KernelTerm(layer, "mixed", numbers, layouts, places=tuple(places[j] for j in group)))
    return terms


def _flip(factors: Factors) -> bool:
    return isinstance(factors, Matrix) and factors.flip


def _with_biases(terms: list[KernelTerm], every: list[Use]) -> list[KernelTerm]:
    """Groups each bias with the weight of the same operation, so that both share one Gram matrix of inputs."""

    def where(term: KernelTerm) -> tuple:
        return term.layer, frozenset(every[i].node for i in term.uses)

    def is_bias(term: KernelTerm) -> bool:
        return term.kind == "vector" and all(_adds_to_rows(every[i]) for i in term.uses)

    hosts = {where(t) for t in terms if t.kind == "matrix"} & {where(t) for t in terms if is_bias(t)}
    merged = []
    for term in terms:
        if where(term) not in hosts:
            merged.append(term)
        elif term.kind == "matrix":
            merged.append(replace(term, bias=True))
        elif not is_bias(term):
            merged.append(term)
    return merged


def _with_gates(terms: list[KernelTerm], probe: Probe) -> list[KernelTerm]:
    """Marks convolutions that are pooled over many positions, for which a faster method computes the kernel."""
    if not any(use.operation == "ConvolutionBackward0" for use in probe.uses):
        return terms
    users = consumers(probe.nodes)

    def is_gated(term: KernelTerm) -> bool:
        node = probe.uses[term.uses[0]].node
        if term.kind != "matrix" or node.name() != "ConvolutionBackward0":
            return False
        alone = len(term.uses) == 1 and term.layouts[0].positions == 1
        return (
            alone
            and prod(node._input_metadata[0].shape[2:]) >= MIN_POSITIONS_FOR_SUMS
            and gate(node, users) is not None
        )

    return [replace(term, gated=True) if is_gated(term) else term for term in terms]


def _adds_to_rows(use: Use) -> bool:
    outputs = use.node._input_metadata[0].shape[1] if len(use.node._input_metadata[0].shape) > 1 else 0
    slot = {"AddmmBackward0": 0, "ConvolutionBackward0": 2}.get(use.operation)
    return slot == use.slot and use.argument_shape == (outputs,)
