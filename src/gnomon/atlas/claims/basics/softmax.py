"""The softmax sums to one, does not change if all scores shift together, and has the Jacobian diag(s) - s s^T.

    s_i(z) = e^{z_i} / sum_j e^{z_j},    ds_i / dz_j = s_i (1{i = j} - s_j),    s(z + c) = s(z)          (1)

z are scores, c is any number. For z = (1.1, 2.2, 0.2, -1.7): s = (0.22364, 0.67184, 0.09092, 0.01360).
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(k, seed):
    """Returns the scores of the example, then k random scores."""
    return np.concatenate([[1.1, 2.2, 0.2, -1.7], np.random.default_rng(seed).normal(size=k)])


def predicted(k, seed):
    """Returns the softmax of the scores, the softmax of shifted scores, and its Jacobian by formula."""
    z = inputs(k, seed)
    s = np.exp(z) / np.exp(z).sum()
    return np.stack([s, s, *(np.diag(s) - np.outer(s, s))])


def values_and_jacobian(k, seed, function):
    """Returns the function's values, its values if all scores shift by 3, and its Jacobian by autograd."""
    z = torch.from_numpy(inputs(k, seed))
    return torch.cat([function(z)[None], function(z + 3)[None], torch.autograd.functional.jacobian(function, z)])


observed = partial(values_and_jacobian, function=lambda z: z.softmax(0))  # torch's softmax.
control = partial(values_and_jacobian, function=torch.sigmoid)  # Control: a sigmoid is applied to each score alone.

CLAIM = Claim(
    id="softmax",
    question="What are the basic properties of the softmax?",
    equation=r"s_i = e^{z_i} / \sum_j e^{z_j}, \quad \partial s / \partial z = \mathrm{diag}(s) - s s^T",
    axes=("score (softmax, shifted softmax, then rows of the Jacobian)", "probability; derivative"),
    source=Source("derived"),
    premises=(Premise("the outputs are divided by their sum"),),
    parameters={"k": 6},
    full={"k": 200},
    judge=equals(rounding=100),
    remark="The last number of the example rounds to 0.014; lecture notes print 0.013.",
)
