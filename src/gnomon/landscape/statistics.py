"""Batch statistics of a model measured anew: what its normalization layers would see of these data.

A mean of two networks has activations with less spread than either, while the averaged statistics of its batch norm
layers still say otherwise. Measuring them again is part of averaging weights.
Reference: [izmailov2018averaging]; [jordan2023repair] for interpolated networks.
"""

import torch
from torch import nn

from gnomon.training.evaluate import Objective

__all__ = ["measure_statistics"]

NORMS = nn.modules.batchnorm._BatchNorm


def measure_statistics(model: nn.Module, objective: Objective, *, size: int = 512) -> None:
    """Set the running mean and variance of every batch norm layer to the means over batches of the data, in place.

    Nothing else of the model runs in training mode, so dropout stays off.
    Cost: a forward pass over the data; none for a model without such layers.

    >>> net = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1)).eval()
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> measure_statistics(net, Objective.of(x, torch.zeros(2), net, None, "f()"))
    >>> net[0].running_mean.item(), net[0].running_var.item()
    (2.0, 2.0)
    """
    layers = [part for part in model.modules() if isinstance(part, NORMS) and part.track_running_stats]
    if not layers:
        return
    modes, momenta = [part.training for part in model.modules()], [part.momentum for part in layers]
    try:
        model.eval()
        for part in layers:
            part.reset_running_stats()
            part.momentum = None  # a plain mean over batches
            part.train()
        with torch.no_grad():
            for x, y in objective.batches(size):
                if len(y) > 1:
                    objective.value(model, x, y)
    finally:
        for one, mode in zip(model.modules(), modes, strict=True):
            one.training = mode
        for part, momentum in zip(layers, momenta, strict=True):
            part.momentum = momentum
