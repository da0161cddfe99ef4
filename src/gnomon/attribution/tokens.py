"""Computes attributions to tokens by integrated gradients in the space of embeddings.

    A_t = sum_k (e_tk - b_tk) int_0^1 d f / d e_tk (b + s (e - b)) ds,    sum_t A_t = f(e) - f(b)                 (1)

e are the rows of the embedding, (tokens, size); b are the rows of a baseline token, or zeros.
Hypotheses: the module reads its tokens with one nn.Embedding, once.
Reference: [sundararajan2017axiomatic], section 6.
Cost: ``path_points`` forward and backward passes.

>>> net = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 1, bias=False))
>>> found = token_attribution(net, torch.tensor([[1, 4]]))
>>> bool(torch.allclose(found.values.sum(1), net(torch.tensor([[1, 4]]))[:, 0], atol=1e-6))
True
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.gradient import integrated_gradients, rows_at_once
from gnomon.attribution.layers import one_tensor
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import target_of_each_example
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["token_attribution"]


@add_call_to_errors
def token_attribution(
    module: nn.Module, data: Any, target: Any = None, *, baseline: int | None = None, path_points: int = 50
) -> Attribution:
    """Computes how much each token of each sequence (n, length) matters for an output.

    See equation (1) of the module docstring.
    ``baseline`` is the token that represents nothing; without it, zero embeddings are the baseline.
    Hypotheses: see the module.
    Reference: [sundararajan2017axiomatic].
    Cost: ``path_points`` forward and backward passes.

    >>> net = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2))
    >>> token_attribution(net, torch.tensor([[1, 4], [0, 2]]), baseline=0).values[1, 0]
    tensor(0.)
    """
    read = one_tensor(data, module, whole=True)
    if read.is_floating_point() or read.dim() != 2:
        fix = "Pass whole numbers (n, length); for inputs that are numbers use integrated_gradients"
        raise InputError(
            f"the tokens are {read.dtype} of {read.dim()} axes", accepted="integer tokens (n, length)", fix=fix
        )
    embedding = _embedding(module, read)
    with preserve(module, grad=False):
        which, rows = target_of_each_example(module, read, target), embedding(read)
        token = None if baseline is None else check_integer("baseline", baseline, least=0)
        start = 0.0 if token is None else embedding(torch.full_like(read[:1], token))[0]
    many = rows_at_once(rows)  # number of examples per batch; a batch contains all path points of its examples
    found = [
        integrated_gradients(
            _AfterEmbedding(module, embedding, part), embedded, goal, baseline=start, path_points=path_points
        )
        for part, embedded, goal in zip(read.split(many), rows.split(many), which.split(many), strict=True)
    ]
    values = torch.cat([part.values.sum(2) for part in found])  # (1)
    missed = torch.cat([part.completeness for part in found if part.completeness is not None])
    return Attribution(values, which, "integrated gradients of tokens", missed)


class _AfterEmbedding(nn.Module):
    """The part of a network after its embedding: takes embedded tokens and returns the network's output."""

    def __init__(self, module: nn.Module, embedding: nn.Embedding, tokens: Tensor) -> None:
        super().__init__()
        self.module, self.embedding, self.tokens = module, embedding, tokens

    def forward(self, rows: Tensor) -> Any:
        repeats = -(-len(rows) // len(self.tokens))
        tokens = self.tokens.repeat(repeats, 1)[: len(rows)]
        with _replace_rows(self.embedding, rows):
            return self.module(tokens)


@contextmanager
def _replace_rows(embedding: nn.Embedding, rows: Tensor) -> Iterator[None]:
    handle = embedding.register_forward_hook(lambda *_: rows)
    try:
        yield
    finally:
        handle.remove()


def _embedding(module: nn.Module, tokens: Tensor) -> nn.Embedding:
    """Returns the only embedding layer that reads the token ids; raises an error if there is none or more than one."""
    found: list[nn.Embedding] = []

    def record(part: nn.Module, arguments: tuple[Any, ...], _: Any) -> None:
        given = arguments[0] if arguments else None
        if isinstance(given, Tensor) and given.shape == tokens[:1].shape and bool((given == tokens[:1]).all()):
            found.append(part)  # type: ignore[arg-type]

    handles = [part.register_forward_hook(record) for part in module.modules() if isinstance(part, nn.Embedding)]
    try:
        with preserve(module, grad=False):
            run_module(module, tokens[:1])
    finally:
        for handle in handles:
            handle.remove()
    if len(found) != 1:
        text = "no embedding reads the tokens" if not found else f"{len(found)} embeddings read the tokens"
        fix = "Use occlusion(module, tokens, fill_value=...), which needs none"
        raise InputError(text, accepted="one nn.Embedding that reads the tokens once", fix=fix)
    return found[0]
