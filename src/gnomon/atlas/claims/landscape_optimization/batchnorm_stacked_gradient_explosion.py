"""In deep ReLU networks with batch norm, squared gradients grow by the factor pi / (pi - 1) per layer at the start.

Backward through ReLU half of the squared gradient remains; the weights (variance 1/width) keep it; and batch
normalization divides it by the variance over the batch of W relu(z), z ~ N(0, 1), which is 1/2 - 1/(2 pi):

    |g_l|^2 / |g_{l+1}|^2 -> (1/2) / (1/2 - 1/(2 pi)) = pi / (pi - 1) = 1.467                            (1)

for large width and batch, with g_l the gradient at layer l. Reference: [yang2019mean].
"""

import math
from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted():
    """Returns log(pi / (pi - 1)), the predicted growth of log squared gradients per layer."""
    return math.log(math.pi / (math.pi - 1))


def growth(normalize, depth, width, batch, nets):
    """Returns the measured growth of log squared gradients per layer, over the layers after the first five."""
    rows = []
    for _ in range(nets):
        h, values = torch.randn(batch, width), []
        for _ in range(depth):
            z = h @ torch.randn(width, width) / (width / 2) ** 0.5
            z = (z - z.mean(0)) / z.std(0, correction=0) if normalize else z
            values.append(z.requires_grad_() if not z.requires_grad else z)
            h = torch.relu(z)
        g = torch.autograd.grad((h * torch.randn(batch, width)).sum(), values)
        sizes = torch.stack([v.square().sum() for v in g]).log()
        rows.append(float(sizes[5] - sizes[-1]) / (depth - 6))
    return rows


observed = partial(growth, normalize=True)  # With normalization.
control = partial(growth, normalize=False)  # Control: without normalization, weights of variance 2/width keep the size.

CLAIM = Claim(
    id="batchnorm-stacked-gradient-explosion",
    question="Why can deep networks with batch normalization have exploding gradients?",
    equation=r"\|g_\ell\|^2 / \|g_{\ell+1}\|^2 \to \pi / (\pi - 1) \approx 1.467",
    axes=("network", "growth of log |gradient|^2 per layer"),
    source=Source("theorem", "yang2019mean"),
    premises=(
        Premise("every layer is normalized over the batch"),
        Premise("the layers are wide", lambda width: width >= 128),
    ),
    parameters={"depth": 20, "width": 128, "batch": 128, "nets": 8},
    full={"depth": 40, "width": 512, "batch": 256, "nets": 8},
    judge=mean_equals(
        confidence=0.9999, resolution=0.2, within=0.1, because="finite batch and width: corrections of order 1 / 128"
    ),
)
