"""Invertible linear mixing of channels with a learned matrix, the same matrix at every position.

    x[:, p] = W z[:, p] for every position p,    log |det| = positions * log |det W|                       (1)

For images (n, c, h, w) this is an invertible 1 x 1 convolution, for points (n, d) a linear map of all coordinates.

Hypotheses: W is invertible; it starts as a random rotation. Reference: [kingma2018glow].
"""

from math import prod

import torch
from torch import Tensor, nn

from gnomon.generative.flows.base import AbstractTransform

__all__ = ["InvertibleMixing"]


class InvertibleMixing(AbstractTransform):
    """Multiplies the channels at every position by a learned invertible matrix.

    See equation (1) of the module docstring.

    >>> layer = InvertibleMixing(3)
    >>> x, log_det = layer(torch.ones(2, 3, 4, 4))
    >>> x.shape, bool(log_det.abs().max() < 1e-4)                                   # a rotation keeps volumes
    (torch.Size([2, 3, 4, 4]), True)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(channels, channels))[0].contiguous())

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return self._mix(self.weight, z), self._log_det(z)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return self._mix(torch.linalg.inv(self.weight), x), -self._log_det(x)

    def _mix(self, matrix: Tensor, x: Tensor) -> Tensor:
        flat = x.flatten(2) if x.dim() > 2 else x[..., None]
        return torch.einsum("ij,njp->nip", matrix, flat).reshape(x.shape)  # (1)

    def _log_det(self, x: Tensor) -> Tensor:
        return (prod(x.shape[2:]) * torch.linalg.slogdet(self.weight)[1]).expand(len(x))  # (1)
