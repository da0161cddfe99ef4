"""A bag-of-patches network returns the mean of the logits of all patches, wherever the patches are.

    f(x) = (1 / P) sum_p g(patch p)                                                                           (1)

f(x) are the logits of image x, P is the number of patches, and g is the network applied to one patch. Shifting the
image by a whole number of patches does not change f. Reference: [brendel2019approximating].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.vision import BagOfPatches


def problem(patch, side, seed):
    """Returns a random bag-of-patches network and two random images."""
    torch.manual_seed(seed)
    x = torch.randn(2, 1, side, side, generator=torch.Generator().manual_seed(seed)).double()
    return BagOfPatches(patch=patch, width=8).double(), x


def predicted(patch, side, seed):
    """Returns the mean of the patch logits, for each image and for each image with its halves exchanged."""
    bag, x = problem(patch, side, seed)
    corners = range(0, side, patch)
    with torch.no_grad():
        patch_logits = [bag.body(x[:, 0, i : i + patch, j : j + patch].flatten(1)) for i in corners for j in corners]
    mean = sum(patch_logits) / len(patch_logits)
    return torch.cat([mean, mean])


def outputs(net, x, side):
    """Returns the network's logits of each image, and of each image with its upper and lower half exchanged."""
    with torch.no_grad():
        return torch.cat([net(x), net(x.roll(side // 2, 2))])


def observed(patch, side, seed):
    """Returns the logits that the bag-of-patches network computes."""
    return outputs(*problem(patch, side, seed), side)


def control(patch, side, seed):
    """Returns the logits if each pixel also gets its vertical position, so that exchanging the halves changes them."""
    bag, x = problem(patch, side, seed)
    place = torch.linspace(-1, 1, side, dtype=x.dtype)[:, None].expand(side, side)
    return outputs(lambda z: bag(z + place), x, side)


CLAIM = Claim(
    id="bagnet",
    question="What does a network that looks at image patches one by one compute?",
    equation=r"f(x) = \frac1P \sum_p g(\mathrm{patch}_p)",
    axes=("logit, for two images and their shifted copies", "logit"),
    source=Source("definition", "brendel2019approximating"),
    premises=(Premise("each patch is processed without its position"),),
    parameters={"patch": 2, "side": 8},
    covers=("bagnet-evidence-map",),
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: averages of 16 patches, each a sum of 8 terms
)
