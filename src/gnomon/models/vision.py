"""Implements vision transformers, which read images as sequences of patches, and a network that sees patches
separately.
"""

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors

__all__ = ["BagOfPatches", "VisionTransformer", "patchify"]


@add_call_to_errors
def patchify(images: Tensor, size: int) -> Tensor:
    """Cuts images (n, c, h, w) into square patches, returned as (n, patches, c * size * size), row by row.

        patch (i, j) = image[:, i size : (i + 1) size, j size : (j + 1) size]                              (1)

    Hypotheses: both sides are multiples of ``size``.
    Reference: [dosovitskiy2021image].
    Cost: one copy.

    >>> patchify(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[0, 0]
    tensor([0., 1., 4., 5.])
    """
    n, c, h, w = images.shape
    cut = images.reshape(n, c, h // size, size, w // size, size)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(n, (h // size) * (w // size), c * size * size)  # (1)


class VisionTransformer(nn.Module):
    """A vision transformer, which reads images as a sequence of patches with a class token and learned positions.

        z = [cls, E p_1, ..., E p_T] + P,   y = W norm(encoder(z)[0])                                      (1)

    Hypotheses: square images of side ``side``, a multiple of ``patch``.
    Reference: [dosovitskiy2021image].
    Cost: depth x (T^2 width + T width^2).

    >>> VisionTransformer(side=8, patch=4, width=16, heads=2, depth=1)(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        *,
        side: int,
        patch: int,
        channels: int = 1,
        outputs: int = 10,
        width: int = 64,
        heads: int = 4,
        depth: int = 2,
    ) -> None:
        super().__init__()
        self.patch = patch
        count = (side // patch) ** 2
        self.embed = nn.Linear(channels * patch * patch, width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, count + 1, width))
        layers = [
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(depth)
        ]
        self.layers, self.norm, self.head = nn.ModuleList(layers), nn.LayerNorm(width), nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Runs the vision transformer on square images (n, c, side, side); returns (n, outputs)."""
        z = self.embed(patchify(x, self.patch))
        z = torch.cat([self.token.expand(z.shape[0], -1, -1), z], 1) + self.positions
        for layer in self.layers:
            z = layer(z)
        return self.head(self.norm(z)[:, 0])  # (1)


class BagOfPatches(nn.Module):
    """A network that classifies every image patch separately and averages the logits, like BagNet.

        logits = (1 / P) sum_p g(patch p)                                                                  (1)

    ``evidence(x)`` gives g for every patch, whose mean is the output exactly.
    Hypotheses: sides are multiples of ``patch``.
    Reference: [brendel2019approximating].
    Cost: patches x width^2.

    >>> net, x = BagOfPatches(patch=2, width=8), torch.randn(3, 1, 4, 4)
    >>> torch.allclose(net(x), net.evidence(x).mean(1), atol=1e-6)
    True
    """

    def __init__(self, *, patch: int, channels: int = 1, outputs: int = 10, width: int = 64) -> None:
        super().__init__()
        self.patch = patch
        self.body = nn.Sequential(
            nn.Linear(channels * patch * patch, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, outputs),
        )

    def evidence(self, x: Tensor) -> Tensor:
        """Returns the logits of each image patch, of shape (n, patches, outputs)."""
        found: Tensor = self.body(patchify(x, self.patch))
        return found

    def forward(self, x: Tensor) -> Tensor:
        """Averages the logits of all patches of images (n, c, h, w); returns (n, outputs)."""
        return self.evidence(x).mean(1)  # (1)
