"""Without position embeddings, a vision transformer gives the same output if the image patches are permuted.

    y = head(encoder([cls, E p_1, ..., E p_T] + P)[0]):   y(p_s(1), ..., p_s(T)) = y(p_1, ..., p_T) for P = 0  (1)

p_t are the patches, E their embedding, P the table of positions, s a permutation, y the output. A convolutional network
has neighborhoods built in; a vision transformer must learn them, which takes more images.
Reference: [dosovitskiy2021image].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import VisionTransformer


def net(places, seed):
    """Returns a random network for 8 x 8 images, with its table of positions times ``places``."""
    torch.manual_seed(seed)
    made = VisionTransformer(side=8, patch=2, width=16, heads=2, depth=2).double().eval()
    made.positions.data = places * torch.randn(made.positions.shape, dtype=torch.float64)
    return made


def inputs(seed):
    """Returns three random images as inputs of the network."""
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(3, 1, 8, 8)))


def predicted(seed):
    """Returns the network's outputs for the images, without position embeddings."""
    with torch.no_grad():
        return net(0.0, seed)(inputs(seed)).numpy()


def outputs_for_permuted_patches(places, seed):
    """Returns the network's outputs for images with permuted patches."""
    x = inputs(seed).numpy().reshape(3, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(3, 16, 2, 2)
    x = x[:, np.random.default_rng(seed + 1).permutation(16)]
    x = x.reshape(3, 4, 4, 2, 2).transpose(0, 1, 3, 2, 4).reshape(3, 1, 8, 8)
    with torch.no_grad():
        return net(places, seed)(torch.from_numpy(np.ascontiguousarray(x))).numpy()


observed = partial(outputs_for_permuted_patches, places=0.0)  # Without positions.
control = partial(outputs_for_permuted_patches, places=1.0)  # With positions.

CLAIM = Claim(
    id="vision-transformer",
    question="What does a vision transformer know about where its patches are?",
    equation=r"y(p_{\sigma(1)}, \dots, p_{\sigma(T)}) = y(p_1, \dots, p_T) \text{ for } P = 0",
    axes=("logit, for three images", "logit"),
    source=Source("derived", "dosovitskiy2021image"),
    premises=(Premise("the table of positions is zero"),),
    judge=equals(rounding=1e4),
)
