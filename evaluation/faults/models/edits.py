"""Changes of a network after it is built: initialization, frozen layers, statistics. Each wraps or edits a network."""

import torch
from torch import nn


def initialized(build, edit):
    """Builds a network and edits its parameters without gradients."""

    def build_and_edit():
        net = build()
        with torch.no_grad():
            edit(net)
        return net

    return build_and_edit


def frozen(build, layer):
    """Builds a network and freezes one layer at its random initialization."""

    def build_and_freeze():
        net = build()
        net.get_submodule(layer).requires_grad_(False)
        return net

    return build_and_freeze


def each_layer(function):
    """Applies a function to each dense and convolutional layer."""

    def edit(net):
        for part in net.modules():
            if isinstance(part, (nn.Linear, nn.Conv2d)):
                function(part)

    return edit


def scale_weights(factor):
    """Multiplies all weights, but not biases."""
    return lambda net: [p.mul_(factor) for p in net.parameters() if p.dim() > 1]


def tiny_weights(layer):
    """Normal weights with a standard deviation of 0.01 / sqrt(inputs)."""
    nn.init.normal_(layer.weight, std=0.01 / layer.weight[0].numel() ** 0.5)


def set_bias(layer, value):
    """Sets all biases of one layer."""
    return lambda net: net.get_submodule(layer).bias.fill_(value)


def zero_layer(layer):
    """Sets all weights of one layer to zero."""
    return lambda net: nn.init.zeros_(net.get_submodule(layer).weight)


def large_mixer_without_norm(net):
    """Removes the norms of a mixer and multiplies its weights by eight."""
    for part in (*net.across_patches, *net.within_patches):
        part[0] = nn.Identity()
        part[1].weight.mul_(8.0)
        part[3].weight.mul_(8.0)


def set_batch_norm_momentum(momentum):
    """Sets the momentum of all batch norms."""

    def edit(net):
        for part in net.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.momentum = momentum

    return edit


def reset_batch_norm_statistics(net):
    """Resets the running statistics of all batch norms, as if they had been lost after 100 batches."""
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.reset_running_stats()
            part.num_batches_tracked.fill_(100)
