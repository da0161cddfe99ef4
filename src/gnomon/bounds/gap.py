"""Measures the gap between training and test loss, with a confidence interval.

    gap = (1/m) sum over test of l - (1/n) sum over training of l                                                (1)
    interval  gap +- z sqrt(s_test^2 / m + s_train^2 / n);  for losses in [0, 1] also Hoeffding's, which is exact for
    the test part:  +- sqrt(log(2 / a) / (2 m))                                                           (2)

The mean over test examples is an unbiased estimate of the risk. The mean over training examples is biased, because they
determined the network.
Hypotheses: test examples are independent draws that took no part in any choice.
Reference: [vapnik1971uniform]; [hastie2009elements], section 7.

>>> import torch
>>> from torch import nn
>>> net, x = nn.Linear(1, 2), torch.randn(50, 1)
>>> generalization_gap(net, (x, (x[:, 0] > 0).long()), (x, (x[:, 0] > 0).long())).gap               # the same examples
0.0
"""

from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Interval, Plot, Result
from gnomon.training.evaluate import loss_for_targets

__all__ = ["GeneralizationGap", "generalization_gap"]


@dataclass(frozen=True, slots=True)
class GeneralizationGap(Result):
    """Result: mean training and test loss, their gap with a confidence interval, and the gap of the error rate.

    ``error_gap`` and ``certain`` (half the width of Hoeffding's interval (2) for the test error) are None if the
    targets are not classes.
    """

    train: float
    test: float
    interval: Interval
    error_gap: float | None
    certain: float | None

    @property
    def gap(self) -> float:
        """Returns the test loss minus the training loss."""
        return self.test - self.train  # (1)

    @property
    def verdict(self) -> str:
        """States whether there is a significant gap between training and test loss."""
        if 0 in self.interval:
            return f"No significant gap: the loss is {self.train:.3g} on training and {self.test:.3g} on test examples."
        errors = "" if self.error_gap is None else f", {self.error_gap:+.1%} in error rate"
        return f"The test loss exceeds the training loss by {self.gap:+.3g} ({self.interval}){errors}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the training loss and the test loss."""
        bars = Bars("loss", ("training", "test"), (self.train, self.test))
        return (Plot("Training and test", (bars,), Axis("mean loss"), caption=self.verdict),)


@add_call_to_errors
def generalization_gap(module: nn.Module, train: Any, test: Any, *, confidence: float = 0.95) -> GeneralizationGap:
    """Measures the gap between test and training loss (cross-entropy for classes, otherwise squared loss).

    See equations (1), (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        train: the examples it was trained on: (inputs, targets) or other data.
        test: test examples.
        confidence: confidence level of the interval.

    Hypotheses: see the module. Reference: [vapnik1971uniform].
    Cost: a forward pass over both.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> result = generalization_gap(net, (torch.ones(4, 1), torch.zeros(4)), (torch.ones(4, 1), 2 * torch.ones(4)))
    >>> result.gap                                                                        # 2^2 / 2 against 0
    2.0
    """
    check_module_is_callable(module)
    sure = check_number("confidence", confidence, above=0, below=1)
    rows = [_losses(module, part) for part in (train, test)]
    from scipy.special import ndtri  # slow to import

    spread = sum(float(losses.var(correction=0)) / len(losses) for losses, _ in rows) ** 0.5
    half = float(ndtri((1 + sure) / 2)) * spread
    means = [float(losses.mean()) for losses, _ in rows]
    gap, wrong = means[1] - means[0], [w for _, w in rows]
    errors = None if wrong[0] is None or wrong[1] is None else wrong[1] - wrong[0]
    certain = None if errors is None else (log(2 / (1 - sure)) / (2 * len(rows[1][0]))) ** 0.5  # (2)
    return GeneralizationGap(means[0], means[1], Interval(gap - half, gap + half, sure), errors, certain)


def _losses(module: nn.Module, data: Any) -> tuple[Tensor, float | None]:
    """Returns the loss of each example, and the error rate if targets are classes."""
    x, y = data_source(data, module=module).pair()
    f = outputs_in_eval_mode(module, x).double()
    loss = loss_for_targets(y)
    targets = loss.targets(y, outputs=f.shape[1]).double().reshape(len(f), -1)
    if targets.shape != f.shape:
        found = f"targets of shape {tuple(y.shape)} and {f.shape[1]} outputs"
        raise InputError(found, accepted="a target for each output", fix="Give y a column for each output")
    each = torch.stack([loss.value(f[i : i + 1], targets[i : i + 1]) for i in range(len(f))])
    wrong = float((f.argmax(1) != y.to(f.device)).double().mean()) if are_classes(y) else None
    return each, wrong
