"""A planar flow z + u tanh(w.z + b) has the determinant 1 + (slope of tanh) u.w.

    f(z) = z + u tanh(w.z + b):    det df/dz = 1 + (1 - tanh^2(w.z + b)) u.w     (1)

z is the input, and u, w, b are the parameters of the map f.
"""

from functools import partial

import torch

from gnomon.generative.flows.planar import PlanarTransform
from gnomon.lab import Claim, Premise, Source, equals


def problem(d, n, seed):
    """Returns a random planar map and random points."""
    torch.manual_seed(seed)
    return PlanarTransform(d).double(), torch.randn(n, d, dtype=torch.float64)


def predicted(d, n, seed):
    """Returns the log determinant that gnomon's planar map computes, for each point."""
    layer, z = problem(d, n, seed)
    return layer(z)[1].detach()


def determinants(d, n, seed, h):
    """Returns log determinants of Jacobians by automatic differentiation, with activation h, for each point."""
    layer, z = problem(d, n, seed)
    u = layer.direction.detach()

    def f(point):
        return point + u * h(point @ layer.w + layer.b)

    return torch.linalg.slogdet(torch.stack([torch.autograd.functional.jacobian(f, p) for p in z]))[1]


observed = partial(determinants, h=torch.tanh)  # The planar map is z + u tanh(w.z + b).
control = partial(determinants, h=torch.sin)  # Control: the planar map uses the sine instead of tanh.

CLAIM = Claim(
    id="planar-flow",
    question="What is the determinant of a planar flow?",
    equation=r"\det\frac{\partial f}{\partial z} = 1 + h'(w^\top z + b)\,u^\top w",
    axes=("point", "log determinant"),
    source=Source("theorem", "rezende2015variational", "equation 11"),
    premises=(Premise("h is tanh, with the derivative 1 - tanh^2"), Premise("u.w >= -1, so the map is invertible")),
    parameters={"d": 5, "n": 6},
    full={"d": 50, "n": 50},
    judge=equals(rounding=1e4),
)
