"""Rotations and translations of the plane form a group; in a product, a rotation turns the next translation.

    (u, a)(v, b) = (u + r_a v, a + b),    (u, a)^-1 = (-r_{-a} u, -a)                                              (1)

(u, a) is a rotation by a followed by a translation by u, r_a the rotation matrix. Reference: [cohen2016group].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def product(g, h, turns):
    """Returns the product g h of two motions; without ``turns``, their translations are simply added."""
    (u, a), (v, b) = g, h
    r = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) if turns else np.eye(2)
    return u + r @ v, a + b


def inverse(g):
    """Returns the inverse of a motion g, a rotation followed by a translation."""
    u, a = g
    r = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    return -r @ u, -a


def deviations(turns, seed):
    """Returns deviations from associativity, from the inverse, and from moving points one motion after the other."""
    rng = np.random.default_rng(seed)
    g, h, k = [(rng.normal(size=2), rng.uniform(0, 6)) for _ in range(3)]
    x = rng.normal(size=2)

    def move(e, p):
        return e[0] + np.array([[np.cos(e[1]), -np.sin(e[1])], [np.sin(e[1]), np.cos(e[1])]]) @ p

    one = product(product(g, h, turns), k, turns)[0] - product(g, product(h, k, turns), turns)[0]
    two = product(g, inverse(g), turns)[0]
    three = move(product(g, h, turns), x) - move(g, move(h, x))
    return [float(np.abs(v).max()) for v in (one, two, three)]


def predicted():
    """Returns 0 three times, the deviations from the three properties of a group action."""
    return [0.0, 0.0, 0.0]


observed = partial(deviations, turns=True)  # In the product, the first rotation also rotates the second translation.
control = partial(deviations, turns=False)  # Control: translations are added without rotating the second one.

CLAIM = Claim(
    id="roto-translation-group",
    question="How do rotations and translations combine?",
    equation=r"(u,\theta)(\tilde u,\tilde\theta) = (u + r_\theta \tilde u, \theta + \tilde\theta)",
    axes=("associativity, inverse, action on points", "deviation"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("the first rotation turns the second translation"),),
    judge=equals(within=1e-12, because="a few products of numbers of size 1"),
)
