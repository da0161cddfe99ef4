"""Gradient descent on a content and a style loss copies the feature covariances of one image to another.

    argmin_x |f(x) - f(a)|^2 + weight |C(f(b)) - C(f(x))|_F^2:    the style loss falls below 5 % of its start  (1)

f are features of a network, C their covariance, a the content image, b the style image, x the result.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import style_transfer
from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(size, seed):
    """Returns a random convolutional network, a smooth content image and a rough style image."""
    torch.manual_seed(seed)
    coarse = torch.randn(1, 1, size // 4, size // 4)
    smooth = nn.functional.interpolate(coarse, scale_factor=4, mode="bilinear")
    return nn.Sequential(nn.Conv2d(1, 8, 5), nn.Tanh()), smooth, torch.randn(1, 1, size, size)


def predicted():
    """Returns 0.05, the upper bound on the remaining share of the style loss."""
    return 0.05


def remaining_style_loss(size, steps, seed, weight):
    """Returns the final style loss divided by the initial one."""
    net, content, style = problem(size, seed)
    moved = style_transfer(net, content, style, layers=["0"], weight=weight, iterations=steps, lr=0.1)
    return moved.style[-1] / moved.style[0]


observed = partial(remaining_style_loss, weight=1e3)  # The style loss has a large weight in the total loss.
control = partial(remaining_style_loss, weight=0.0)  # Control: the style loss has weight zero, so style is not copied.

CLAIM = Claim(
    id="style-transfer",
    question="How does style transfer copy a texture?",
    equation=r"\arg\min_{\tilde x}\|\Phi x - \Phi\tilde x\|^2 + \lambda\|C(\Phi y) - C(\Phi\tilde x)\|^2",
    axes=("one pair of images", "final style loss / initial style loss"),
    source=Source("observed", "gatys2016image"),
    premises=(
        Premise("the style has a weight in the loss"),
        Premise("the images are textures"),
        Premise("descent takes 50 steps or more", lambda steps: steps >= 50),
    ),
    grid={"steps": (20, 60, 80, 120, 240)},
    parameters={"size": 16, "steps": 80},
    full={"size": 32, "steps": 500},
    judge=bounded_by("above"),
    loose_because="no theory gives the final loss. 5 % counts as copied; the measured loss is about 0.05 %.",
)
