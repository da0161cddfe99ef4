"""In a trained network classes contract with depth: the spread within classes over that between falls layer by layer.

tr(S_within) / tr(S_between) decreases from each ReLU to the next                                        (1)
"""

import torch
from torch import nn

from gnomon.attribution import layer_probe
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, ordered

TRAINED = "the network is trained"


def predicted():
    """The layers from the smallest ratio to the largest: the deepest first."""
    return ("third", "second", "first")


def measure(n, steps, seed, draws):
    """The ratio after each of three convolutions, for several networks."""
    split = digits(n, 300, seed=seed)
    found = {"first": [], "second": [], "third": []}
    for k in range(draws):
        torch.manual_seed(seed + k)
        net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
        )  # fmt: skip
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x), split.y).backward()
            optimizer.step()
        probes = layer_probe(net, (split.x_test, split.y_test), layers=("1", "3", "6")).layers[1:]
        for name, probe in zip(found, probes, strict=True):
            found[name].append(probe.fisher)
    return found


def observed(n, steps, draws, seed):
    """After training."""
    return measure(n, steps, seed, draws)


def control(n, draws, seed):
    """At initialization."""
    return measure(n, 0, seed, draws)


CLAIM = Claim(
    id="progressive-linear-separability",
    title="Classes contract and separate with depth in a trained network",
    equation=r"tr(S_W)/tr(S_B) \text{ decreases with depth}",
    source=Source("observed", "papyan2020prevalence"),
    premises=(Premise(TRAINED),),
    breaks=TRAINED,
    parameters={"n": 300, "steps": 60, "draws": 3},
    full={"n": 1000, "steps": 400, "draws": 5},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
