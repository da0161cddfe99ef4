"""A gated network learns what an Elman network forgets: a sign that was given forty steps before.

    mean square error of the LSTM <= 0.2,   of the Elman network >= 0.5,   of a guess: 1                      (1)

Reference: [hochreiter1997long], [pascanu2013difficulty].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by

LONG = "the sign is given many steps before it is asked for"


def predicted():
    """The error of the LSTM, and what the Elman network has learned, one minus its error: both at most."""
    return np.array([0.2, 0.5])


def error(kind, lag, steps, seed):
    """After Adam on fresh sequences of noise whose first entry has the sign as a second feature."""
    torch.manual_seed(seed)
    cell, head = kind(2, 16, batch_first=True), nn.Linear(16, 1)
    if kind is nn.LSTM:
        cell.bias_ih_l0.data[16:32] = 4.0  # the forget gates open
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.02)
    for _ in range(steps):
        sign = torch.randint(2, (32,)).float() * 2 - 1
        x = torch.randn(32, lag + 1, 2) * torch.tensor([0.3, 0.0])
        x[:, 0, 1] = sign
        loss = (head(cell(x)[0][:, -1])[:, 0] - sign).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def both(lag, steps, seed):
    """Of both networks."""
    return np.array([error(nn.LSTM, lag, steps, seed), 1 - error(nn.RNN, lag, steps, seed)])


def observed(lag, steps, seed):
    """Long before."""
    return both(lag, steps, seed)


def control(steps, seed):
    """Two steps before."""
    return both(2, steps, seed)


CLAIM = Claim(
    id="lstm-long-memory",
    title="A gated network learns a sign of forty steps before, an Elman network does not",
    equation=r"\mathrm{mse}_{LSTM} \le 0.2, \quad \mathrm{mse}_{Elman} \ge 0.5",
    source=Source("observed", "hochreiter1997long"),
    premises=(Premise(LONG, lambda lag: lag >= 30),),
    breaks=LONG,
    parameters={"lag": 40, "steps": 120},
    full={"lag": 100, "steps": 400},
    judge=bounded_by(),
    predicted=predicted,
    observed=observed,
    control=control,
)
