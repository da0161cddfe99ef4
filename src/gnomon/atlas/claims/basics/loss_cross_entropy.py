"""Cross-entropy is the negative log-likelihood of a class; its gradient is softmax minus the one-hot label.

    l(z, y) = -z_y + log sum_v e^{z_v},    dl / dz = softmax(z) - e_y                                    (1)

z are the scores (logits), y is the label, and e_y its one-hot vector.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, classes, seed):
    """Returns random scores (logits) and random class labels."""
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(n, classes)), rng.integers(classes, size=n)


def predicted(n, classes, seed):
    """Returns the cross-entropy of each point and its gradient, softmax minus label, by the formulas."""
    z, y = problem(n, classes, seed)
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    return np.hstack([-np.log(p[np.arange(n), y])[:, None], p - np.eye(classes)[y]])


def losses_and_gradients(n, classes, seed, before):
    """Returns torch's cross-entropy of each point and its gradient, by automatic differentiation."""
    z, y = (torch.from_numpy(v) for v in problem(n, classes, seed))
    z.requires_grad_()
    losses = functional.cross_entropy(before(z), y, reduction="none")
    return torch.cat([losses[:, None], torch.autograd.grad(losses.sum(), z)[0]], 1)


observed = partial(losses_and_gradients, before=lambda z: z)  # The loss receives logits, as torch expects.
control = partial(losses_and_gradients, before=lambda z: z.softmax(1))  # Control: softmax before the loss, a usual bug.

CLAIM = Claim(
    id="loss-cross-entropy",
    question="What is the gradient of the cross-entropy loss?",
    equation=r"\ell(z, y) = -z_y + \log \sum_v e^{z_v}, \quad \nabla_z \ell = \mathrm{softmax}(z) - e_y",
    axes=("loss and gradient entries of each point", "loss; derivative"),
    source=Source("derived"),
    premises=(Premise("the loss gets scores, not probabilities"),),
    parameters={"n": 50, "classes": 7},
    full={"n": 5000, "classes": 100},
    judge=equals(rounding=100),
    remark="Lecture notes print the average of binary cross-entropies over the outputs, often without its brackets.",
)
