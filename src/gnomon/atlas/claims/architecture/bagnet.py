"""The logits of a bag of patches are the mean of the evidence of its patches, and do not see where those are.

    f(x) = (1 / P) sum_p g(patch p)                                                                           (1)

Reference: [brendel2019approximating].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.vision import BagOfPatches


def problem(patch, side, seed):
    """A bag, and two images."""
    torch.manual_seed(seed)
    x = torch.randn(2, 1, side, side, generator=torch.Generator().manual_seed(seed)).double()
    return BagOfPatches(patch=patch, width=8).double(), x


def predicted(patch, side, seed):
    """The mean of (1), patch by patch; the same again for images whose halves are exchanged."""
    bag, x = problem(patch, side, seed)
    corners = range(0, side, patch)
    with torch.no_grad():
        said = [bag.body(x[:, 0, i : i + patch, j : j + patch].flatten(1)) for i in corners for j in corners]
    mean = sum(said) / len(said)
    return torch.cat([mean, mean])


def outputs(net, x, side):
    """For the images, and for their halves exchanged."""
    with torch.no_grad():
        return torch.cat([net(x), net(x.roll(side // 2, 2))])


def observed(patch, side, seed):
    """The bag's own outputs."""
    return outputs(*problem(patch, side, seed), side)


def control(patch, side, seed):
    """Every patch is seen together with its place."""
    bag, x = problem(patch, side, seed)
    place = torch.linspace(-1, 1, side, dtype=x.dtype)[:, None].expand(side, side)
    return outputs(lambda z: bag(z + place), x, side)


CLAIM = Claim(
    id="bagnet",
    title="A bag of patches is the mean of what its patches say, in any order",
    equation=r"f(x) = \frac1P \sum_p g(\mathrm{patch}_p)",
    source=Source("theorem", "brendel2019approximating"),
    premises=(Premise("patches are seen alone"),),
    parameters={"patch": 2, "side": 8},
    covers=("bagnet-evidence-map",),
    judge=equals(rounding=1000),  # means of some dozen outputs of sums of 8 terms
)
