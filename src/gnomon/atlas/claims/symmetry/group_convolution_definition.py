"""On a finite group, translating the first argument of a convolution from the left translates the result.

    (f * h)(u) = sum_v f(u v^-1) h(v),    (L_u f) * h = L_u (f * h)                                               (1)

f and h are functions on the group, L_u the translation by u. Reference: [diaconis1988group].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry.finite import cyclic_group, dihedral_group, group_convolution, symmetric_group

GROUPS = (cyclic_group(7), dihedral_group(4), symmetric_group(3))


def predicted():
    """Returns 0, the difference between translating before and after the convolution, for each group."""
    return [0.0, 0.0, 0.0]


def difference(seed, second):
    """Returns the largest difference over all translations, for each group; ``second`` translates h, not f."""
    found = []
    for group in GROUPS:
        f, h = torch.randn(2, group.order, generator=torch.Generator().manual_seed(seed)).double()
        made, worst = group_convolution(f, h, group), 0.0
        for left in group.regular:
            moved = group_convolution(f, left @ h, group) if second else group_convolution(left @ f, h, group)
            worst = max(worst, float((moved - left @ made).abs().max()))
        found.append(worst)
    return found


observed = partial(difference, second=False)  # The first argument of the convolution is translated.
control = partial(difference, second=True)  # Control: the second argument is translated, which is not allowed.

CLAIM = Claim(
    id="group-convolution-definition",
    question="Does convolution on a group commute with translations?",
    equation=r"(L_u f) * h = L_u (f * h)",
    axes=("group (cyclic, dihedral, symmetric)", "largest difference"),
    source=Source("theorem", "diaconis1988group"),
    premises=(Premise("the first of the two functions is moved"),),
    judge=equals(within=1e-12, because="sums of at most 8 products of numbers of size 1"),
)
