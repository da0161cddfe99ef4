"""Measures the batch norm statistics of a model again on given data, as is needed after averaging weights.

A mean of two networks has activations with less spread than either, while the averaged statistics of its batch norm
layers do not show this. Averaging weights therefore includes measuring the statistics again. Layers that never saw a
batch are left out, because the models to compare with also use mean zero and variance one there.
Reference: [izmailov2018averaging]; [jordan2023repair] for interpolated networks.
"""

import torch
from torch import nn

from gnomon.training.evaluate import Objective

__all__ = ["measure_statistics"]

NORMS = nn.modules.batchnorm._BatchNorm


def measure_statistics(model: nn.Module, objective: Objective, *, size: int = 512) -> None:
    """Sets the running mean and variance of every batch norm layer to the means over batches of the data, in place.

    Layers that never saw a batch keep their statistics, and so do all layers if there is only one example. No other
    layer runs in training mode, so dropout stays off.
    Cost: a forward pass over the data; none for a model without such layers.

    >>> net = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1)).eval()
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> _ = net.train()(10 * x)
    >>> measure_statistics(net, Objective.of((x, torch.zeros(2)), net, None))
    >>> net[0].running_mean.item(), net[0].running_var.item()
    (2.0, 2.0)
    """
    layers = [part for part in model.modules() if isinstance(part, NORMS) and _has_statistics(part)]
    if not layers or len(objective) < 2:
        return
    modes, momenta = [part.training for part in model.modules()], [part.momentum for part in layers]
    try:
        model.eval()
        for part in layers:
            part.reset_running_stats()
            part.momentum = None  # None makes batch norm average all batches equally, instead of a moving average.
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


def _has_statistics(layer: NORMS) -> bool:
    """Whether a batch norm layer has running statistics that differ from their initial values."""
    mean, variance, count = layer.running_mean, layer.running_var, layer.num_batches_tracked
    if mean is None or variance is None:
        return False
    return bool(count is not None and count > 0) or bool((mean != 0).any()) or bool((variance != 1).any())
