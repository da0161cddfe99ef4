"""The logits of a bag of patches are the mean of the evidence of its patches, and do not see where those are.

    f(x) = (1 / P) sum_p g(patch p)                                                                           (1)

Reference: [brendel2019approximating].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import BagOfPatches, VisionTransformer

BAG = "patches are seen alone"


def predicted():
    """No difference under exchanged halves of the image."""
    return 0.0


def difference(net, side, seed):
    """Between the outputs for an image, and for its halves exchanged."""
    x = torch.randn(2, 1, side, side, generator=torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():
        return float((net(x) - net(x.roll(side // 2, 2))).abs().max())


def observed(patch, side, seed):
    """A bag."""
    torch.manual_seed(seed)
    return difference(BagOfPatches(patch=patch, width=8).double(), side, seed)


def control(patch, side, seed):
    """A transformer with positions."""
    torch.manual_seed(seed)
    return difference(VisionTransformer(side=side, patch=patch, width=8, heads=2, depth=1).double(), side, seed)


CLAIM = Claim(
    id="bagnet",
    title="A bag of patches is the mean of what its patches say, in any order",
    equation=r"f(x) = \frac1P \sum_p g(\mathrm{patch}_p)",
    source=Source("theorem", "brendel2019approximating"),
    premises=(Premise(BAG),),
    breaks=BAG,
    parameters={"patch": 2, "side": 8},
    judge=equals(within=1e-12, because="sums in another order"),
    predicted=predicted,
    observed=observed,
    control=control,
)
