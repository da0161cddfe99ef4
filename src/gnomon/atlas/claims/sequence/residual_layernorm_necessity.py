"""With skip connections and layer norm, a transformer's first and last layers have gradients of similar size.

    1/3 <= |gradient of the first feed-forward layer| / |gradient of the last one| <= 3   at 12 layers         (1)

Without them the first layers hardly learn. Reference: [dong2021attention], [xiong2020layer].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns log 3, the largest allowed |log| of the ratio of both layers' gradients."""
    return float(np.log(3.0))


def log_ratio(kept, depth, width, seed):
    """Returns |log| of the ratio of first to last layer's gradient at initialization; output is the mean token."""
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


def log_ratios(kept, depth, width, seeds, seed):
    """Returns |log| of the ratio of first to last layer's gradient, for several initializations."""
    return np.array([log_ratio(kept, depth, width, seed + i) for i in range(seeds)])


observed = partial(log_ratios, kept=True)  # Transformers with skip connections and layer norm.
control = partial(log_ratios, kept=False)  # Control: transformers without skip connections and layer norm.

CLAIM = Claim(
    id="residual-layernorm-necessity",
    question="Do transformers need skip connections and layer norm?",
    equation=r"1/3 \le |\nabla_1| / |\nabla_{12}| \le 3",
    axes=("initialization", "|log(gradient of the first layer / of the last)|"),
    source=Source("observed", "dong2021attention"),
    premises=(
        Premise("layers have skip connections and layer norm"),
        Premise("the network has about twelve layers, at most 18", lambda depth: depth <= 18),
    ),
    parameters={"depth": 12, "width": 16, "seeds": 6},
    full={"depth": 12, "width": 64, "seeds": 10},
    judge=bounded_by(),
    loose_because="a factor 3 is the statement; ratios of single starts are between 1 and 2.",
)
