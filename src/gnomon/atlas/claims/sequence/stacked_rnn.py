"""In a stacked recurrent network, the second layer reads the first layer's state of the same time step.

    z_{t,l} = tanh(U_l z_{t-1,l} + V_l z_{t,l-1}),    z_{t,0} = x_t                                           (1)

x_t is the input, z_{t,l} the state of layer l at time t, U_l and V_l its matrices. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(seed):
    """Returns two stacked recurrent layers of PyTorch in float64."""
    torch.manual_seed(seed)
    return torch.nn.RNN(3, 4, num_layers=2, bias=False, batch_first=True).double()


def inputs(times, seed):
    """Returns a random input sequence for the recurrent layers."""
    return np.random.default_rng(seed).normal(size=(times, 3))


def states(lag, times, seed):
    """Returns the second layer's states; it reads the first layer with a delay of ``lag`` steps."""
    layer = net(seed)
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    low, high, below = np.zeros(4), np.zeros(4), [np.zeros(4)] * lag
    found = []
    for x in inputs(times, seed):
        low = np.tanh(w["weight_hh_l0"] @ low + w["weight_ih_l0"] @ x)
        below.append(low)
        high = np.tanh(w["weight_hh_l1"] @ high + w["weight_ih_l1"] @ below[-1 - lag])
        found.append(high)
    return np.array(found)


def predicted(times, seed):
    """Returns the states of the second layer that PyTorch computes."""
    with torch.no_grad():
        return net(seed)(torch.from_numpy(inputs(times, seed))[None])[0][0].numpy()


observed = partial(states, lag=0)  # Layer 2 reads layer 1's states of the same time step.
control = partial(states, lag=1)  # Control: layer 2 reads layer 1's states of the time step before.

CLAIM = Claim(
    id="stacked-rnn",
    question="What do stacked recurrent layers read?",
    equation=r"z_{t,l} = \tanh(U_l z_{t-1,l} + V_l z_{t,l-1})",
    axes=("unit at each time", "state of the second layer"),
    source=Source("definition", "pascanu2013difficulty"),
    premises=(Premise("a layer reads the states of the layer below at the same time"),),
    parameters={"times": 9},
    judge=equals(rounding=1e4),
)
