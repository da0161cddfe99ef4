"""An LSTM's cell is forget gate x old value + input gate x candidate; its direct gradient is a product of forget gates.

    c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')                                        (1)
    dc_T / dc_0 along the cells alone = product over t of sigmoid(f_t)                                        (2)

c is the cell, h the state, and f, i, g, o are the inputs of forget gate, input gate, candidate and output gate. The
direct path (2) vanishes unless the forget gates stay near one. Some texts exchange the gates.
Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(units, seed):
    """Returns an LSTM cell of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.LSTMCell(3, units).double()


def inputs(units, seed):
    """Returns a random input, state and cell."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), rng.normal(size=units), rng.normal(size=units)


def predicted(units, seed):
    """Returns state and cell after five steps of PyTorch's LSTM cell, then the gradient of the cell by autograd."""
    x, h, c = (torch.from_numpy(a)[None] for a in inputs(units, seed))
    layer, start = net(units, seed), c.requires_grad_()
    for _ in range(5):
        h, c = layer(x, (h.detach(), c))  # The gradient follows only the path along the cell states.
    (path,) = torch.autograd.grad(c.sum(), start)
    return torch.cat([h, c, path], 1)[0].detach().numpy()


def cell(order, units, seed):
    """Returns state and cell after five LSTM steps with the given order of gates, then the product of forget gates."""
    layer, (x, h, c) = net(units, seed), inputs(units, seed)
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    path = np.ones(units)
    for _ in range(5):
        gates = w["weight_ih"] @ x + w["bias_ih"] + w["weight_hh"] @ h + w["bias_hh"]
        found = dict(zip(order, gates.reshape(4, units), strict=True))
        squash = {name: 1 / (1 + np.exp(-value)) for name, value in found.items()}
        c = squash["f"] * c + squash["i"] * np.tanh(found["g"])
        h, path = squash["o"] * np.tanh(c), path * squash["f"]
    return np.concatenate([h, c, path])


observed = partial(cell, order="ifgo")  # PyTorch's order.
control = partial(cell, order="figo")  # Control: the input gate and the forget gate are exchanged.

CLAIM = Claim(
    id="lstm",
    question="What does an LSTM cell compute, and when does its gradient vanish?",
    equation=r"c' = \sigma(f) \odot c + \sigma(i) \odot \tanh(g), \quad h' = \sigma(o) \odot \tanh(c')",
    axes=("state, cell, then gradient of each unit", "value; derivative"),
    source=Source("derived"),
    premises=(Premise("the gates come in the order input, forget, candidate, output"),),
    parameters={"units": 5},
    judge=equals(rounding=1e4),
)
