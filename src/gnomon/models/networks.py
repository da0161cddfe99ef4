"""Builds fully connected and convolutional networks as ordinary torch modules."""

from torch import nn

from gnomon.core.errors import add_call_to_errors

__all__ = ["cnn", "mlp"]


@add_call_to_errors
def mlp(
    inputs: int, outputs: int = 1, *, width: int = 512, depth: int = 2, activation: type[nn.Module] = nn.ReLU
) -> nn.Sequential:
    """Creates a fully connected network with ``depth`` hidden layers.

        h_0 = x,   h_l = phi(W_l h_{l-1} + b_l),   f = W h_depth + b            (1)

    Hypotheses: none; PyTorch's default initialization.
    Reference: [lee2018deep] for its limit.
    Cost: depth x width^2 parameters.

    >>> len(mlp(3, depth=2))
    5
    """
    layers: list[nn.Module] = []
    for i in range(depth):
        layers += [nn.Linear(inputs if i == 0 else width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width if depth else inputs, outputs))


@add_call_to_errors
def cnn(
    channels: int = 1, outputs: int = 10, *, width: int = 128, depth: int = 3, activation: type[nn.Module] = nn.ReLU
) -> nn.Sequential:
    """Creates a convolutional network: 3x3 convolutions, 2x2 average pooling after the first, global average pooling at
    the end.

        h_l = phi(conv_l(h_{l-1})),   f = W mean_p h_depth[p] + b               (1)

    Hypotheses: images of even side.
    Reference: [arora2019exact] for its limit.
    Cost: 9 depth x width^2 parameters.

    >>> import torch
    >>> cnn()(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """
    layers: list[nn.Module] = []
    for i in range(depth):
        layers += [nn.Conv2d(channels if i == 0 else width, width, 3, padding=1), activation()]
        if i == 0:
            layers.append(nn.AvgPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, outputs))
