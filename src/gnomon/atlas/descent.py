"""Trains the small networks of theory claims: runs steps of an optimizer on a loss."""

from collections.abc import Callable

from torch import Tensor
from torch.optim import Optimizer

__all__ = ["descend"]


def descend(optimizer: Optimizer, loss: Callable[[], Tensor], steps: int) -> None:
    """Runs some steps of a torch optimizer on a loss function without arguments.

    Cost: one forward and backward pass for each step.

    >>> import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> descend(torch.optim.SGD([w], lr=0.25), lambda: w.square().sum(), steps=3)     # each step halves w
    >>> w
    tensor([0.1250], requires_grad=True)
    """
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
