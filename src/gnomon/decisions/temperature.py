"""Computes temperature scaling, label smoothing and distillation of class probabilities.

    temperature   p = softmax(f / T);  T minimizes the mean of -ln p(label) on held-out examples                   (1)
    smoothing     targets (1 - s) e_y + s / k;  the best logits differ by ln((1 - s + s/k) / (s/k))                 (2)
    distillation  l = -sum_c softmax(F/T)_c ln softmax(G/T)_c,   dl/dG = (softmax(G/T) - softmax(F/T)) / T          (3)
    limit         T large, centered logits:  dl/dG = (G - F) / (k T^2)                                             (4)

F are the teacher's logits and G the student's.

Hypotheses: for (1) held-out examples that are independent; for (2) logits that are free at each example.
Reference: [guo2017calibration] for (1), [szegedy2016rethinking] for (2), [hinton2015distilling] for (3) and (4).

>>> import torch
>>> round(label_smoothing_gap(0.1, 10), 4) == round(float(torch.tensor(0.91 / 0.01).log()), 4)
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_module, check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Finding, Interval, Line, Plot, Reference, Result, Value
from gnomon.findings import decisions as kinds
from gnomon.training import Adam, train

__all__ = [
    "DistilledStudent",
    "Temperature",
    "best_score_factor",
    "distill",
    "distillation_loss",
    "label_smoothing_gap",
    "best_temperature",
]

TEMPERATURES = (0.01, 100.0)
"""Smallest and largest temperature that is tried."""
CONFIDENCE_LEVEL = 0.95
"""Confidence level of the interval."""


@dataclass(frozen=True, slots=True)
class Temperature(Result):
    """Result: the best softmax temperature with its confidence interval, and the loss before and after scaling by it.

    >>> Temperature(2.0, Interval(1.8, 2.2, 0.95), 0.5, 0.4, 100).findings[0].kind
    'overconfident-logits'
    """

    value: float
    interval: Interval
    before: float
    after: float
    examples: int

    @property
    def verdict(self) -> str:
        """Says in one sentence whether the network is overconfident, according to the best softmax temperature."""
        word = (
            "too sure" if self.interval.low > 1 else "less sure than it could be" if self.interval.high < 1 else "right"
        )
        return f"The best temperature is {self.value:.3g} ({self.interval}): the network is {word} about its answers."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if the network is overconfident: the confidence interval of its best softmax temperature is
        above 1.
        """
        if self.interval.low <= 1:
            return ()
        evidence = (Value("temperature", self.value, self.interval, "estimate"),)
        values = {"temperature": self.value, "interval": self.interval}
        return (Finding(kinds.OVERCONFIDENT_LOGITS, "outputs", values, evidence, (1 - CONFIDENCE_LEVEL) / 2),)


@add_call_to_errors
def best_temperature(logits: Float[Tensor, "n k"], labels: Int[Tensor, " n"]) -> Temperature:
    """Fits the softmax temperature that maximizes the likelihood of held-out labels, with a confidence interval.

    See equation (1) of the module docstring.
    The interval contains all temperatures whose likelihood is not rejected at 5 % by the likelihood-ratio test.

    Hypotheses: examples that were not trained on, with right and wrong answers among them.
    Reference: [guo2017calibration]; [wilks1938large] for the interval.
    Cost: some 200 passes over the logits.

    >>> p = torch.tensor([[0.8, 0.2]] * 5)
    >>> round(best_temperature(3 * p.log(), torch.tensor([0, 0, 0, 0, 1])).value, 2)              # three times too sure
    3.0
    """
    if logits.shape[1] < 2 or int(labels.min()) < 0 or int(labels.max()) >= logits.shape[1]:
        found = f"{logits.shape[1]} logits and labels {int(labels.min())} to {int(labels.max())}"
        raise InputError(found, accepted="a logit for each class", fix="Pass logits (n, k) and classes 0 to k - 1")
    f, y = logits.double(), labels.long()

    def loss(t: float) -> float:
        return float(nn.functional.cross_entropy(f / t, y))

    lowest, highest = TEMPERATURES
    targets = nn.functional.one_hot(y, f.shape[1]).double()
    value = 1 / best_score_factor(f, targets, torch.ones_like(f[:, 0]), (1 / highest, 1 / lowest))
    if not lowest < value < highest:
        right = loss(lowest) < loss(highest)
        found = f"the best temperature is {'0' if right else 'infinite'}, as if all answers are "
        found = f"{found}{'right' if right else 'wrong'}" if loss(lowest) != loss(highest) else "all logits are equal"
        fix = "Pass more held-out examples, among them right and wrong answers"
        raise InputError(found, accepted="right and wrong answers", fix=fix)
    least = loss(value)
    # 3.84 is the 95 % quantile of the chi-square distribution of twice the log likelihood ratio (Wilks' theorem).
    top = least + 3.841459 / (2 * len(f))
    ends = [_crossing(loss, top, value, end) for end in TEMPERATURES]
    interval = Interval(ends[0], ends[1], CONFIDENCE_LEVEL)
    before = float(nn.functional.cross_entropy(f, labels.long()))
    return Temperature(value, interval, before, least, len(f))


