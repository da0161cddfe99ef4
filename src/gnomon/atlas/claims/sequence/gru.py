"""A GRU's new state is a gated mean of old state and candidate; PyTorch resets after the matrix product.

    h' = (1 - z) n + z h,   n = tanh(W x + b + r (U h + b')),   |h'| <= max(|h|, 1)                           (1)

x is the input, h the state, z the update gate, r the reset gate, n the candidate. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(units, seed):
    """Returns a GRU cell of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.GRUCell(3, units).double()


def inputs(units, seed):
    """Returns a random input and a random state."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), rng.normal(size=units)


def predicted(units, seed):
    """Returns the new state that PyTorch's GRU cell computes."""
    x, h = (torch.from_numpy(a)[None] for a in inputs(units, seed))
    with torch.no_grad():
        return net(units, seed)(x, h)[0].numpy()


def cell(after, units, seed):
    """Returns the GRU's new state, with the reset gate after or before the product with the recurrent matrix."""
    layer, (x, h) = net(units, seed), inputs(units, seed)
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    a = (w["weight_ih"] @ x + w["bias_ih"]).reshape(3, units)
    u, c = w["weight_hh"].reshape(3, units, units), w["bias_hh"].reshape(3, units)
    r, z = (1 / (1 + np.exp(-(a[k] + u[k] @ h + c[k]))) for k in (0, 1))
    inner = r * (u[2] @ h + c[2]) if after else u[2] @ (r * h) + c[2]
    return (1 - z) * np.tanh(a[2] + inner) + z * h


observed = partial(cell, after=True)  # After the matrix.
control = partial(cell, after=False)  # Before it.

CLAIM = Claim(
    id="gru",
    question="What does a GRU compute in PyTorch?",
    equation=r"h' = (1 - z) \odot n + z \odot h, \quad n = \tanh(W x + r \odot (U h))",
    axes=("unit", "new state"),
    source=Source("definition"),
    premises=(Premise("the reset gate acts after the matrix"),),
    parameters={"units": 5},
    judge=equals(rounding=1e4),
)
