"""Describes a network in a few words: its class and its number of layers.

>>> describe_network(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))
'Sequential with 2 layers of weights'
"""

from torch import nn

__all__ = ["describe_network"]


def describe_network(module: nn.Module) -> str:
    """Describes a network in a few words: its class name and its number of layers.

    >>> describe_network(nn.Linear(2, 1))
    'Linear with 1 layer of weights'
    """
    layers = _weight_layers(module)
    return f"{type(module).__name__} with {layers} layer{'' if layers == 1 else 's'} of weights"


def _weight_layers(module: nn.Module) -> int:
    """Returns the number of layers with a weight matrix; attention counts as one layer, normalization as none.

    >>> _weight_layers(nn.TransformerEncoderLayer(4, 2, 8))
    3
    """
    attention = [part for part in module.modules() if isinstance(part, nn.MultiheadAttention)]
    inside = {id(part) for one in attention for part in one.modules() if part is not one}
    return sum(
        any(p.dim() > 1 for p in part.parameters(recurse=False))
        for part in module.modules()
        if id(part) not in inside and (part in attention or not any(True for _ in part.children()))
    )
