"""Scores trained networks on held-out examples, one number per example, so that two networks can be compared.

    d_i = score of example i with the fix - without it
    gain = mean of d,    interval = gain +- 1.96 sqrt(var(d) / n)                                             (1)

For scores of 0 and 1, half an example is added to each of the four pairs of outcomes before (1) [agresti2005simple]:
without it, a few examples on which nothing changes would prove that nothing can change.

Hypotheses: independent examples.
Reference: [agresti2005simple].

>>> before, after = torch.zeros(100), torch.ones(100)
>>> gain = gain_interval(before, after)
>>> round(gain.low, 2), round(gain.high, 2)
(0.95, 1.0)
"""

from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.metrics import predicted_classes
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Interval
from gnomon.core.results.record import Record
from gnomon.examination.fixes.positions import share_correct
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples

__all__ = ["HeldOutScores", "gain_interval", "score_network"]

EXAMPLES_PER_LOSS = 16
"""Examples in each mean of a loss that cannot be measured example by example."""
NORMAL_QUANTILE = 1.96
"""Quantile of the normal distribution for an interval of 95 %."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutScores(Record):
    """The score of a network on each held-out example (or group of examples); larger is better.

    ``unit`` is "accuracy", "balanced accuracy", "explained variance" or "loss" (with a minus sign).
    """

    values: Float[Tensor, " n"]
    unit: str

    @property
    def mean(self) -> float:
        """Returns the mean score over the examples."""
        return float(self.values.mean())

    @property
    def is_share(self) -> bool:
        """Checks whether the score is a fraction, which is shown in percent."""
        return self.unit != "loss"


def score_network(subject: Subject, trial: TrialRun, model: nn.Module, *, examples: int, seed: int) -> HeldOutScores:
    """Scores a trained network on at most ``examples`` held-out examples.

    Accuracy for classes, explained variance if the loss compares outputs with targets, and the loss otherwise.

    Cost: one pass over the examples.

    >>> from gnomon.examination.subject import build_subject as of
    >>> net, data = nn.Linear(2, 2), (torch.eye(2), torch.tensor([0, 1]))
    >>> network = of(net, data, None, seed=0)
    >>> trial = TrialRun(net, network.train, network.train, network.loss, None, None, 1)
    >>> score_network(network, trial, net, examples=10, seed=0).unit
    'accuracy'
    """
    some = _examples(subject, trial.test, examples, seed)
    if subject.task.classes:
        right = (predicted_classes(outputs_in_eval_mode(model, some.x)) == some.y).double().cpu()
        if trial.balanced:
            return HeldOutScores(_weight_by_class(right, some.y.cpu()), "balanced accuracy")
        return HeldOutScores(right, "accuracy")
    if isinstance(trial.loss, AbstractLossWithAxes) and (right_of := _positions(trial.loss, model, some)) is not None:
        return HeldOutScores(right_of, "accuracy")
    if subject.asks_for_targets and not isinstance(trial.loss, AbstractLossWithAxes):
        y = some.y.double()
        spread = max(float(y.var(0, correction=0).sum()), 1e-300)
        return HeldOutScores(
            (1 - (outputs_in_eval_mode(model, some.x).double() - y).square().sum(1) / spread).cpu(),
            "explained variance",
        )
    if (right_of := _tokens(subject, model, some)) is not None:
        return HeldOutScores(right_of, "accuracy")
    losses = [-_loss_of(subject, model, part) for part in _parts(some, EXAMPLES_PER_LOSS)]
    return HeldOutScores(torch.tensor(losses, dtype=torch.float64), "loss")


def gain_interval(before: Float[Tensor, " n"], after: Float[Tensor, " n"]) -> Interval:
    """Returns the 95 % confidence interval of the mean gain in score by a fix, from the scores before and after the
    fix.

    See equation (1) of the module docstring.

    >>> scores = torch.tensor([0.5, 0.7, 0.1])
    >>> gain = gain_interval(scores, scores + 0.25)
    >>> round(gain.low, 6), round(gain.high, 6)
    (0.25, 0.25)
    """
    d = (after - before).double()
    n = len(d)
    if bool(((d == 0) | (d == 1) | (d == -1)).all()):
        better, worse, total = float((d > 0).sum()) + 0.5, float((d < 0).sum()) + 0.5, n + 2
        center = (better - worse) / total
        half = NORMAL_QUANTILE * sqrt((better + worse) - (better - worse) ** 2 / total) / total  # (1)
        return Interval(max(-1.0, center - half), min(1.0, center + half), 0.95)
    half = NORMAL_QUANTILE * float(d.std()) / sqrt(n) if n > 1 else float("inf")  # (1)
    return Interval(float(d.mean()) - half, float(d.mean()) + half, 0.95)


def _examples(subject: Subject, data: AbstractSource, n: int, seed: int) -> Examples:
    return subject.examples(data.probe(n, seed=seed))


def _weight_by_class(right: Tensor, y: Tensor) -> Tensor:
    """Reweights the scores of examples so that their mean is the mean accuracy over classes (balanced accuracy)."""
    kinds, place = torch.unique(y, return_inverse=True)
    sizes = torch.bincount(place).double()
    return right * (len(y) / (len(kinds) * sizes[place]))


def _positions(loss: AbstractLossWithAxes, model: nn.Module, some: Examples) -> Tensor | None:
    """Returns for each example the fraction of its positions (such as tokens) with a correct prediction; None for
    real-valued outputs.
    """
    shares = []
    for part in _parts(some, 1):
        counted = loss.right(outputs_in_eval_mode(model, part.x), loss.targets(part.y))
        if counted is None:
            return None
        shares += [counted[0] / counted[1]] if counted[1] else []
    return torch.tensor(shares, dtype=torch.float64)


def _tokens(subject: Subject, model: nn.Module, some: Examples) -> Tensor | None:
    """Returns for each example the share of positions that are right, if the targets are classes of a user's loss."""
    if some.y.is_floating_point() or subject.task.classes:
        return None
    with preserve(model, mode="eval", grad=False):
        made = [run_module(model, part.x) for part in _parts(some, EXAMPLES_PER_LOSS)]
    if not all(isinstance(one, Tensor) for one in made):
        return None
    return share_correct(torch.cat(made).cpu(), some.y.cpu().reshape(len(some), *subject.task.shape))


def _loss_of(subject: Subject, model: nn.Module, part: Examples) -> float:
    """Returns the mean loss of some examples by the user's original loss, even if a fix changes the loss used in
    training.
    """
    with preserve(model, mode="eval", grad=False):
        return float(subject.loss_of(run_module(model, part.x), part.y))


def _parts(some: Examples, size: int) -> list[Examples]:
    places = [slice(i, i + size) for i in range(0, len(some), size)]
    return [Examples(take_examples(some.x, place), some.y[place]) for place in places]
