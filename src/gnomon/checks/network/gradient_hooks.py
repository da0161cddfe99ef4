"""Finds hooks on parameters that shrink the gradient far below its true size.

    ratio = |g with hooks| / |g without|                                                                       (1)

Hypotheses: hooks that depend only on the gradient.

>>> net = nn.Linear(2, 1)
>>> _ = net.weight.register_hook(lambda g: g.clamp(-1e-6, 1e-6)), net.bias.register_hook(lambda g: 0 * g)
>>> gradient_hook_findings(net, lambda: net(torch.ones(4, 2)).square().mean())[0].kind
'gradient-hooks'
"""

from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import Tensor, nn

from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds

__all__ = ["gradient_hook_findings"]

MAX_RATIO = 0.01
"""Ratio (1) below which training hardly moves the weights."""


def gradient_hook_findings(module: nn.Module, loss: Callable[[], Tensor]) -> tuple[Finding, ...]:
    """Reports a problem if hooks on parameters make the gradient of ``loss()`` far smaller.

    Cost: nothing without hooks; otherwise two gradients.

    >>> gradient_hook_findings(nn.Linear(2, 1), lambda: torch.zeros(()))
    ()
    """
    hooked = [p for p in module.parameters() if p.requires_grad and p._backward_hooks]
    if not hooked:
        return ()
    held = [OrderedDict(p._backward_hooks or {}) for p in hooked]
    with torch.enable_grad():
        own = _norm(loss(), hooked)
        try:
            for p in hooked:
                p._backward_hooks = None
            free = _norm(loss(), hooked)
        finally:
            for p, hooks in zip(hooked, held, strict=True):
                p._backward_hooks = hooks
    if not free > 0 or own > MAX_RATIO * free:
        return ()
    ratio = own / free
    values = {"count": len(hooked), "ratio": ratio}
    return (Finding(kinds.GRADIENT_HOOKS, "parameters", values, (Value("ratio of the gradients", ratio),), 0.0),)


def _norm(loss: Tensor, parameters: list[nn.Parameter]) -> float:
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return float(sum(g.double().square().sum() for g in found if g is not None)) ** 0.5
