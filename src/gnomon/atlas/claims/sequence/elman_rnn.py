"""A recurrent layer applies the same function of input and state at every time step.

    z_t = tanh(U z_{t-1} + V x_t),    z_0 = 0                                                                 (1)

x_t is the input, z_t the state, U and V are matrices. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(seed):
    """Returns a recurrent layer of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.RNN(3, 5, bias=False, batch_first=True).double()


def inputs(times, seed):
    """Returns a random input sequence for the recurrent layer."""
    return np.random.default_rng(seed).normal(size=(times, 3))


def states(decay, times, seed):
    """Returns the states computed in a loop; the recurrent matrix shrinks by the factor ``decay`` at every step."""
    layer, z, found = net(seed), np.zeros(5), []
    u, v = (w.detach().numpy() for w in (layer.weight_hh_l0, layer.weight_ih_l0))
    for t, x in enumerate(inputs(times, seed)):
        z = np.tanh(decay**t * u @ z + v @ x)
        found.append(z)
    return np.array(found)


def predicted(times, seed):
    """Returns the states that PyTorch's recurrent layer computes."""
    with torch.no_grad():
        return net(seed)(torch.from_numpy(inputs(times, seed))[None])[0][0].numpy()


observed = partial(states, decay=1.0)  # All time steps have the same recurrent matrix.
control = partial(states, decay=0.9)  # Control: every time step has another recurrent matrix.

CLAIM = Claim(
    id="elman-rnn",
    question="What does a recurrent layer compute?",
    equation=r"z_t = \tanh(U z_{t-1} + V x_t)",
    axes=("unit at each time", "state"),
    source=Source("definition", "pascanu2013difficulty"),
    premises=(Premise("every step has the same matrices"),),
    parameters={"times": 12},
    judge=equals(rounding=1e4),
)
