"""Estimates the generalization gap of a training method by replacing single training examples (stability).

With A(S) trained on n examples S, and S_i the same set with example z_i replaced by a new one,

    E [l(A(S_i), z_i) - l(A(S), z_i)] = E [error on new examples - training error]                                 (1)

exactly, because z_i is new to A(S_i) and has the same distribution as its training examples. The left side is a mean
over some i.

Hypotheses: independent, identically distributed examples; training depends on the order of examples only by the seed.
Reference: [shalev2014understanding], Theorem 13.2.

>>> import torch
>>> x, y = torch.zeros(40, 1), torch.tensor([0.0, 1.0] * 20)
>>> def mean(x, y, seed):
...     return lambda inputs: y.mean() + 0 * inputs[:, 0]
>>> found = replace_one_gap(mean, (x, y), draws=10)
>>> 0 <= found.gap.value < 0.1
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples, take_examples
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import student_quantile
from gnomon.core.results import Interval, Result, Value

__all__ = ["ReplaceOneGap", "replace_one_gap"]

MIN_DRAWS_FOR_INTERVAL = 40
"""Draws needed for an interval. Changes of squared errors are skewed: 95 % of 10 draws would cover 80 % of cases."""
CONFIDENCE_LEVEL = 0.9
"""Confidence of the interval."""
STUDENT_LEVEL = 0.98
"""Confidence of Student's quantile in the interval: skewed changes make it cover 92.7 % of cases with 40 draws."""


@dataclass(frozen=True, slots=True)
class ReplaceOneGap(Result):
    """Result: how much an example's loss changes if the example is replaced before training, on average and at most.

    The mean has a 90 % interval if there are at least 40 draws.

    >>> ReplaceOneGap(Value("gap", 0.1, Interval(0.05, 0.15)), 0.3, 0.2, 90, 10).verdict
    'The loss of a left-out example exceeds the loss of a training example by 0.1 (at most 0.3). This estimates the
    expected generalization gap.'
    """

    gap: Value
    largest: float
    training: float
    examples: int
    draws: int

    @property
    def verdict(self) -> str:
        """States the estimated generalization gap of the training method, in one sentence."""
        more = f"The loss of a left-out example exceeds the loss of a training example by {float(self.gap.value):.3g}"
        return f"{more} (at most {self.largest:.3g}). This estimates the expected generalization gap."


@add_call_to_errors
def replace_one_gap(
    fit: Callable[..., Callable[[Any], Tensor]], data: Any, *, draws: int = 10, seed: int = 0
) -> ReplaceOneGap:
    """Estimates the generalization gap: how much an example's loss changes if it is replaced before training.

    See equation (1) of the module docstring.

    Args:
        fit: ``fit(x, y, seed)`` returns a trained module or function from inputs to outputs.
        data: examples, of which ``draws`` are kept as replacements.
        draws: number of examples that are replaced, each in its own training run; 40 or more give an interval.
        seed: random seed for the choice, and of training.

    Losses are 0 or 1 for classes, and squares for numbers.

    Hypotheses: as for the module.
    Reference: [shalev2014understanding], [bousquet2002stability].
    Cost: draws + 1 trainings.

    >>> constant = lambda x, y, seed: lambda inputs: 0 * inputs[:, 0]             # learns nothing: no gap
    >>> replace_one_gap(constant, (torch.randn(30, 2), torch.randn(30)), draws=5).largest
    0.0
    """
    draws, seed = check_integer("draws", draws, least=2), check_seed(seed)
    x, y = data_source(data).pair()
    n = count_examples(x) - draws
    if n < 2 or n < draws:
        found = f"{count_examples(x)} examples are given, and {draws} of them would replace training examples"
        raise InputError(found, accepted="at least twice as many as draws", fix="Pass more examples or fewer draws")
    order = torch.randperm(n + draws, generator=torch.Generator().manual_seed(seed))
    used, fresh = order[:n], order[n:]
    whole = fit(take_examples(x, used), y[used], seed)
    before = _losses(whole, x, y, used)
    changes = []
    for i in range(draws):
        other = used.clone()
        other[i] = fresh[i]
        model = fit(take_examples(x, other), y[other], seed)
        changes.append(float(_losses(model, x, y, used[i : i + 1])[0] - before[i]))  # (1)
    table = torch.tensor(changes, dtype=torch.float64)
    mean, half = (
        float(table.mean()),
        student_quantile(draws - 1, confidence=STUDENT_LEVEL) * float(table.std()) / draws**0.5,
    )
    interval = Interval(mean - half, mean + half, CONFIDENCE_LEVEL) if draws >= MIN_DRAWS_FOR_INTERVAL else None
    gap = Value("expected gap", mean, interval, "estimate")
    return ReplaceOneGap(gap, float(table.abs().max()), float(before.mean()), n, draws)


def _losses(model: Callable[[Any], Tensor], x: Any, y: Tensor, rows: Tensor) -> Tensor:
    with torch.no_grad():
        made = model(take_examples(x, rows))
    if are_classes(y):
        return (made.argmax(1) != y[rows]).double()
    return (made.double().reshape(len(rows), -1) - y[rows].double().reshape(len(rows), -1)).square().mean(1)
