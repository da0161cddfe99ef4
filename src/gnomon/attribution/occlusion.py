"""Occlusion: measures how much an output falls if a patch of the input is covered.

    O(u) = mean over windows w that hold u of f(x) - f(x with w covered)                                         (1)

Hypotheses: the cover represents "nothing there".
Reference: [zeiler2014visualizing].
Cost: a forward pass for each window.

>>> net = nn.Linear(3, 1, bias=False)
>>> x = torch.ones(1, 3)
>>> bool(torch.allclose(occlusion(net, x).values, net.weight * x, atol=1e-6))        # linear: weight times input
True
"""

from itertools import product
from typing import Any

import torch
from torch import nn

from gnomon.attribution.layers import one_tensor
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import target_of_each_example, target_scores
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.modules.preserve import preserve

__all__ = ["occlusion"]

EXAMPLES_PER_PASS = 32
"""Number of examples in a pass: larger passes do not fit into the processor's caches."""


@add_call_to_errors
def occlusion(
    module: nn.Module, data: Any, target: Any = None, *, window: int = 1, stride: int = 1, fill_value: float = 0.0
) -> Attribution:
    """Covers one window of the input at a time and measures how much the output falls.

    See equation (1) of the module docstring.
    Inputs may be integers such as tokens; ``fill_value`` is then the token that represents nothing.
    Hypotheses: see the module.
    Reference: [zeiler2014visualizing].
    Cost: a forward pass for each window.

    >>> occlusion(nn.Flatten(), torch.rand(2, 1, 4, 4), 0, window=2, stride=2).values.shape
    torch.Size([2, 1, 4, 4])
    """
    inputs = one_tensor(data, module, whole=True)
    size, step = check_integer("window", window), check_integer("stride", stride)
    patch = inputs.new_tensor(fill_value)
    places = _windows(inputs.shape[1:], size, step)
    together = max(1, EXAMPLES_PER_PASS // len(inputs))
    with preserve(module, grad=False):
        which = target_of_each_example(module, inputs, target)
        before = target_scores(module, inputs, which)
        total = torch.zeros(inputs.shape, dtype=before.dtype, device=inputs.device)
        seen = torch.zeros(inputs.shape[1:], dtype=before.dtype, device=inputs.device)
        copies = inputs.repeat(together, *(1,) * (inputs.dim() - 1)).reshape(together, *inputs.shape)
        for first in range(0, len(places), together):
            part = places[first : first + together]
            for copy, place in zip(copies, part, strict=False):
                copy[place] = patch
            made = target_scores(module, copies[: len(part)].flatten(0, 1), which.repeat(len(part)))
            for copy, place, after in zip(copies, part, made.reshape(len(part), -1), strict=False):
                total[place] += (before - after).reshape(-1, *(1,) * (inputs.dim() - 1))
                seen[place[1:]] += 1
                copy[place] = inputs[place]
    return Attribution(total / seen.clamp(min=1), which, "occlusion", inputs=inputs)  # (1)


def _windows(shape: torch.Size, size: int, step: int) -> list[tuple[slice, ...]]:
    """Returns the positions of the windows to cover; in images, a window is a square over all channels."""
    space = shape[1:] if len(shape) == 3 else shape
    ahead = (slice(None),) * (1 + len(shape) - len(space))
    starts = [range(0, max(n - size + step, 1), step) for n in space]  # The last window may extend beyond the end.
    return [(*ahead, *(slice(a, a + size) for a in corner)) for corner in product(*starts)]
