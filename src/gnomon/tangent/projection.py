"""Replaces the outputs of a network by one random combination, if the kernel of all outputs is too expensive.

    g(x) = sum_a s_a f_a(x) / sqrt(k),  s_a = +-1 at random,    E[Theta_g] = (1/k) sum_a Theta_aa            (1)

The kernel of g costs one backward pass for each example instead of k, and equals the kernel of f on average over the
signs.

Reference: [mohamadi2023fast] for the kernel of a single combination.

>>> net, x = nn.Linear(2, 4, bias=False), torch.eye(2)
>>> from gnomon.tangent import ntk
>>> torch.allclose(ntk(random_combination(net, 4, seed=0), x), ntk(net, x), atol=1e-6)     # a linear layer: exactly
True
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.outputs import output_tensor

__all__ = ["random_combination", "combine_outputs_like"]


def random_combination(module: nn.Module, outputs: int, *, seed: int) -> nn.Module:
    """Returns a module whose single output is a random combination of the module's outputs.

    See equation (1) of the module docstring.

    >>> random_combination(nn.Linear(2, 4), 4, seed=0)(torch.eye(2)).shape
    torch.Size([2, 1])
    """
    return _Combined(module, outputs, seed=seed)


def combine_outputs_like(like: nn.Module, module: nn.Module) -> nn.Module:
    """Combines the outputs of a module with the same random signs as ``like``, which `random_combination` made.

    >>> one = random_combination(nn.Linear(2, 4), 4, seed=0)
    >>> bool((combine_outputs_like(one, nn.Linear(2, 4)).signs == one.signs).all())
    True
    """
    assert isinstance(like, _Combined)
    other = _Combined(module, len(like.signs), seed=0)
    other.signs = like.signs
    return other


class _Combined(nn.Module):
    """A module with one output: a random combination of another module's outputs."""

    signs: Tensor

    def __init__(self, module: nn.Module, outputs: int, *, seed: int) -> None:
        super().__init__()
        self.module = module
        signs = torch.randint(0, 2, (outputs, 1), generator=torch.Generator().manual_seed(seed)) * 2.0 - 1
        like = next(module.parameters())
        self.register_buffer("signs", (signs / outputs**0.5).to(like.device, like.dtype))
        self.train(module.training)

    def forward(self, *args: Any, **named: Any) -> Tensor:
        """Returns one output for each example: the random combination of the wrapped module's outputs."""
        f = output_tensor(self.module(*args, **named))
        return f.flatten(1) @ self.signs  # (1)
