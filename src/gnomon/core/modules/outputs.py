"""The outputs of a module in eval mode, for as many inputs as there are, with the module left as it was.

>>> import torch
>>> outputs(nn.Linear(2, 3), torch.zeros(600, 2), call="invariance(module, x)").shape
torch.Size([600, 3])
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, count, invoke, table, take
from gnomon.core.modules.pure import evaluating, random_state, undisturbed

__all__ = ["outputs"]

SIZE = 256
"""Examples that are passed at once."""


def outputs(module: nn.Module, x: Inputs, *, call: str) -> Float[Tensor, "n k"]:
    """A row of outputs for each example, without gradients, in pieces of `SIZE` examples.

    Random numbers that the module draws are the same at every call, and the caller's are not used up.
    Cost: one forward pass.

    >>> outputs(nn.Dropout(), torch.ones(2, 3), call="invariance(module, x)").tolist()      # eval mode: no dropout
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    parts = []
    with undisturbed(module), evaluating(module), random_state(0), torch.no_grad():
        for start in range(0, count(x), SIZE):
            piece = take(x, slice(start, start + SIZE))
            parts.append(table(invoke(module, piece, call=call), count(piece), call))
    return torch.cat(parts)
