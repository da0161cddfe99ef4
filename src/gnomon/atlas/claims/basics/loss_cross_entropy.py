"""Cross-entropy of scores is the negative log-likelihood of a categorical law; its gradient is softmax minus label.

l(z, y) = -z_y + log sum_v e^{z_v},    dl / dz = softmax(z) - e_y                                    (1)
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, classes, seed):
    """Scores and labels."""
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(n, classes)), rng.integers(classes, size=n)


def predicted(n, classes, seed):
    """The probabilities of a categorical law give the losses and, less the labels, the gradients; (1)."""
    z, y = problem(n, classes, seed)
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    return np.hstack([-np.log(p[np.arange(n), y])[:, None], p - np.eye(classes)[y]])


def measured(n, classes, seed, before):
    """Torch's loss for each point and its gradient by automatic differentiation."""
    z, y = (torch.from_numpy(v) for v in problem(n, classes, seed))
    z.requires_grad_()
    losses = functional.cross_entropy(before(z), y, reduction="none")
    return torch.cat([losses[:, None], torch.autograd.grad(losses.sum(), z)[0]], 1)


observed = partial(measured, before=lambda z: z)  # Scores go into the loss.
# A softmax is taken before the loss, which takes it again: a common mistake.
control = partial(measured, before=lambda z: z.softmax(1))

CLAIM = Claim(
    id="loss-cross-entropy",
    title="Cross-entropy is the negative log-likelihood of a categorical law, with gradient softmax minus label",
    equation=r"\ell(z, y) = -z_y + \log \sum_v e^{z_v}, \quad \nabla_z \ell = \mathrm{softmax}(z) - e_y",
    source=Source("derived"),
    premises=(Premise("the loss is given scores, not probabilities"),),
    parameters={"n": 50, "classes": 7},
    full={"n": 5000, "classes": 100},
    judge=equals(rounding=100),
    remark="Lecture notes print the average of binary cross-entropies over the outputs, often without its brackets.",
)
