"""Wide random networks with a trained last layer have the mean and variance of the limiting posterior.

With the infinite-width kernel k, K on the data and no noise, the posterior of f at x has

    mean  k(x)^T K^-1 y,      variance  k(x, x) - k(x)^T K^-1 k(x)                                           (1)

A network f_0 from the prior, moved to the nearest last layer that fits y, is f_0(x) + k(x)^T K^-1 (y - f_0), which has
this mean and variance. Networks with m and m/2 units have errors c/m and 2c/m, so twice the first minus the second has
error O(1/m^2). Reference: [lee2018deep]; [rasmussen2006gaussian], equation 2.19.
"""

from functools import partial

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(n, seed):
    """Returns n Gaussian points in six dimensions, labels, and two test points."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=g).double() for shape in ((n, 6), (n,), (2, 6))]


def predicted(n, seed):
    """Returns the posterior mean and mean square of the network output f at the test points."""
    x, y, test = inputs(n, seed)
    net = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 1))
    kernel = limit(net, init=InitializationLaw(2**0.5), parametrization="ntk").nngp
    weights = torch.linalg.solve(kernel(x), kernel(x, test))
    mean = y @ weights
    return torch.cat((mean, mean**2 + (kernel(test) - kernel(test, x) @ weights).diagonal()))


def fit_last_layer(n, nets, width, seed, start):
    """Returns outputs f and f^2 at the test points after the smallest change of the last layer that fits the data."""
    x, y, test = inputs(n, seed)
    h = torch.relu(torch.cat((x, test)) @ torch.randn(nets, 6, width).double() / 3**0.5) * (2 / width) ** 0.5
    v = start * torch.randn(nets, width, 1).double()
    v = v + torch.linalg.pinv(h[:, :n]) @ (y[:, None] - h[:, :n] @ v)
    f = (h[:, n:] @ v)[..., 0]
    return torch.cat((f, f**2), 1)


def extrapolate_width(n, nets, width, seed, start):
    """Returns an extrapolation to infinite width: twice the values minus the values at half the width."""
    return 2 * fit_last_layer(n, nets, width, seed, start) - fit_last_layer(n, nets, width // 2, seed, start)


observed = partial(extrapolate_width, start=1.0)  # Each last layer starts at random weights from its prior.
control = partial(extrapolate_width, start=0.0)  # Control: the last layer starts at zero, so outputs do not vary.

CLAIM = Claim(
    id="nngp-regression",
    question="What do wide networks with a trained last layer sample from?",
    equation=r"f | y \sim N(k^T K^{-1} y, \; k(x,x) - k^T K^{-1} k)",
    axes=("test point (mean, then mean square)", "output; squared output"),
    source=Source("theorem", "lee2018deep", "Section 2.4"),
    premises=(Premise("the last layer starts at a draw from its prior"), Premise("the hidden layer is wide")),
    parameters={"n": 4, "nets": 6000, "width": 120},
    full={"n": 8, "nets": 8000, "width": 400},
    judge=mean_equals(confidence=0.9995, resolution=0.2),
)
