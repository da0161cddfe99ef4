"""Layers for features over a group of transformations: batch normalization with shared statistics, and pooling."""

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.symmetry.convolution import channels_for_each_element
from gnomon.symmetry.group import Group

__all__ = ["GroupBatchNorm2d", "GroupPool"]


class GroupBatchNorm2d(nn.Module):
    """Batch normalization that shares mean, variance and gain between all group elements of a channel.

        y = gain (x - mean) / sqrt(variance + eps) + shift,   both over examples, places and elements    (1)

    Statistics that are shared by all elements do not change when elements are permuted, so turned inputs give turned
    outputs.

    Reference: [cohen2016group].
    Cost: the same as ``nn.BatchNorm2d``.

    >>> import torch
    >>> from gnomon.symmetry import cyclic
    >>> y = GroupBatchNorm2d(2, group=cyclic(4))(torch.randn(5, 8, 3, 3))
    >>> y.reshape(5, 2, 4, 3, 3).mean((0, 2, 3, 4)).abs().max() < 1e-6
    tensor(True)
    """

    def __init__(self, channels: int, *, group: Group, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.channels, self.group = channels, group
        self.normalization = nn.BatchNorm2d(channels, eps, momentum)

    @add_call_to_errors("GroupBatchNorm2d(x)")
    def forward(self, x: Tensor) -> Tensor:
        """Returns the normalized features, in the same shape."""
        n, channels, order, height, width = channels_for_each_element(x, self.group)
        if channels != self.channels:
            found = f"x has {channels} channels for each group element, but the layer expects {self.channels}"
            fix = f"Make it with channels={channels}"
            raise InputError(found, accepted="channels for each element of the group", fix=fix)
        return self.normalization(x.reshape(n, channels, order * height, width)).reshape(x.shape)  # (1)


class GroupPool(nn.Module):
    """Averages features over the elements of the group at each position (or takes the maximum with ``largest``).

        y(u) = (1 / |G|) sum_g x(u, g)                                                                            (1)

    With a mean over all places after it, outputs are the same for all turned copies of an image. ``largest`` takes the
    maximum over elements instead.

    Reference: [cohen2016group].
    Cost: one pass.

    >>> import torch
    >>> from gnomon.symmetry import cyclic
    >>> GroupPool(group=cyclic(4))(torch.arange(8.0).reshape(1, 8, 1, 1)).flatten()
    tensor([1.5000, 5.5000])
    """

    def __init__(self, *, group: Group, largest: bool = False) -> None:
        super().__init__()
        self.group, self.largest = group, largest

    @add_call_to_errors("GroupPool(x)")
    def forward(self, x: Tensor) -> Tensor:
        """Returns the features averaged over the group (n, channels, height, width), or their maximum."""
        parts = x.reshape(channels_for_each_element(x, self.group))
        return parts.amax(2) if self.largest else parts.mean(2)  # (1)
