"""In a trained network, classes are more compact (relative to their distance) at the last layer than at the input.

    tr(S_within) / tr(S_between):   last layer < input                                                       (1)

S_within and S_between are the covariances within and between classes.
"""

from functools import partial

import torch
from torch import nn

from gnomon.attribution import layer_probe
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the two layers, the layer with more compact classes first."""
    return ("last", "input")


def measure(n, steps, seed, draws):
    """Returns the spread within classes relative to the spread between them, for pixels and for the last ReLU layer."""
    split = digits(n, 300, seed=seed)
    found = {"input": [], "last": []}
    for k in range(draws):
        torch.manual_seed(seed + k)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x), split.y).backward()
            optimizer.step()
        probes = layer_probe(net, (split.x_test, split.y_test), layers=("4",)).layers
        for name, probe in zip(found, probes, strict=True):
            found[name].append(probe.fisher)
    return found


observed = measure  # After training.
control = partial(measure, steps=0)  # At initialization.

CLAIM = Claim(
    id="progressive-linear-separability",
    question="Do classes separate with depth?",
    equation=r"tr(S_W)/tr(S_B)\big|_{last} < tr(S_W)/tr(S_B)\big|_{input}",
    axes=("layer", "within-class / between-class variance"),
    source=Source("observed", "papyan2020prevalence"),
    premises=(Premise("the network is trained"),),
    parameters={"n": 300, "steps": 100, "draws": 5},
    full={"n": 1000, "steps": 400, "draws": 5},
    judge=in_order(),
)
