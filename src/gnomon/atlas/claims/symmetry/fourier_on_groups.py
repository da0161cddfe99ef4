"""The Fourier transform on a finite group turns convolution into products of matrices.

    sum_rho d_rho^2 = |G|,    F(f * h) = F(f) F(h)                                                                 (1)

rho are the irreducible representations of the group G, d_rho their dimensions, f and h functions on G.
Reference: [diaconis1988group].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry.finite import group_convolution, group_fourier_transform, irreps, symmetric_group


def problem(seed):
    """Returns the permutation group S_3, its representations, and two random functions on it."""
    group = symmetric_group(3)
    f, h = torch.randn(2, 6, generator=torch.Generator().manual_seed(seed)).double()
    return group, irreps(group), f, h


def predicted():
    """Returns 0, the difference of transform and products, and 6, the sum of squared dimensions."""
    return [0.0, 6.0]


def difference(seed, swapped):
    """Returns the largest difference of the transform of f * h to the products, then the squared dimensions' sum."""
    group, rho, f, h = problem(seed)
    made = group_fourier_transform(group_convolution(f, h, group), rho)
    pairs = zip(group_fourier_transform(f, rho), group_fourier_transform(h, rho), strict=True)
    products = [b @ a if swapped else a @ b for a, b in pairs]
    worst = max(float((a - b).abs().max()) for a, b in zip(made, products, strict=True))
    return [worst, float(sum(r.shape[1] ** 2 for r in rho))]


observed = partial(difference, swapped=False)  # The product of both transforms has the order F(f) F(h).
control = partial(difference, swapped=True)  # Control: the order F(h) F(f) differs, as S_3 is not commutative.

CLAIM = Claim(
    id="fourier-on-groups",
    question="What is the Fourier transform on a group?",
    equation=r"\hat{f*h}(\rho) = \hat f(\rho)\hat h(\rho), \quad \sum_\rho d_\rho^2 = |G|",
    axes=("largest difference, then sum of squared dimensions", "difference; sum"),
    source=Source("theorem", "diaconis1988group"),
    premises=(Premise("matrices are multiplied in the order of the convolution"),),
    judge=equals(within=1e-10, because="eigenvectors of a 6 x 6 matrix, products of numbers of size 1"),
)
