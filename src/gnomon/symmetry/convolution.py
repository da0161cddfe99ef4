"""Group-equivariant convolutions over translations and a finite group of rotations and reflections."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.core.errors import InputError, NoLimitError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_type
from gnomon.core.modules.tied import TiedWeightLayout
from gnomon.symmetry.group import Group

__all__ = ["GroupConv2d"]


class GroupConv2d(nn.Module):
    """A convolution that uses its kernels in all poses of a group, so that rotated images give rotated outputs.

        y(u, g) = b + sum_{v, h} w(g^{-1} v, g^{-1} h) x(u + v, h),    lifting:  sum_v w(g^{-1} v) x(u + v)         (1)

    so (g x) -> y turned by g, with its group elements permuted. Exact to rounding for rotations by 90 degrees and
    reflections with kernels of odd size and no stride; other rotations interpolate the kernel.

    Args:
        in_channels: channels of the input, for each group element.
        out_channels: channels of the output, for each group element.
        kernel_size: odd.
        group: `cyclic(4)`, `dihedral(4)`, `cyclic(8)` or another.
        lifting: the input is an image, and not the output of another group convolution.
        stride: as in ``nn.Conv2d``.
        padding: as in ``nn.Conv2d``.
        bias: as in ``nn.Conv2d``.
        padding_mode: "zeros" or "circular".

    Inputs are (n, in_channels times order, height, width), for ``lifting`` (n, in_channels, height, width); outputs are
    (n, out_channels times order, height, width) with the elements of the group innermost among channels, so that
    elementwise layers and spatial pooling of ``torch.nn`` follow as they are.

    Hypotheses: for exactness, a group that maps pixels to pixels. ``interpolation_error`` says how far others are.
    Reference: [cohen2016group].
    Cost: the same as ``nn.Conv2d`` with as many channels as come out.

    >>> from gnomon.symmetry import cyclic
    >>> group, x = cyclic(4), torch.randn(1, 2, 8, 8)
    >>> layer = GroupConv2d(2, 3, 3, group=group, lifting=True, padding=1)
    >>> layer(x).shape, layer.interpolation_error
    (torch.Size([1, 12, 8, 8]), 0.0)
    >>> torch.allclose(layer(group.turn(x, 1)), group.turn_features(layer(x), 1), atol=1e-6)
    True
    """

    @add_call_to_errors
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        *,
        group: Group,
        lifting: bool = False,
        stride: int = 1,
        padding: int = 0,
        bias: bool = True,
        padding_mode: str = "zeros",
    ) -> None:
        super().__init__()
        self.in_channels = check_integer("in_channels", in_channels)
        self.out_channels = check_integer("out_channels", out_channels)
        self.kernel_size = check_integer("kernel_size", kernel_size)
        check_type("group", group, Group, fix="Pass cyclic(4) or dihedral(4)")
        if self.kernel_size % 2 == 0:
            raise out_of_range_error("kernel_size", "an odd number", kernel_size)
        if padding_mode not in ("zeros", "circular"):
            raise out_of_range_error("padding_mode", '"zeros" or "circular"', padding_mode)
        self.group, self.lifting, self.padding_mode = group, lifting, padding_mode
        self.stride, self.padding = (
            check_integer("stride", stride),
            check_integer("padding", padding, least=0),
        )
        depth = 1 if lifting else group.order
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, depth, kernel_size, kernel_size))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.register_buffer("moves", group.kernels(self.kernel_size).to(self.weight.dtype), persistent=False)
        index = [[group.product(group.inverse(g), h) for h in range(group.order)] for g in range(group.order)]
        self.register_buffer(
            "index", torch.zeros(group.order, 1).long() if lifting else torch.tensor(index), persistent=False
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the weights like an ``nn.Conv2d`` with the same number of inputs."""
        bound = (self.weight[0].numel()) ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    @property
    def interpolation_error(self) -> float:
        """Returns the relative error that interpolation of rotated kernels causes; 0 for multiples of 90 degrees."""
        moves, order = self.group.kernels(self.kernel_size), self.group.order
        pairs = [(g, h) for g in range(order) for h in range(order)]
        gaps = [(moves[g] @ moves[h] - moves[self.group.product(g, h)]).square().sum() for g, h in pairs]
        sizes = [moves[self.group.product(g, h)].square().sum() for g, h in pairs]
        return float((torch.stack(gaps).sum() / torch.stack(sizes).sum()).sqrt())

    def expand_kernels(self) -> Tensor:
        """Returns the kernels in all poses of the group: (out_channels * order, in_channels * depth, size, size)."""
        moves, index = self.get_buffer("moves"), self.get_buffer("index")
        out, size = self.out_channels, self.kernel_size
        picked = self.weight.flatten(3)[:, :, index]  # shape: (out, in, element g, element h, size^2)
        turned = torch.einsum("gpq,oighq->ogihp", moves.to(picked.dtype), picked)  # (1)
        return turned.reshape(out * self.group.order, -1, size, size)

    @add_call_to_errors("GroupConv2d(x)")
    def forward(self, x: Tensor) -> Tensor:
        """Returns the outputs of the group convolution, of shape (n, out_channels * order, height, width)."""
        channels = self.in_channels * (1 if self.lifting else self.group.order)
        if x.dim() != 4 or x.shape[1] != channels:
            found = f"x has shape {tuple(x.shape)}, and the layer takes (n, {channels}, height, width)"
            fix = "Pass this number of channels; for the first layer of a network set lifting=True"
            raise InputError(found, accepted="channels for each element of the group", fix=fix)
        bias = None if self.bias is None else self.bias.repeat_interleave(self.group.order)
        if self.padding_mode == "circular" and self.padding:
            x = functional.pad(x, (self.padding,) * 4, mode="circular")
            return functional.conv2d(x, self.expand_kernels(), bias, self.stride)
        return functional.conv2d(x, self.expand_kernels(), bias, self.stride, self.padding)

    @add_call_to_errors("GroupConv2d")
    def tied_form(self, height: int, width: int) -> TiedWeightLayout:
        """Returns the input position and the group element of each weight at each output, for infinite-width
        kernels.
        """
        if not self.group.exact:
            found = f"its {self.group.rotations} rotations interpolate the kernel"
            fix = "Use cyclic(4) or dihedral(4), or estimate it: gnomon.sampled_limit(net, draws=64)"
            raise NoLimitError(found, reason="every output weight is one of the parameters", fix=fix)
        size, order, depth = self.kernel_size, self.group.order, self.weight.shape[2]
        out = [(n + 2 * self.padding - size) // self.stride + 1 for n in (height, width)]
        # The position to which a group element moves a kernel entry; shape (element, kernel entry).
        at = self.group.kernels(size).argmax(1)
        rows, columns = (
            torch.arange(n)[None, None] * self.stride - self.padding + place[:, :, None]
            for n, place in zip(out, (at // size, at % size), strict=True)
        )  # shape: (element, kernel entry, output row or column)
        if self.padding_mode == "circular":
            rows, columns = rows % height, columns % width
        inside = ((rows >= 0) & (rows < height))[..., None] & ((columns >= 0) & (columns < width))[:, :, None]
        # shape: (element, kernel entry, output row, output column)
        place = (rows * width)[..., None] + columns[:, :, None]
        product = self.group.product
        seen = [[0 if self.lifting else product(g, k) for g in range(order)] for k in range(depth)]
        # shape: (depth, element, kernel entry, output row, output column)
        parts = torch.tensor(seen)[:, :, None, None, None] * (height * width) + place
        index = parts.where(inside, -1).transpose(1, 2).reshape(depth * size**2, -1)
        return TiedWeightLayout(index, depth, order, (out[0], out[1]))

    def extra_repr(self) -> str:
        """Returns the options of the layer, shown by ``repr``."""
        kind = "D" if self.group.reflections else "C"
        sizes = f"{self.in_channels}, {self.out_channels}, {self.kernel_size}"
        return f"{sizes}, group={kind}{self.group.rotations}, lifting={self.lifting}"


def channels_for_each_element(x: Tensor, group: Group) -> tuple[Any, ...]:
    """Returns the shape (n, channels, order, height, width) of group features; raises an error for other shapes."""
    if x.dim() != 4 or x.shape[1] % group.order:
        found = f"x has shape {tuple(x.shape)}, and the group has {group.order} elements"
        fix = "Pass the output of a GroupConv2d of the same group"
        raise InputError(found, accepted="channels for each element of the group", fix=fix)
    return x.shape[0], x.shape[1] // group.order, group.order, x.shape[2], x.shape[3]
