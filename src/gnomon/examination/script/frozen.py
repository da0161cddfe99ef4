"""Finds frozen layers that still have the random weights with which torch creates them.

Linear and convolutional layers draw their first weights from the uniform distribution on [-b, b] with
b = fan_in^(-1/2). The mean of their squares is b^2 / 3, and the variance of each square is 4 b^4 / 45.
No training leaves such weights.

>>> net = nn.Sequential(nn.Linear(64, 16), nn.Linear(16, 2)).requires_grad_(False)
>>> random_frozen_layers(net)
(('0.weight', 1024),)
>>> with torch.no_grad():
...     _ = net[0].weight.normal_(0, 0.05)
>>> random_frozen_layers(net)
()
"""

from math import sqrt

import torch
from torch import Tensor, nn

__all__ = ["random_frozen_layers"]

MIN_WEIGHTS = 256
"""Weights of a layer below which the distribution says little."""
MAX_WEIGHTS_READ = 4096
"""Weights of a layer that are read."""
STANDARD_ERRORS = 4.0
"""Largest distance of the variance from the one of the uniform distribution."""
MIN_EXTREME = 0.97
"""Smallest size of the largest of 256 uniform weights, divided by the bound; 0.04 % are smaller."""
UNIFORM_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers whose first weights are uniform."""


def random_frozen_layers(module: nn.Module) -> tuple[tuple[str, int], ...]:
    """Returns the names and sizes of frozen weights that have the distribution with which torch creates them.

    >>> random_frozen_layers(nn.Linear(64, 16))  # not frozen
    ()
    """
    found = []
    for name, part in module.named_modules():
        if isinstance(part, UNIFORM_LAYERS) and not part.weight.requires_grad and _is_uniform(part.weight):
            found.append((f"{name}.weight" if name else "weight", part.weight.numel()))
    return tuple(found)


def _is_uniform(weight: Tensor) -> bool:
    if weight.numel() < MIN_WEIGHTS or weight.device.type != "cpu" or not weight.is_floating_point():
        return False
    bound = weight[0].numel() ** -0.5
    sizes = weight.detach().flatten()[:: max(1, weight.numel() // MAX_WEIGHTS_READ)].double().abs()
    n = sizes.numel()
    with torch.no_grad():
        largest, second_moment = float(sizes.max()) / bound, float(sizes.square().mean()) / bound**2
    error = sqrt(4 / 45 / n)
    return MIN_EXTREME < largest <= 1 + 1e-6 and abs(second_moment - 1 / 3) < STANDARD_ERRORS * error
