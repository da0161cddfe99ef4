"""Draws a reproducible random sample of examples, stratified by class.

>>> import torch
>>> labels = torch.tensor([0] * 8 + [1] * 2)
>>> labels[stratified_sample(10, labels, 5, seed=0)].tolist()
[0, 0, 0, 0, 1]
"""

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.core.inputs.classes import are_classes

__all__ = ["stratified_sample"]


def stratified_sample(n: int, labels: Tensor | None, k: int, *, seed: int = 0) -> Int[Tensor, " k"]:
    """Returns the sorted indices of k of n examples, drawn at random and stratified by class; all indices if k is
    larger than n.

    Shares are rounded by largest remainder; where k is below the number of classes, the largest classes come first.
    Cost: one permutation of n.

    >>> len(stratified_sample(10, None, 4, seed=0)), stratified_sample(3, None, 5).tolist()
    (4, [0, 1, 2])
    """
    if k >= n:
        return torch.arange(n)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    if labels is None or not are_classes(labels):
        return order[:k].sort().values
    _, code = torch.unique(labels.cpu(), return_inverse=True)
    seats = _apportion(torch.bincount(code), k)
    return torch.cat([order[code[order] == c][: int(s)] for c, s in enumerate(seats)]).sort().values


def _apportion(sizes: Tensor, k: int) -> Tensor:
    """Divides a sample of size k among classes in proportion to their sizes, with at least one each if possible."""
    exact = sizes.double() * k / int(sizes.sum())
    seats = torch.minimum(exact.floor().long().clamp(min=1 if k >= len(sizes) else 0), sizes)
    while int(seats.sum()) > k:
        # Takes one example from the class that exceeds its exact share most, unless it has only one.
        seats[int(torch.where(seats > 1, seats - exact, -torch.inf).argmax())] -= 1
    while int(seats.sum()) < k:
        seats[int(torch.where(seats < sizes, exact - seats, -torch.inf).argmax())] += 1
    return seats
