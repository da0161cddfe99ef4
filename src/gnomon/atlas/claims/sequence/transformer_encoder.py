"""A transformer layer is attention, then an MLP at each position, each with a skip connection and a layer norm.

    h = norm(x + attend(x)),    y = norm(h + W_2 relu(W_1 h))                                                 (1)

x is the input, h the state in between, W_1 and W_2 are matrices. Reference: [vaswani2017attention].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(size, seed):
    """Returns a transformer encoder layer of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.TransformerEncoderLayer(size, 2, 2 * size, 0.0, batch_first=True).double()


def inputs(times, size, seed):
    """Returns a random sequence as input of the transformer layer."""
    return torch.randn(1, times, size, generator=torch.Generator().manual_seed(seed)).double()


def predicted(times, size, seed):
    """Returns the output of PyTorch's transformer encoder layer."""
    with torch.no_grad():
        return net(size, seed)(inputs(times, size, seed))[0].numpy()


def by_parts(norms_first, times, size, seed):
    """Returns the layer's output computed from its parts; ``norms_first`` normalizes before the sums."""
    m, x = net(size, seed), inputs(times, size, seed)
    with torch.no_grad():
        if norms_first:
            z = m.norm1(x)
            x = x + m.self_attn(z, z, z)[0]
            return (x + m.linear2(torch.relu(m.linear1(m.norm2(x)))))[0].numpy()
        h = m.norm1(x + m.self_attn(x, x, x)[0])
        return m.norm2(h + m.linear2(torch.relu(m.linear1(h))))[0].numpy()


observed = partial(by_parts, norms_first=False)  # Layer norm follows the sum with the skip connection (post-norm).
control = partial(by_parts, norms_first=True)  # Norms before them.

CLAIM = Claim(
    id="transformer-encoder",
    question="What does a transformer layer compute?",
    equation=r"h = \mathrm{norm}(x + \mathrm{attend}(x)), \quad y = \mathrm{norm}(h + W_2 (W_1 h)_+)",
    axes=("output coordinate", "output"),
    source=Source("definition", "vaswani2017attention"),
    premises=(Premise("norms come after the sums"),),
    parameters={"times": 5, "size": 8},
    judge=equals(rounding=1e5),
)
