"""The cell of an LSTM keeps its past times the forget gate, and adds a candidate times the input gate.

    c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c'),   dc'/dc = diag(sigmoid(f)) directly  (1)

Which gate forgets is often printed the other way round.
Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(units, seed):
    """A cell of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.LSTMCell(3, units).double()


def inputs(units, seed):
    """An input, a state and a cell."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), rng.normal(size=units), rng.normal(size=units)


def predicted(units, seed):
    """PyTorch's own cell."""
    x, h, c = (torch.from_numpy(a)[None] for a in inputs(units, seed))
    with torch.no_grad():
        return torch.cat(net(units, seed)(x, (h, c)), 1)[0].numpy()


def cell(order, units, seed):
    """Equation (1) with the gates in some order."""
    layer, (x, h, c) = net(units, seed), inputs(units, seed)
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    gates = w["weight_ih"] @ x + w["bias_ih"] + w["weight_hh"] @ h + w["bias_hh"]
    found = dict(zip(order, gates.reshape(4, units), strict=True))
    squash = {name: 1 / (1 + np.exp(-value)) for name, value in found.items()}
    new = squash["f"] * c + squash["i"] * np.tanh(found["g"])
    return np.concatenate([squash["o"] * np.tanh(new), new])


observed = partial(cell, order="ifgo")  # PyTorch's order.
control = partial(cell, order="figo")  # Input and forget gate exchanged.

CLAIM = Claim(
    id="lstm",
    title="The cell of an LSTM is its forget gate times its past plus its input gate times a candidate",
    equation=r"c' = \sigma(f) \odot c + \sigma(i) \odot \tanh(g), \quad h' = \sigma(o) \odot \tanh(c')",
    source=Source("derived"),
    premises=(Premise("the gates come in the order input, forget, candidate, output"),),
    parameters={"units": 5},
    judge=equals(rounding=1e4),
)
