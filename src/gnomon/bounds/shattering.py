"""Shattering: for how many examples a network can learn every labeling, measured by training on random labels.

    share(n) = fitted labelings / tried labelings,    1 for n up to the VC dimension if training finds every fit  (1)

Hypotheses: two classes; a fit that training does not find is not counted, so (1) is a lower bound.
Reference: [vapnik1971uniform], [zhang2017understanding].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.checks import check_integer, check_module, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.training import Adam, train

__all__ = ["Shattering", "empirical_shattering"]


@dataclass(frozen=True, slots=True)
class Shattering(Result):
    """Result: for several numbers of examples, the fraction of random labelings that the network learned without an
    error.

    >>> Shattering((2, 4, 8), (1.0, 1.0, 0.25), 4).capacity
    4
    """

    sizes: tuple[int, ...]
    shares: tuple[float, ...]
    labelings: int

    @property
    def capacity(self) -> int:
        """Returns the largest tried number of examples for which every tried labeling was learned, or 0."""
        return max((n for n, share in zip(self.sizes, self.shares, strict=True) if share == 1.0), default=0)

    @property
    def verdict(self) -> str:
        """Reports the largest number of examples for which all random labelings were learned."""
        return f"Training fits all {self.labelings} random labelings of up to {self.capacity} examples."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of learned labelings over the number of examples."""
        line = Line("fitted labelings", self.sizes, self.shares)
        return (Plot("Random labelings that are fitted", (line,), Axis("examples", log=True), Axis("share")),)


@add_call_to_errors
def empirical_shattering(
    factory: Callable[[int], nn.Module],
    data: Any,
    *,
    sizes: Sequence[int],
    labelings: int = 8,
    steps: int = 400,
    lr: float = 3e-2,
    seed: int = 0,
) -> Shattering:
    """Trains on random labels of the first n examples, for several n, and counts labelings that are learned without
    error.

    See equation (1) of the module docstring.

    Args:
        factory: a function from a seed to a new network with two outputs.
        data: examples; targets are ignored.
        sizes: numbers of examples to label.
        labelings: number of random labelings of each size.
        steps: training steps of each network, with Adam on all of its examples.
        lr: learning rate.
        seed: random seed of the labels and the networks.

    Cost: ``labelings`` training runs for each size.

    >>> found = empirical_shattering(lambda seed: nn.Linear(2, 2), torch.eye(2), sizes=[2], labelings=2, lr=0.3)
    >>> found.capacity
    2
    """
    seed, labelings = check_seed(seed), check_integer("labelings", labelings)
    steps, sizes = check_integer("steps", steps), tuple(check_integer("sizes", n) for n in sizes)
    batch = data_source(data).probe(max(sizes), seed=seed)
    if len(batch) < max(sizes):
        raise InputError(
            f"there are {len(batch)} examples", accepted=f"at least {max(sizes)}", fix="Pass more examples"
        )
    shares = []
    for n in sizes:
        fitted, x = 0, take_examples(batch.x, slice(n))
        for k in range(labelings):
            labels = torch.randint(2, (n,), generator=torch.Generator().manual_seed(seed + 1000 * n + k))
            net = factory(seed + k)
            check_module(net)
            run = train(net, (x, labels), optimizer=Adam(lr), steps=steps, seed=seed + k)
            fitted += bool((outputs_in_eval_mode(run.raise_if_interrupted().model, x).argmax(1) == labels).all())
        shares.append(fitted / labelings)  # (1)
    return Shattering(sizes, tuple(shares), labelings)
