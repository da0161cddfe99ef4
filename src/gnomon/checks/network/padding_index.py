"""Finds embedding layers whose ``padding_idx`` is, by mistake, the number of a real token.

The vector at ``padding_idx`` is zero and gets no gradient. Padding stands at the ends of sequences. A token that stands
between other tokens in most sequences that contain it is not padding:

    inside = share of the token's positions that have other tokens before and after them in the same row          (1)

Hypotheses: tokens (n, length) go into the embedding; sequences are padded at one end or at both.

>>> import torch
>>> net = nn.Embedding(9, 2, padding_idx=1)
>>> x = torch.tensor([[2, 1, 3, 4], [4, 4, 1, 2]] * 10)
>>> padding_index_findings(net, x)[0].values["token"], padding_index_findings(nn.Embedding(9, 2, padding_idx=0), x)
(1, ())
"""

from functools import partial
from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds

__all__ = ["padding_index_findings"]

MIN_POSITIONS = 8
"""Positions with the token, at least."""
MIN_INSIDE = 0.5
"""Share (1) from which the token is not padding."""


def padding_index_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports embedding layers whose ``padding_idx`` appears between other tokens, although padding appears only at the
    ends.

    No chance is involved.
    Cost: a forward pass, if there is an embedding with a ``padding_idx``.

    >>> padding_index_findings(nn.Linear(2, 1), Tensor(4, 2))
    ()
    """
    layers = {name: part for name, part in module.named_modules() if isinstance(part, nn.Embedding)}
    layers = {name: part for name, part in layers.items() if part.padding_idx is not None}
    if not layers:
        return ()
    given: dict[str, Tensor] = {}
    handles = [part.register_forward_pre_hook(partial(_keep, given, name)) for name, part in layers.items()]
    try:
        with preserve(module, grad=False, seed=0):
            output_tensor(run_module(module, x))
    finally:
        for handle in handles:
            handle.remove()
    found = []
    for name, tokens in given.items():
        token = layers[name].padding_idx
        assert token is not None
        inside, positions = _inside(tokens.eq(token))
        if positions >= MIN_POSITIONS and inside > MIN_INSIDE:
            values = {"token": token, "inside": inside, "positions": positions}
            found.append(Finding(kinds.PADDING_INDEX, name, values, (Value("share inside", inside),), 0.0))
    return tuple(found)


def _keep(given: dict[str, Tensor], name: str, _: nn.Module, arguments: tuple[Any, ...]) -> None:
    if name not in given and arguments and isinstance(arguments[0], Tensor) and arguments[0].dim() == 2:
        given[name] = arguments[0].detach()


def _inside(marked: Tensor) -> tuple[float, int]:
    """Returns the fraction of padding positions that have other tokens on both sides, and the number of padding
    positions.
    """
    other = (~marked).int()
    before, after = other.cumsum(1) > 0, other.flip(1).cumsum(1).flip(1) > 0
    positions = int(marked.sum())
    return float((marked & before & after).sum()) / max(1, positions), positions  # (1)
