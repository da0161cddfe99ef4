"""Layers on sets, which treat all members equally and do not depend on their order."""

from torch import Tensor, nn

__all__ = ["SetLinear", "SetPool"]


class SetLinear(nn.Module):
    """A linear layer on sets: each output depends on one member of the set and on the mean of all members.

        y_i = A x_i + B (1 / M) sum_j x_j + b                                                                     (1)

    These are all linear maps that commute with every permutation of M members: for one channel, the matrices
    lambda I + gamma 1 1^T, whose diagonal is lambda + gamma.

    Inputs are (..., members, in_features), outputs (..., members, out_features).
    Reference: [zaheer2017deep].
    Cost: the same as ``nn.Linear``, twice.

    >>> import torch
    >>> layer, x = SetLinear(2, 3), torch.randn(5, 2)
    >>> torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-6)
    True
    """

    def __init__(self, in_features: int, out_features: int, *, bias: bool = True) -> None:
        super().__init__()
        self.own = nn.Linear(in_features, out_features, bias=bias)
        self.all = nn.Linear(in_features, out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the outputs for all members of the set."""
        own = self.own(x)
        return own + self.all(x.mean(-2, keepdim=True)).expand_as(own)  # (1)


class SetPool(nn.Module):
    """Averages over the members of a set, so that the result does not depend on their order.

        y = (1 / M) sum_i x_i                                                                                     (1)

    Reference: [zaheer2017deep].
    Cost: one pass.

    >>> import torch
    >>> SetPool()(torch.tensor([[1.0], [3.0]]))
    tensor([2.])
    """

    def forward(self, x: Tensor) -> Tensor:
        """Averages sets of shape (..., members, features) over their members."""
        return x.mean(-2)  # (1)
