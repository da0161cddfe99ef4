"""Computes per-example gradients of parameters by automatic differentiation: slow, but valid for every module.

First by `torch.func`, all examples of a chunk at once; if an operation cannot be mapped over examples, one
example and one output at a time by plain autograd.
"""

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.func import grad, vmap

from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, map_tensors, take_examples
from gnomon.core.modules.pure import PureFunction


def jacobian_rows(
    f: PureFunction, names: tuple[str, ...], x: Inputs, cotangents: list[Tensor], workspace: int
) -> list[Tensor]:
    """Returns per-example gradients (n, p) of the outputs, weighted by each of the given vectors, for the named
    parameters.

    Cost: one forward and backward pass per example and cotangent; n p numbers per cotangent are held.

    >>> net = torch.nn.Linear(2, 1)
    >>> f = PureFunction.of(net)
    >>> jacobian_rows(f, ("weight",), torch.tensor([[3.0, 4.0]]), [torch.ones(1)], 2**20)[0]
    tensor([[3., 4.]])
    """
    n = count_examples(x)
    each = sum(f.leaves[name].numel() * f.leaves[name].element_size() for name in names)
    chunk = max(1, min(n, workspace // max(1, 3 * each)))
    parts = [_chunk(f, names, part, cotangents) for part in _pieces(x, n, chunk)]
    return [torch.cat(group) for group in zip(*parts, strict=True)]


def _pieces(x: Inputs, n: int, chunk: int) -> Iterator[Inputs]:
    for start in range(0, n, chunk):
        yield take_examples(x, slice(start, start + chunk))


def _chunk(f: PureFunction, names: tuple[str, ...], x: Inputs, cotangents: list[Tensor]) -> list[Tensor]:
    try:
        return _map_examples(f, names, x, cotangents)
    except (RuntimeError, ValueError, NotImplementedError, TypeError):
        # torch.func cannot vectorize in-place writes, values read in Python and fused kernels, so a loop runs instead.
        return _loop(f, names, x, cotangents)


def _map_examples(f: PureFunction, names: tuple[str, ...], x: Inputs, cotangents: list[Tensor]) -> list[Tensor]:
    chosen = {name: f.leaves[name].detach() for name in names}
    fixed = {name: leaf.detach() for name, leaf in f.leaves.items() if name not in chosen}
    leaves, rebuild = _flatten(x)

    def one_output(w: dict[str, Tensor], cotangent: Tensor, *example: Tensor) -> Tensor:
        single = rebuild([e.unsqueeze(0) for e in example])
        return (f(single, {**fixed, **w})[0] * cotangent).sum()

    mapped = vmap(grad(one_output), in_dims=(None, None, *[0] * len(leaves)))
    with warnings.catch_warnings():
        # Hides torch's warning that it falls back to a loop, which is slower but correct.
        warnings.filterwarnings("ignore", message="There is a performance drop")
        return [_join(mapped(chosen, v, *leaves), names, len(leaves[0])) for v in cotangents]


def _loop(f: PureFunction, names: tuple[str, ...], x: Inputs, cotangents: list[Tensor]) -> list[Tensor]:
    gradients: list[list[Tensor]] = [[] for _ in cotangents]
    wanted = [f.leaves[name] for name in names]
    for i in range(count_examples(x)):
        y = f(take_examples(x, slice(i, i + 1)))
        for row, v in zip(gradients, cotangents, strict=True):
            g = torch.autograd.grad(y, wanted, v.unsqueeze(0), retain_graph=True, allow_unused=True)
            filled = [torch.zeros_like(w) if d is None else d for d, w in zip(g, wanted, strict=True)]
            row.append(torch.cat([d.flatten() for d in filled]))
    return [torch.stack(row) for row in gradients]


def _join(gradients: dict[str, Tensor], names: tuple[str, ...], n: int) -> Tensor:
    return torch.cat([gradients[name].reshape(n, -1) for name in names], dim=1)


def _flatten(x: Inputs) -> tuple[list[Tensor], Callable[[list[Tensor]], Inputs]]:
    leaves = list(input_tensors(x))

    def rebuild(parts: list[Tensor]) -> Inputs:
        queue = iter(parts)
        return map_tensors(lambda t: next(queue), x)

    return leaves, rebuild
