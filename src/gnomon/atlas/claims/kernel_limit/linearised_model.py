"""Near its initial weights, a network equals its linearization up to an error of second order in the distance.

With w = w0 + s u and |u| = 1, Taylor's theorem in s gives

    |f(w, x) - f(w0, x) - s J(w0, x) u| = s^2 |D^2 f[u, u]| / 2 + O(s^3)                                    (1)

J is the Jacobian and D^2 f the second derivative, so the error falls with the square of the distance s.
Reference: [lee2019wide].
"""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.atlas.check.kernel import check_linearization
from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.tangent import linearize


def predicted():
    """Returns 2, the exponent of the weights' distance in the error of the linearized network."""
    return 2.0


@torch.no_grad()
def errors(net, repetitions, distances):
    """Returns the linearization's error at several distances along a random direction, for each repetition."""
    tangent, start, x = linearize(net), parameters_to_vector(net.parameters()).detach(), torch.randn(20, 3).double()
    rows = []
    for _ in range(repetitions):
        u = torch.randn_like(start)
        for s in distances:
            for model in (net, tangent):
                vector_to_parameters(start + s * u / u.norm(), model.parameters())
            rows.append(float((net(x) - tangent(x)).norm()))
    return distances, torch.tensor(rows).reshape(repetitions, -1)


def observed(width, repetitions, distances):
    """Returns the linearization's errors for a tanh network, which is smooth."""
    net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1)).double()
    return errors(net, repetitions, distances)


def control(width, repetitions, distances):
    """Returns the linearization's errors at the kink of a ReLU network, at which they are of first order."""
    net = nn.Sequential(nn.Linear(3, width, bias=False), nn.ReLU(), nn.Linear(width, 1)).double()
    nn.init.zeros_(net[0].weight)
    return errors(net, repetitions, distances)


CLAIM = Claim(
    id="linearised-model",
    question="How good is the tangent model near the initial weights?",
    equation=r"\|f(w_0 + s u) - f_{lin}(w_0 + s u)\| \propto s^2",
    axes=("distance s from the initial weights", "error of the tangent model"),
    source=Source("theorem", "lee2019wide", "Section 2"),
    premises=(Premise("the network is twice differentiable at its starting parameters"), Premise("steps are small")),
    parameters={"width": 64, "repetitions": 8, "distances": (0.0125, 0.025, 0.05, 0.1)},
    full={"width": 512, "repetitions": 30},
    judge=rate_is(confidence=0.99, next_order=1.0, label="s"),
    check=check_linearization,
)
