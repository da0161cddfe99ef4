"""Implements networks on sets and point clouds: Deep Sets, and PointNet with its learned alignment."""

import torch
from torch import Tensor, nn

__all__ = ["DeepSets", "PointNet", "TNet"]


class DeepSets(nn.Module):
    """Deep Sets: a network on sets whose output does not depend on the order of the members.

        f(x_1, ..., x_M) = rho(sum_m phi(x_m))                                                             (1)

    Inputs are (batch, members, features).
    Hypotheses: none; continuous functions of M numbers need M latent features in general.
    Reference: [zaheer2017deep].
    Cost: members x width^2.

    >>> net, x = DeepSets(2, 1, width=8, latent=4), torch.randn(3, 5, 2)
    >>> torch.allclose(net(x), net(x.flip(1)), atol=1e-5)
    True
    """

    def __init__(self, inputs: int, outputs: int, *, width: int = 64, latent: int = 64) -> None:
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, latent))
        self.rho = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Runs the network on sets (batch, members, inputs); returns (batch, outputs)."""
        found: Tensor = self.rho(self.phi(x).sum(1))  # (1)
        return found


class TNet(nn.Module):
    """Predicts an alignment matrix for each point cloud, independent of the order of its points (part of PointNet).

        A(X) = I + reshape(W max_m phi(x_m))                                                               (1)

    Hypotheses: none.
    Reference: [qi2017pointnet].
    Cost: points x width^2.

    >>> torch.equal(TNet(3)(torch.randn(2, 5, 3)), torch.eye(3).expand(2, 3, 3))
    True
    """

    def __init__(self, size: int, *, width: int = 64) -> None:
        super().__init__()
        self.size = size
        self.phi = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, size * size)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Returns one alignment matrix for each point cloud in x of shape (batch, points, size)."""
        change = self.out(self.phi(x).amax(1)).reshape(-1, self.size, self.size)
        return torch.eye(self.size, dtype=x.dtype, device=x.device) + change  # (1)

    def orthogonality(self, x: Tensor) -> Tensor:
        """Returns a penalty that is zero if the alignment matrices are orthogonal, which keeps them close to
        rotations.
        """
        a = self(x)
        eye = torch.eye(self.size, dtype=x.dtype, device=x.device)
        return (eye - a @ a.transpose(1, 2)).square().sum((1, 2)).mean()


class PointNet(nn.Module):
    """PointNet for point clouds: aligns points, computes and aligns their features, and takes the maximum of every
    feature.

        local = phi(X A(X)) B,   y = rho(max_m psi(local_m))                                               (1)

    ``critical(x)`` names the points that reach a maximum: all others could be left out.
    Hypotheses: none.
    Reference: [qi2017pointnet].
    Cost: points x width x global features.

    >>> net, x = PointNet(outputs=4, local=8, features=16), torch.randn(2, 30, 3)
    >>> torch.allclose(net(x), net(x.flip(1)), atol=1e-5)
    True
    """

    def __init__(self, *, outputs: int, local: int = 64, features: int = 1024) -> None:
        super().__init__()
        self.align, self.align_local = TNet(3), TNet(local)
        self.phi = nn.Sequential(nn.Linear(3, local), nn.ReLU(), nn.Linear(local, local), nn.ReLU())
        self.psi = nn.Sequential(nn.Linear(local, 2 * local), nn.ReLU(), nn.Linear(2 * local, features))
        self.rho = nn.Sequential(nn.Linear(features, 4 * local), nn.ReLU(), nn.Linear(4 * local, outputs))

    def features(self, x: Tensor) -> Tensor:
        """Returns the features of each point before PointNet takes their maximum, (batch, points, features)."""
        local = self.phi(x @ self.align(x))
        found: Tensor = self.psi(local @ self.align_local(local))
        return found

    def critical(self, x: Tensor) -> Tensor:
        """Returns for each point cloud and feature the index of the point with the maximum: (batch, features)."""
        return self.features(x).argmax(1)

    def forward(self, x: Tensor) -> Tensor:
        """Runs PointNet on point clouds (batch, points, 3); returns (batch, outputs)."""
        found: Tensor = self.rho(self.features(x).amax(1))  # (1)
        return found
