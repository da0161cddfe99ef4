"""Explains why a chosen model is worse than the best candidate: too few examples, or a poor choice on training data.

    R(f) - min R  <=  2 max |R_n - R|  +  R_n(f) - min R_n                                                      (1)

R_n is the error on the training examples and R on the test examples, over all candidate models.

Hypotheses: test examples were used neither for training nor for the choice.
Reference: [vapnik1971uniform].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["ExcessRisk", "excess_risk_report"]


@dataclass(frozen=True, slots=True)
class ExcessRisk(Result):
    """Result: how much worse the chosen model is than the best one, and the two terms that bound the difference.

    See equation (1) of the module docstring.

    >>> ExcessRisk(excess=0.1, estimation=0.3, optimization=0.05).bound
    0.35
    """

    excess: float
    estimation: float
    optimization: float

    @property
    def bound(self) -> float:
        """Returns the upper bound on the excess error of the chosen model."""
        return self.estimation + self.optimization

    @property
    def verdict(self) -> str:
        """States the measured excess error of the chosen model and its bound."""
        return (
            f"The chosen model errs {self.excess:.1%} more than the best candidate; the bound is {self.bound:.1%} "
            f"({self.estimation:.1%} because training and test errors differ, {self.optimization:.1%} because another "
            "candidate has a smaller training error)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the excess error of the chosen model and both terms of its bound."""
        names, values = ["excess", "estimation", "optimization"], [self.excess, self.estimation, self.optimization]
        return (Plot("Excess error", (Bars("error rate", names, values),), Axis("error rate")),)


@add_call_to_errors
def excess_risk_report(models: Sequence[nn.Module], data: Any, test: Any, *, chosen: int = 0) -> ExcessRisk:
    """Measures the errors of several classifiers and explains how much worse the chosen one is than the best.

    See equation (1) of the module docstring.

    Args:
        models: candidate classifiers.
        data: training examples with classes.
        test: test examples with classes.
        chosen: index of the chosen model among the candidates.

    Cost: two forward passes of every candidate.

    >>> import torch
    >>> x, y = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])
    >>> excess_risk_report([nn.Identity(), nn.Softmin(1)], (x, y), (x, y), chosen=1).excess
    1.0
    """
    if not 0 <= chosen < len(models):
        found = f"chosen is {chosen} and there are {len(models)} models"
        raise InputError(found, accepted="the index of a model", fix="Pass chosen from 0 to len(models) - 1")
    training = [_error(model, data) for model in models]
    true = [_error(model, test) for model in models]
    estimation = 2 * max(abs(a - b) for a, b in zip(training, true, strict=True))
    return ExcessRisk(true[chosen] - min(true), estimation, training[chosen] - min(training))  # (1)


def _error(module: nn.Module, data: Any) -> float:
    check_module_is_callable(module)
    x, y = data_source(data, module=module).pair()
    return float((outputs_in_eval_mode(module, x).argmax(1) != y).double().mean())
