"""Implements residual, dense and reversible blocks."""

import torch
from torch import Tensor, nn

__all__ = ["AdditiveCouplingBlock", "DenseBlock", "ResidualLayer", "ReversibleNetwork"]


class ResidualLayer(nn.Module):
    """A residual layer x + phi(W x + b) - phi(0) with activation phi; it is the identity if its parameters are zero.

        F(x) = x + phi(W x + b) - phi(0)                                                                   (1)

    Hypotheses: none.
    Reference: [he2016deep].
    Cost: width^2.

    >>> layer = ResidualLayer(3, nn.Sigmoid())
    >>> for p in layer.parameters(): _ = p.data.zero_()
    >>> torch.equal(layer(torch.ones(2, 3)), torch.ones(2, 3))
    True
    """

    def __init__(self, width: int, activation: nn.Module) -> None:
        super().__init__()
        self.linear, self.activation = nn.Linear(width, width), activation

    def forward(self, x: Tensor) -> Tensor:
        """Applies the residual layer to the last dimension of x."""
        found: Tensor = x + self.activation(self.linear(x)) - self.activation(torch.zeros_like(x))  # (1)
        return found


class DenseBlock(nn.Module):
    """A DenseNet block: every layer gets all earlier outputs, and channels grow by a constant number per layer.

        x_{l+1} = [x_l, phi(W_l x_l + b_l)],   channels c_0 + l growth                                     (1)

    Hypotheses: none.
    Reference: [huang2017densely].
    Cost: depth^2 growth^2.

    >>> DenseBlock(4, growth=3, depth=5)(torch.zeros(2, 4)).shape
    torch.Size([2, 19])
    """

    def __init__(self, inputs: int, *, growth: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(inputs + i * growth, growth) for i in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        """Applies all layers of the DenseNet block; the last dimension grows by depth * growth."""
        for layer in self.layers:
            x = torch.cat([x, torch.relu(layer(x))], -1)  # (1)
        return x


class AdditiveCouplingBlock(nn.Module):
    """An additive coupling block: an exactly invertible layer that adds a function of half of its channels to the other
    half.

        y = [x_2, x_1 + F(x_2)],   x = [y_2 - F(y_1), y_1],   |det| = 1                                     (1)

    Hypotheses: an even number of channels, in the last dimension.
    Reference: [gomez2017reversible], [jacobsen2018revnet].
    Cost: one evaluation of F.

    >>> block, x = AdditiveCouplingBlock(4, width=8), torch.randn(3, 4)
    >>> torch.allclose(block.inverse(block(x)), x, atol=1e-6)
    True
    """

    def __init__(self, channels: int, *, width: int) -> None:
        super().__init__()
        half = channels // 2
        self.body = nn.Sequential(nn.Linear(half, width), nn.ReLU(), nn.Linear(width, half))

    def forward(self, x: Tensor) -> Tensor:
        """Applies the coupling block to the last dimension of x."""
        first, second = x.chunk(2, -1)
        return torch.cat([second, first + self.body(second)], -1)  # (1)

    def inverse(self, y: Tensor) -> Tensor:
        """Returns the input x for which the block returns y."""
        first, second = y.chunk(2, -1)
        return torch.cat([second - self.body(first), first], -1)  # (1)


class ReversibleNetwork(nn.Sequential):
    """A chain of additive coupling blocks, whose inputs can be computed exactly from its outputs.

        F = F_depth ... F_1,   F^-1 = F_1^-1 ... F_depth^-1                                                (1)

    Hypotheses: as for `AdditiveCouplingBlock`.
    Reference: [jacobsen2018revnet].
    Cost: depth couplings.

    >>> net, x = ReversibleNetwork(4, depth=10), torch.randn(3, 4)
    >>> bool((net.inverse(net(x)) - x).abs().max() < 1e-5)
    True
    """

    def __init__(self, channels: int, *, depth: int, width: int = 64) -> None:
        super().__init__(*(AdditiveCouplingBlock(channels, width=width) for _ in range(depth)))

    def inverse(self, y: Tensor) -> Tensor:
        """Returns the input x for which the network returns y."""
        for block in reversed(list(self)):
            assert isinstance(block, AdditiveCouplingBlock)  # holds by construction
            y = block.inverse(y)  # (1)
        return y
