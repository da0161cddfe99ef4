"""The kernel of a finite network, here and now.

For a network f(w, x) with k outputs and parameters w, the empirical neural tangent kernel is

    Theta(x, x')_{ab} = <d f_a(x) / d w, d f_b(x') / d w>                  (1)

The Jacobian (n x k x p) is never formed for operations that have a rule (`gnomon.tangent.rules`): one forward pass,
one backward pass per output that stops at the results of the layers, and per layer the cheaper of two products
(`gnomon.tangent.contract`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.checks import as_inputs, check_kind, check_readable, integer
from gnomon.core.errors import BudgetError, InputError, lesson
from gnomon.core.inputs import Inputs, count, take, with_channels_last
from gnomon.core.memory import SHARE, free_bytes, human
from gnomon.core.pure import Pure, undisturbed
from gnomon.tangent.block import NEAR, Block, ChangedGraph, unit
from gnomon.tangent.checks import check, check_company, check_parts, check_still
from gnomon.tangent.contract import contract, gated, outer
from gnomon.tangent.jacobian import rows
from gnomon.tangent.plan import Plan, make, without_terms
from gnomon.tangent.probe import Probe

CALL = "ntk(module, x)"
OUTPUTS = ("trace", "full", "diagonal", "pseudo")


def ntk(
    module: nn.Module,
    x1: Inputs,
    x2: Inputs | None = None,
    *,
    outputs: str = "trace",
    parameters: str | Sequence[str] | None = None,
    by_layer: bool = False,
    memory: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Float[Tensor, "n m *k"] | dict[str, Float[Tensor, "n m *k"]]:
    """The empirical neural tangent kernel of a module between two sets of examples.

        Theta(x, x')_{ab} = <d f_a(x) / d w, d f_b(x') / d w>                                              (1)
        "full"      (n, m, k, k)   Theta_{ab}
        "diagonal"  (n, m, k)      Theta_{aa}
        "trace"     (n, m)         mean_a Theta_{aa}
        "pseudo"    (n, m)         sum_{ab} Theta_{ab}, the kernel of the sum of the outputs

    ``parameters`` chooses by shell-style patterns on names (default: those that require gradients); ``by_layer``
    gives the share of each submodule, by its path, which add up to the kernel; ``memory`` bounds the bytes in use;
    ``progress(done, total)`` is called after each tile. Inputs are a tensor, a tuple of arguments, or a dict of named
    arguments; outputs of any shape (n, ...) are flattened to k. Without x2 the kernel of x1 with itself is exactly
    symmetric. The module is left as found, also when an error is raised.

    Hypotheses: the output for one example does not depend on chance or on the other examples (else `InputError`).
    Reference: [jacot2018neural]; "pseudo" is k times the pNTK of [mohamadi2023fast].
    Cost: one forward and k backward passes without weight gradients, and per layer the cheaper of n m T^2 (d + k o)
    and k d o (n T + n m) multiply-adds, for T positions, d inputs and o units.

    >>> net = nn.Linear(3, 2)
    >>> x = torch.randn(4, 3)
    >>> torch.allclose(ntk(net, x), x @ x.T + 1)               # f = W x + b: Theta = (x . x' + 1) identity
    True
    """
    check_readable(module, call=CALL)
    if outputs not in OUTPUTS:
        raise InputError(lesson(CALL, f"outputs={outputs!r}", "a known form", f"Choose one of {', '.join(OUTPUTS)}"))
    memory = None if memory is None else integer("memory", memory, call=CALL)
    if progress is not None:
        check_kind("progress", progress, Callable, call=CALL, cure="Pass a function of (done, total)")
    with undisturbed(module):
        f = Pure.of(module, parameters, call=CALL)
        first = as_inputs(x1, module, call=CALL)
        second = None if x2 is None or x2 is x1 else as_inputs(x2, module, call=CALL)
        n, m = count(first), count(first if second is None else second)
        check_parts(module, call=CALL)
        larger = first if second is None or n >= m else second
        probe, channels_last = _probe(f, larger)
        check(probe)
        check_still(f, larger)
        plan = make(probe)
        known = None if probe.single else _Known(second is not None and m > n, probe.outputs.detach())
        del probe  # and its graph
        if channels_last:
            first, second = with_channels_last(first), None if second is None else with_channels_last(second)
        for attempt in (lambda: plan, lambda: make(Probe(f, larger, shapes=False)), lambda: without_terms(f, plan)):
            with suppress(ChangedGraph):
                return _Kernel(f, attempt(), outputs, by_layer, memory, progress, known).between(first, second)
        raise AssertionError("a plan without terms fits every graph")


def _probe(f: Pure, x: Inputs) -> tuple[Probe, bool]:
    """Three examples run once, images with channels last in memory where the module bears it.

    Convolutions run faster so, and their neighborhoods are runs of channels; a module that calls ``view`` on an image
    may refuse, and then gets its inputs as they came.
    """
    if any(isinstance(part, nn.Conv2d) for part in f.module.modules()):
        with suppress(InputError):
            return Probe(f, with_channels_last(x)), True
    return Probe(f, x), False


@dataclass(frozen=True, slots=True)
class _Known:
    """Outputs of the first few examples, of x2 or of x1, when no others were in the batch."""

    second: bool
    outputs: Tensor


_Gates = dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Examples per block, outputs per backward round, and bytes for temporaries."""

    block: int
    together: int
    workspace: int


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A plan, run tile by tile."""

    f: Pure
    plan: Plan
    mode: str
    by_layer: bool
    memory: int | None
    progress: Callable[[int, int], None] | None
    known: "_Known | None"

    def between(self, first: Inputs, second: Inputs | None) -> Tensor | dict[str, Tensor]:
        n, m = count(first), count(first if second is None else second)
        k = self.plan.outputs
        sizes = self._sizes(n, m, k, second is None)
        result: dict[str, Tensor] = {}
        steps = list(_tiles(n, m, sizes.block, second is None))
        held: tuple[int, Block] | None = None
        for done, (i, j) in enumerate(steps):
            if held is None or held[0] != i:
                held = None  # free the last rows before the next are computed
                held = (i, self._block(first, i, sizes.block, self.known is not None and not self.known.second))
            one, other = held[1], first if second is None else second
            known = self.known is not None and self.known.second and i == 0
            two = one if second is None and i == j else self._block(other, j, sizes.block, known)
            for layer, tile in self._tile(one, two, k, sizes).items():
                if layer not in result:
                    result[layer] = tile.new_zeros(_shape(self.mode, n, m, k))
                _write(result[layer], tile, i, j, self.mode, second is None)
            if self.progress is not None:
                self.progress(done + 1, len(steps))
        return self._finished(result, n, m, k)

    def _block(self, x: Inputs, start: int, size: int, known: bool) -> Block:
        block = Block(self.f, take(x, slice(start, start + size)), self.plan, start)
        if known and start == 0 and self.known is not None:
            check_company(self.f, x, self.known.outputs, block.pieces[0].outputs.detach())
        return block

    @torch.no_grad()
    def _tile(self, one: Block, two: Block, k: int, sizes: _Sizes) -> dict[str, Tensor]:
        """Shares of each layer in one tile, in the inner order of axes: outputs before examples."""
        tile: dict[str, Tensor] = {}
        like = one.pieces[0].outputs.detach()
        every = [like.new_ones(k)] if self.mode == "pseudo" else [unit(k, o, like) for o in range(k)]
        gates: _Gates = {term.uses: ([], []) for term in self.plan.terms if term.gated}
        for start in range(0, len(every), sizes.together):
            cotangents = every[start : start + sizes.together]
            for layer, share in self._shares(one, two, cotangents, gates, sizes.workspace):
                if self.mode == "diagonal":
                    tile.setdefault(layer, share.new_zeros(k, *share.shape[1:]))[start : start + len(share)] += share
                else:
                    tile[layer] = tile[layer].add_(share) if layer in tile else share
        for term in self.plan.terms:
            if term.gated:
                layer = term.layer if self.by_layer else ""
                share = gated(term, one, two, *gates[term.uses], self.mode, sizes.workspace)
                tile[layer] = tile[layer].add_(share) if layer in tile else share
        return tile

    def _shares(
        self, one: Block, two: Block, cotangents: list[Tensor], gates: "_Gates", workspace: int
    ) -> Iterator[tuple[str, Tensor]]:
        first = [one.gradients(v) for v in cotangents]
        second = first if two is one else [two.gradients(v) for v in cotangents]
        for term in self.plan.terms:
            if term.gated:  # only its pooled gradients are collected here: the rest is the same for all outputs
                for side, block, gradients in zip(gates[term.uses], (one, two), (first, second), strict=True):
                    side.extend(block.gates(term, g) for g in gradients)
                continue
            share = contract(term, one, two, first, second, self.mode, workspace)
            yield term.layer if self.by_layer else "", share
        groups: dict[str, list[str]] = {}
        for name in self.plan.others:
            groups.setdefault(name.rpartition(".")[0] if self.by_layer else "", []).append(name)
        for layer, names in groups.items():
            with torch.enable_grad():
                left = rows(self.f, tuple(names), one.x, cotangents, workspace)
                right = left if two is one else rows(self.f, tuple(names), two.x, cotangents, workspace)
            yield layer, outer(self.mode, left, right)

    def _sizes(self, n: int, m: int, k: int, symmetric: bool) -> _Sizes:
        budget = int(SHARE * free_bytes()) if self.memory is None else self.memory
        layers = len({t.layer for t in self.plan.terms}) + len(self.plan.others) if self.by_layer else 1
        item = next(iter(self.f.leaves.values())).element_size()
        result = prod(_shape(self.mode, n, m, k)) * item * layers
        left = budget - result
        least = 1 if self.mode != "full" else k
        one = self.plan.activations + least * self.plan.gradients
        if left < 4 * one:
            found = f"{human(budget)} cannot hold the result ({human(result)}) and two examples ({human(2 * one)})"
            cure = "Raise memory=, ask for outputs='trace', or split the inputs"
            raise BudgetError(lesson(CALL, found, "the result and one tile fit in memory", cure))
        room = left * 3 // 4
        for together in sorted({k, max(1, k // 2), max(1, k // 4), 1} if self.mode != "full" else {k}, reverse=True):
            per_example = self.plan.activations + together * self.plan.gradients
            examples = n if symmetric else n + m
            far = examples * together * self.plan.gradients > 2 * NEAR and together > least
            if examples * per_example <= room and not far:
                return _Sizes(max(n, m), together, left // 4)
        return _Sizes(max(1, room // (2 * per_example)), together, left // 4)

    def _finished(self, result: dict[str, Tensor], n: int, m: int, k: int) -> Tensor | dict[str, Tensor]:
        if not result:  # no chosen parameter reaches the output
            like = next(iter(self.f.leaves.values()))
            result = {"": like.detach().new_zeros(_shape(self.mode, n, m, k))}
        order = {"full": (1, 3, 0, 2), "diagonal": (1, 2, 0)}.get(self.mode, (0, 1))
        scale = k if self.mode == "trace" else 1
        final = {layer: (value.div_(scale) if scale > 1 else value).permute(order) for layer, value in result.items()}
        return final if self.by_layer else final[""]


def _shape(mode: str, n: int, m: int, k: int) -> tuple[int, ...]:
    return {"full": (k, n, k, m), "diagonal": (k, n, m)}.get(mode, (n, m))


def _tiles(n: int, m: int, size: int, symmetric: bool) -> Iterator[tuple[int, int]]:
    for i in range(0, n, size):
        for j in range(0, min(m, i + 1) if symmetric else m, size):
            yield i, j


def _write(result: Tensor, tile: Tensor, i: int, j: int, mode: str, symmetric: bool) -> None:
    """Place a tile; in the symmetric case, its mirror too, from one triangle so that both are the same numbers."""
    rows, columns = tile.shape[1 if mode in ("full", "diagonal") else 0], tile.shape[-1]
    a, b = slice(i, i + rows), slice(j, j + columns)
    if mode == "full":
        result[:, a, :, b] = _symmetric(tile, mode) if symmetric and i == j else tile
        if symmetric and i != j:
            result[:, b, :, a] = tile.permute(2, 3, 0, 1)
        return
    result[..., a, b] = _symmetric(tile, mode) if symmetric and i == j else tile
    if symmetric and i != j:
        result[..., b, a] = tile.mT


def _symmetric(tile: Tensor, mode: str) -> Tensor:
    if mode == "full":
        k, n = tile.shape[:2]
        return _symmetric(tile.reshape(k * n, k * n), "").reshape(tile.shape)
    return tile.tril() + tile.tril(-1).mT
