"""With open forget gates, gradients reach further back in time through an LSTM than through an Elman network.

    s(lag) = |dy_T / dx_{T-lag}| ~ exp(-lag / length):   length of the Elman network < length of the LSTM     (1)

y_T is the final output, x the input. An Elman network has length <= -1 / log(alpha |U|) with slope alpha and matrix U,
an LSTM about -1 / log sigmoid(b) with forget-gate bias b. Reference: [hochreiter1997long], [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order
from gnomon.sequences import memory_length


def predicted():
    """Returns the names of the networks, the one with the slower decay first."""
    return ("LSTM", "Elman")


class Last(nn.Module):
    """Runs a recurrent layer and keeps only its states, without the tuple that torch returns."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        """Maps inputs (n, times, features) to states (n, units)."""
        return self.cell(x)[0][:, -1]


def decay_rates(bias, times, units, repeats, seed):
    """Returns the fitted decay rate 1 / length of both networks' gradients; 0 if they do not decay."""
    found = {"LSTM": [], "Elman": []}
    for i in range(repeats):
        torch.manual_seed(seed + i)
        x = torch.randn(8, times, 3)
        elman, lstm = nn.RNN(3, units, batch_first=True), nn.LSTM(3, units, batch_first=True)
        lstm.bias_ih_l0.data[units : 2 * units] = bias
        found["Elman"].append(1 / memory_length(Last(elman), x).length)
        found["LSTM"].append(1 / memory_length(Last(lstm), x).length)
    return {name: np.array(values) for name, values in found.items()}


observed = partial(decay_rates, bias=4.0)  # Bias 4 opens the forget gates to sigmoid(4) = 0.98.
control = partial(decay_rates, bias=-4.0)  # Control: bias -4 closes the forget gates to sigmoid(-4) = 0.02.

CLAIM = Claim(
    id="lstm-long-memory",
    question="Why do LSTMs remember longer than simple recurrent networks?",
    equation=r"|\partial y_T / \partial x_{T-\ell}| \sim e^{-\ell / \text{length}}",
    axes=("network", "decay rate of the gradient per step"),
    source=Source("derived", "hochreiter1997long"),
    premises=(Premise("the forget gates are open"),),
    parameters={"times": 40, "units": 16, "repeats": 5},
    full={"times": 100, "units": 64, "repeats": 10},
    judge=in_order(),
    remark="At the start of training: what a gradient does not reach cannot be learned.",
)
