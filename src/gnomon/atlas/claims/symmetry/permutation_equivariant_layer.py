"""A matrix commutes with all permutations if and only if it is lambda I + gamma 1 1^T, with two parameters.

    P Theta = Theta P for all P  <=>  Theta = lambda I + gamma 1 1^T,  whose diagonal is lambda + gamma          (1)

P is a permutation, Theta the matrix. Reference: [zaheer2017deep], Lemma 3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(sizes):
    """Returns 2 for each size: the dimension of the matrices that commute with all permutations."""
    return [2.0 for _ in sizes]


def dimensions(sizes, cycles):
    """Returns the dimension of the matrices that commute with a group's generators, for each size."""
    found = []
    for m in sizes:
        eye = torch.eye(m, dtype=torch.float64)
        swap = eye[[1, 0, *range(2, m)]]
        generators = [eye.roll(1, 0)] if cycles else [eye.roll(1, 0), swap]
        rows = torch.cat([torch.kron(p, eye) - torch.kron(eye, p.T.contiguous()) for p in generators])
        found.append(float((torch.linalg.svdvals(rows) < 1e-9).sum()))
    return found


observed = partial(dimensions, cycles=False)  # All permutations, which a cyclic shift and a swap generate.
control = partial(dimensions, cycles=True)  # Control: cyclic shifts only, with which all circulant matrices commute.

CLAIM = Claim(
    id="permutation-equivariant-layer",
    question="How many parameters has a permutation equivariant linear layer?",
    equation=r"\Theta = \lambda I + \gamma 1 1^T",
    axes=("size of the set", "dimension", "sizes"),
    source=Source("theorem", "zaheer2017deep", "Lemma 3"),
    premises=(Premise("the matrix commutes with all permutations, not with some"),),
    parameters={"sizes": (3, 4, 5, 6)},
    judge=equals(rounding=0),
    remark="The diagonal is lambda + gamma; it is often printed as lambda.",
)
