"""A function on a space with a group action lifts to the group and is constant on the stabilizer's cosets.

    f^(g) = f(g x_0),    f^(g h) = f^(g) for h that fix x_0,    |G| = |X| |H|                                       (1)

G is the group acting on the space X, x_0 the base point, H the elements that fix x_0, f^ the lift of f.
Reference: [kondor2018generalization].
"""

from functools import partial
from itertools import permutations

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def lift(points, seed):
    """Returns all permutations of some points, a function on the points, and its lift at base point 0."""
    f = np.random.default_rng(seed).normal(size=points)
    group = list(permutations(range(points)))
    return group, f, {g: f[g[0]] for g in group}


def predicted(points):
    """Returns 0, the lift's change on cosets, and the number of points, (group size) / (stabilizer size)."""
    return [0.0, float(points)]


def change(points, seed, right):
    """Returns how much the lifted function changes within cosets, then (group size) / (stabilizer size)."""
    group, _, values = lift(points, seed)
    fixing = [h for h in group if h[0] == 0]
    products = [(g, tuple(g[i] for i in h) if right else tuple(h[i] for i in g)) for g in group for h in fixing]
    return [max(abs(values[g] - values[gh]) for g, gh in products), len(group) / len(fixing)]


observed = partial(change, right=True)  # Group products are g h: first h acts, then g.
control = partial(change, right=False)  # Control: products h g, in which g acts first, belong to other cosets.

CLAIM = Claim(
    id="group-lifting-homogeneous-space",
    question="How does a function on a space become a function on a group?",
    equation=r"f^\uparrow(gh) = f^\uparrow(g), \quad |G| = |X||H|",
    axes=("change on cosets, then |G| / |H|", "change; ratio"),
    source=Source("theorem", "kondor2018generalization"),
    premises=(Premise("elements are multiplied on the right by elements that fix the base point"),),
    parameters={"points": 4},
    judge=equals(rounding=0),
)
