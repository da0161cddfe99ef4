"""Computes running statistics for batch norm layers that have not seen any data, from one batch.

Before its first batch the running mean is 0 and the running variance 1, so that batch norm does nothing in eval mode.
Twenty layers of small weights then pass on nothing, though in training each norm divides by the spread of the batch.
What is measured before training is therefore measured with the statistics of the examples at hand:

    running mean = mean over the batch,    running variance = variance over the batch                             (1)

layer by layer, each norm reading what the ones before it give.

Hypotheses: examples are like the training examples.
Reference: [ioffe2015batch].

>>> import torch
>>> net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).requires_grad_(False)
>>> x = 100 * torch.randn(64, 4)
>>> bool(net.eval()(x).std() > 10), bool(copy_with_batch_norm_statistics(net, x)(x).std() < 1.1)
(True, True)
"""

import torch
from torch import nn

from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import BATCH_NORMS
from gnomon.core.modules.preserve import random_state
from gnomon.core.modules.run import run_module

__all__ = ["copy_with_batch_norm_statistics"]

MIN_EXAMPLES = 4
"""Minimum number of examples for batch statistics."""


def copy_with_batch_norm_statistics(module: nn.Module, x: Inputs) -> nn.Module:
    """Copies a module and computes the running statistics of its unused batch norm layers from x; returns a module
    without any as it is.

    See equation (1) of the module docstring.
    Hypotheses: as above.
    Reference: [ioffe2015batch].
    Cost: a copy of the module and a forward pass.

    >>> import torch
    >>> net = nn.Linear(2, 2)
    >>> copy_with_batch_norm_statistics(net, torch.zeros(9, 2)) is net
    True
    """
    fresh = [name for name, part in module.named_modules() if isinstance(part, BATCH_NORMS) and _is_fresh(part)]
    if not fresh or count_examples(x) < MIN_EXAMPLES:
        return module
    model = copy_module(module).eval()
    norms = [model.get_submodule(name) for name in fresh]
    for part in norms:
        assert isinstance(part, BATCH_NORMS)
        part.momentum = 1.0  # With momentum 1, the running statistics become the statistics of this batch (1)
        part.train()
    with random_state(0), torch.no_grad():
        run_module(model, x)
    return model.eval()


def _is_fresh(part: nn.Module) -> bool:
    seen = getattr(part, "num_batches_tracked", None)
    return seen is not None and int(seen) == 0
