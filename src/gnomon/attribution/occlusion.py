"""Occlusion: how much an output falls where a patch of the input is covered.

    O(u) = mean over windows w that hold u of f(x) - f(x with w covered)                                         (1)

Hypotheses: the cover stands for "nothing there".
Reference: [zeiler2014visualizing].
Cost: a forward pass for each window.

>>> net = nn.Linear(3, 1, bias=False)
>>> x = torch.ones(1, 3)
>>> bool(torch.allclose(occlusion(net, x).values, net.weight * x, atol=1e-6))        # linear: weight times input
True
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import chosen, scores
from gnomon.core.checks import integer
from gnomon.core.untouched import untouched

__all__ = ["occlusion"]

CALL = "occlusion(module, x)"
ROWS = 128


def occlusion(
    module: nn.Module, x: Any, target: Any = None, *, window: int = 1, stride: int = 1, cover: float = 0.0
) -> Attribution:
    """Cover windows of the input one after the other, equation (1); images by squares over all channels.

    Hypotheses: see the module.
    Reference: [zeiler2014visualizing].
    Cost: a forward pass for each window.

    >>> occlusion(nn.Flatten(), torch.rand(2, 1, 4, 4), 0, window=2, stride=2).values.shape
    torch.Size([2, 1, 4, 4])
    """
    inputs = one_tensor(x, module, call=CALL)
    size, step = integer("window", window, call=CALL), integer("stride", stride, call=CALL)
    masks = _masks(inputs, size, step)
    with untouched(module), torch.no_grad():
        which = chosen(module, inputs, target, call=CALL)
        before = scores(module, inputs, which, call=CALL)
        total, seen = torch.zeros_like(inputs), torch.zeros_like(inputs[0])
        for part in masks.split(max(1, ROWS // len(inputs))):
            covered = torch.where(part[:, None], inputs.new_tensor(float(cover)), inputs[None])
            after = scores(module, covered.flatten(0, 1), which.repeat(len(part)), call=CALL)
            fall = before[None] - after.reshape(len(part), -1)
            total += torch.einsum("wn,w...->n...", fall, part.to(inputs))
            seen += part.sum(0)
    return Attribution(total / seen.clamp(min=1), which, "occlusion")  # (1)


def _masks(x: Tensor, size: int, step: int) -> Tensor:
    """Windows (w, *shape of an example) as True inside."""
    shape = x.shape[1:]
    space = shape[1:] if len(shape) == 3 else shape
    starts = [sorted({*range(0, max(1, n - size + 1), step), max(0, n - size)}) for n in space]
    found = []
    for corner in torch.cartesian_prod(*map(torch.tensor, starts)).reshape(-1, len(space)).tolist():
        mask = torch.zeros(space, dtype=torch.bool, device=x.device)
        mask[tuple(slice(a, a + size) for a in corner)] = True
        found.append(mask.expand(shape))
    return torch.stack(found)
