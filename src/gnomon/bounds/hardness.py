"""Measures how hard labels are to fit, by comparing margins after training on true and on random labels.

    hardness(s) = median of the normalized margins after training on labels of which a share s is random        (1)

Labels with structure leave larger normalized margins than random ones. If true labels leave margins no larger than
random ones, they are as hard as noise.

Hypotheses: one architecture and one training recipe for all labels.
Reference: [bartlett2017spectrally].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.bounds.output_margins import output_margins
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.training import Adam, train

__all__ = ["DatasetHardness", "dataset_hardness"]


@dataclass(frozen=True, slots=True)
class DatasetHardness(Result):
    """Result: for each fraction of random labels, the median margin (normalized by the network's norms) after training.

    >>> DatasetHardness((0.0, 1.0), (2.0, 0.5)).advantage
    4.0
    """

    shares: tuple[float, ...]
    margins: tuple[float, ...]

    @property
    def advantage(self) -> float:
        """Returns the margin with the fewest random labels over the margin with the most; 1 if true labels are as hard
        to fit.
        """
        return self.margins[0] / self.margins[-1] if self.margins[-1] > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """Reports how hard the labels are to fit, compared with random labels."""
        if self.margins[-1] <= 0:
            return "Training does not fit the random labels (median margin below 0). Train longer to compare margins."
        return (
            f"With true labels the normalized margin is {self.advantage:.2g} times as large as with random labels (1 "
            "means that true labels are as hard to fit as random ones)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the median normalized margin over the fraction of random labels."""
        line = Line("median normalized margin", self.shares, self.margins)
        return (Plot("Hardness of the labels", (line,), Axis("share of random labels"), Axis("normalized margin")),)


@add_call_to_errors
def dataset_hardness(
    factory: Callable[[int], nn.Module],
    data: Any,
    *,
    shares: Sequence[float] = (0.0, 0.5, 1.0),
    steps: int = 400,
    lr: float = 3e-3,
    seed: int = 0,
) -> DatasetHardness:
    """Trains the same network on data with more and more random labels, and compares the normalized margins.

    See equation (1) of the module docstring.

    Args:
        factory: a function from a seed to a new network with an output for each class.
        data: examples with integer classes.
        shares: shares of labels that are replaced by random ones, in increasing order.
        steps: training steps of each network, with Adam on all examples.
        lr: learning rate.
        seed: random seed of the labels and the networks.

    Cost: a training run for each share.

    >>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    >>> found = dataset_hardness(lambda seed: nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), steps=100, lr=0.1)
    >>> found.margins[0] > found.margins[-1]
    True
    """
    seed, steps = check_seed(seed), check_integer("steps", steps)
    x, y = data_source(data).pair()
    if not are_classes(y):
        raise InputError(f"the targets are {y.dtype}", accepted="integer classes", fix="Pass whole numbers as targets")
    draw = torch.Generator().manual_seed(seed)
    order, other = torch.rand(len(y), generator=draw), torch.randint(int(y.max()) + 1, y.shape, generator=draw)
    margins = []
    for share in shares:
        labels = torch.where(order < share, other, y)
        net = factory(seed)
        check_module(net)
        start = copy_module(net)
        run = train(net, (x, labels), optimizer=Adam(lr), steps=steps, seed=seed)
        found = output_margins(run.raise_if_interrupted().model, (x, labels), start=start)
        margins.append(float(found.normalized.median()))  # (1)
    return DatasetHardness(tuple(float(s) for s in shares), tuple(margins))
