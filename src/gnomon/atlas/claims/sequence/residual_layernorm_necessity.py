"""With skips and layer norm all layers of a transformer learn at one pace; without them the first layers do not learn.

    1/30 <= |gradient of the first feed-forward map| / |that of the last| <= 30      at 12 layers             (1)

Reference: [dong2021attention], [xiong2020layer].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """The logarithm of the ratio, either way."""
    return float(np.log(30.0))


def log_ratio(kept, depth, width, seed):
    """|log| of the ratio (1) at the start, for the mean over tokens as output."""
    torch.manual_seed(seed)
    layers = [nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True).double()
              for _ in range(depth)]  # fmt: skip
    x = torch.randn(8, 6, width).double()
    for layer in layers:
        if kept:
            x = layer(x)
        else:
            x = layer.self_attn(x, x, x)[0]
            x = layer.linear2(torch.relu(layer.linear1(x)))
    x.mean(1).square().sum().backward()
    first, last = (float(layer.linear1.weight.grad.norm()) for layer in (layers[0], layers[-1]))
    return abs(np.log(first / last))


def observed(depth, width, seeds, seed):
    """With both."""
    return np.array([log_ratio(True, depth, width, seed + i) for i in range(seeds)])


def control(depth, width, seeds, seed):
    """With neither."""
    return np.array([log_ratio(False, depth, width, seed + i) for i in range(seeds)])


CLAIM = Claim(
    id="residual-layernorm-necessity",
    title="Without skips and layer norm the first layers of a transformer do not learn",
    equation=r"1/30 \le |\nabla_1| / |\nabla_{12}| \le 30",
    source=Source("observed", "dong2021attention"),
    premises=(Premise("layers have skips and layer norm"),),
    parameters={"depth": 12, "width": 16, "seeds": 3},
    full={"depth": 12, "width": 64, "seeds": 10},
    judge=bounded_by(),
    loose_because="a factor 30 is the statement; the ratio is about 1.6.",
)