def best_score_factor(
    scores: Float[Tensor, "n k"], targets: Float[Tensor, "n k"], weights: Float[Tensor, " n"], ends: tuple[float, float]
) -> float:
    """Returns the number by which to multiply class scores so that the cross-entropy of their softmax is smallest.

    The cross-entropy is convex in s, so that bisection of its derivative finds the minimum; 1 / s is a temperature.

    >>> scores = torch.tensor([[1.0, 0.0]]).double()
    >>> s = best_score_factor(scores, torch.tensor([[0.75, 0.25]]).double(), torch.ones(1).double(), (0.1, 10.0))
    >>> round(float(torch.sigmoid(torch.tensor(s))), 6)
    0.75
    """

    def slope(s: float) -> float:
        return float(weights @ (scores * (torch.softmax(s * scores, 1) - targets)).sum(1))

    low, high = ends
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    while high / low > 1 + 1e-14:
        middle = (low * high) ** 0.5
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def _crossing(loss: Callable[[float], float], top: float, inside: float, outside: float) -> float:
    """Finds one end of the best temperature's confidence interval: the temperature at which the loss reaches a
    limit.
    """
    if loss(outside) <= top:
        return outside
    for _ in range(50):
        middle = (inside * outside) ** 0.5
        inside, outside = (middle, outside) if loss(middle) <= top else (inside, middle)
    return inside


@add_call_to_errors
def label_smoothing_gap(smoothing: float, classes: int) -> float:
    """Returns the gap between the correct logit and the others after training with label smoothing.

        gap = ln((1 - s + s / k) / (s / k))                                                                      (2)

    Hypotheses: logits that are free at each example.
    Reference: [szegedy2016rethinking].

    >>> label_smoothing_gap(0.5, 2) == log(3)
    True
    """
    s, k = check_number("smoothing", smoothing, above=0, below=1), check_integer("classes", classes, least=2)
    return log((1 - s + s / k) / (s / k))  # (2)


@add_call_to_errors
def distillation_loss(student: Float[Tensor, "n k"], teacher: Float[Tensor, "n k"], t: float = 1.0) -> Tensor:
    """Returns the mean cross-entropy between the softened class probabilities of a student network and its teacher.

    See equation (3) of the module docstring.
    Hypotheses: a temperature t above 0.
    Reference: [hinton2015distilling].
    Cost: two softmaxes.

    >>> round(float(distillation_loss(torch.zeros(1, 4), torch.zeros(1, 4))), 6)               # ln 4
    1.386294
    """
    if not t > 0:
        raise out_of_range_error("t", "above 0", t)
    return -(torch.softmax(teacher / t, 1) * torch.log_softmax(student / t, 1)).sum(1).mean()  # (3)


@dataclass(frozen=True, slots=True, eq=False)
class DistilledStudent(Result):
    """Result: a student network trained by distillation, how often it agrees with the teacher, and their KL
    divergence.
    """

    student: nn.Module
    agreement: float
    divergence: float
    losses: tuple[float, ...]
    temperature: float

    @property
    def verdict(self) -> str:
        """Says in one sentence how often the student network agrees with its teacher."""
        same = f"The student network and its teacher choose the same class in {self.agreement:.1%} of cases"
        return f"{same}; the Kullback-Leibler divergence is {self.divergence:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the distillation loss of the student network over the recorded steps."""
        marks = (Line("distillation loss", range(len(self.losses)), self.losses), Reference("last", self.losses[-1]))
        return (Plot("Distillation", marks, Axis("record"), Axis("loss"), self.verdict),)


@add_call_to_errors
def distill(
    teacher: nn.Module,
    student: nn.Module,
    data: Any,
    *,
    t: float = 2.0,
    steps: int = 500,
    lr: float = 3e-3,
    seed: int = 0,
) -> DistilledStudent:
    """Trains a copy of the student network to match the teacher's softened probabilities, without labels.

    See equation (3) of the module docstring.
    Hypotheses: both have an output for each class.
    Reference: [hinton2015distilling].
    Cost: one pass of the teacher, a training run of the student.

    >>> teacher = nn.Linear(2, 2)
    >>> distill(teacher, nn.Linear(2, 2), torch.randn(50, 2), steps=300, lr=0.1).agreement >= 0.95
    True
    """
    for module in (teacher, student):
        check_module(module)
    inputs = data_source(data, module=student).whole().x
    told = outputs_in_eval_mode(teacher, inputs)
    t = check_number("t", t, above=0)

    def loss(made: Tensor, target: Tensor) -> Tensor:
        return distillation_loss(made, target.to(made.dtype), t)

    run = train(student, (inputs, told), loss=loss, optimizer=Adam(lr), steps=steps, seed=seed)
    made = outputs_in_eval_mode(run.raise_if_interrupted().model, inputs)
    agreement = float((made.argmax(1) == told.argmax(1)).double().mean())
    entropy = distillation_loss(told, told)
    divergence = float(distillation_loss(made, told) - entropy)
    return DistilledStudent(run.model, agreement, max(0.0, divergence), tuple(float(v) for v in run.loss), t)
