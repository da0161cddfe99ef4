"""A linear recurrence with a nonlinear readout can approximate a nonlinear filter with fading memory.

    y_t = MLP(Re(G z_t)),   z_t = L z_{t-1} + B x_t:    R^2 >= 0.95 on a filter of second order               (1)

x_t is the input, z_t the state, y_t the output; L, B and G are matrices. A linear readout explains nothing, because
products of inputs are uncorrelated with inputs. Reference: [orvieto2023resurrecting], [boyd1985fading].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models.scan import linear_scan


def predicted():
    """Returns 0.95, the lower bound on the explained share of the variance."""
    return 0.95


def data(times, seed):
    """Returns white noise, and the target: the product of two leaky averages of this noise."""
    x = np.random.default_rng(seed).normal(size=times)
    slow, fast = np.zeros(times), np.zeros(times)
    for t in range(1, times):
        slow[t], fast[t] = 0.8 * slow[t - 1] + x[t], 0.4 * fast[t - 1] + x[t - 1]
    return x, slow * fast


def explained_share(features, times, units, seed):
    """Returns the explained variance R^2 on the second half of the data, for a readout fitted to the first half."""
    x, y = data(times, seed)
    rng = np.random.default_rng(seed + 1)
    poles = rng.uniform(0.2, 0.9, size=units) * np.exp(1j * rng.uniform(-1, 1, size=units))
    driven = torch.from_numpy(x)[None, :, None].to(torch.complex128).expand(1, times, units)
    z = linear_scan(torch.from_numpy(poles).expand_as(driven), driven)[0].numpy()
    parts = np.concatenate([z.real, z.imag], 1)
    h = features((parts - parts.mean(0)) / parts.std(0), rng)
    half = times // 2
    fit = np.linalg.lstsq(h[50:half], y[50:half], rcond=1e-8)[0]
    return 1 - np.mean((h[half:] @ fit - y[half:]) ** 2) / y[half:].var()


def hidden_features(z, rng):
    """Returns the readout's features: a constant, the states, and a hidden layer with random weights."""
    w = 0.2 * rng.normal(size=(z.shape[1], 400)) / z.shape[1] ** 0.5
    return np.concatenate([np.ones((len(z), 1)), z, np.tanh(z @ w + rng.normal(size=400))], 1)


observed = partial(explained_share, features=hidden_features)  # The readout has a hidden layer of random features.
# Control: a linear readout.
control = partial(explained_share, features=lambda z, rng: np.concatenate([np.ones((len(z), 1)), z], 1))

CLAIM = Claim(
    id="lru-universality",
    question="Can a linear recurrence model nonlinear systems?",
    equation=r"y_t = \mathrm{MLP}(\mathrm{Re}(G z_t)), \quad z_t = \Lambda z_{t-1} + B x_t",
    axes=("one filter", "explained share of the variance"),
    source=Source("theorem", "orvieto2023resurrecting"),
    premises=(Premise("the readout is nonlinear"),),
    parameters={"times": 6000, "units": 8},
    full={"times": 40000, "units": 16},
    judge=bounded_by("below"),
)
