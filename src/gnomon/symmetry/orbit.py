"""Infinitely wide group-convolutional networks: their kernel is the plain network's kernel averaged over the group."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.symmetry.convolution import GroupConv2d
from gnomon.symmetry.features import GroupBatchNorm2d, GroupPool
from gnomon.symmetry.group import Group

__all__ = ["orbit_average", "without_group_convolutions"]


@add_call_to_errors
def orbit_average(
    kernel: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor | None = None, *, group: Group
) -> Tensor:
    """Returns the kernel of an infinitely wide group-convolutional network, from the kernel of the plain network.

        K_G(x, y) = (1 / |G|) sum_g K(x, g y)                                                                 (1)

    A kernel drawn independently at each place has the same law when it is turned, so the outputs of group element g on
    y have the covariances of the plain network on g^{-1} y, layer by layer, at any depth, and pooling over the group
    averages them. `gnomon.limit` reads group convolutions by themselves and finds the same; this is the reason.

    The NTK follows in the same way in the NTK parametrization. In the standard one a layer counts with its fan-in,
    which is |G| times the NTK of the plain layer for all but the lifting one: there (1) holds for the NNGP alone.

    Hypotheses: a group that maps pixels to pixels, square images, no stride, a mean over places and elements at the
    end, weights independent and identically distributed. Reference: [cohen2016group].
    Cost: as many kernel matrices as the group has elements.

    >>> from gnomon.symmetry import cyclic
    >>> x = torch.randn(2, 1, 4, 4)
    >>> K = orbit_average(lambda a, b: a.flatten(1) @ b.flatten(1).T, x, group=cyclic(4))
    >>> turned = orbit_average(lambda a, b: a.flatten(1) @ b.flatten(1).T, x, x.rot90(1, (2, 3)), group=cyclic(4))
    >>> torch.allclose(K, turned, atol=1e-5)                                          # sees no difference
    True
    """
    if not group.exact:
        found = f"the group has {group.rotations} rotations, and images turn exactly by 90 degrees only"
        raise InputError(found, accepted="a group that maps pixels to pixels", fix="Use cyclic(4) or dihedral(4)")
    other = x if y is None else y
    parts = [kernel(x, group.turn(other, g).contiguous()) for g in range(group.order)]
    return torch.stack(parts).mean(0)  # (1)


@add_call_to_errors
def without_group_convolutions(network: nn.Module) -> nn.Module:
    """Returns the network with every group convolution replaced by a new plain convolution of the same channel count.

    `gnomon.limit` reads both; `orbit_average` of the plain network's kernel is the kernel of the group-convolutional
    network,

        limit(network, parametrization="ntk").ntk(x)
            = orbit_average(limit(plain(network), parametrization="ntk").ntk, x, group=group)                 (1)

    Hypotheses: the same as for `orbit_average`; a network that is an ``nn.Sequential``, or parts of one.
    Reference: [cohen2016group].
    Cost: a copy of the network.

    >>> from gnomon.symmetry import GroupConv2d, cyclic
    >>> without_group_convolutions(nn.Sequential(GroupConv2d(1, 8, 3, group=cyclic(4), lifting=True), nn.ReLU()))
    Sequential(
      (0): Conv2d(1, 8, kernel_size=(3, 3), stride=(1, 1))
      (1): ReLU()
    )
    """
    check_module(network)
    if isinstance(network, GroupConv2d):
        return nn.Conv2d(
            network.in_channels,
            network.out_channels,
            network.kernel_size,
            network.stride,
            network.padding,
            bias=network.bias is not None,
            padding_mode=cast(Any, network.padding_mode),
        )
    if isinstance(network, GroupPool):
        if network.largest:
            fix = "Use GroupPool(group=group), which takes the mean"
            raise InputError("a GroupPool takes the maximum", accepted="means over the group", fix=fix)
        return nn.Identity()
    if isinstance(network, GroupBatchNorm2d):
        return nn.BatchNorm2d(network.channels)
    if isinstance(network, nn.Sequential):
        return nn.Sequential(*[without_group_convolutions(part) for part in network])
    return network
