"""Common parts of all attacks: the classifier under attack, the losses that attacks increase, and the base class.

With the scores f of an example of class y, sorted f_(1) >= f_(2) >= ...,

    margin  f_y - max over j != y of f_j                                                                     (1)
    DLR     - margin / (f_(1) - f_(3)),     target t:  - (f_y - f_t) / (f_(1) - (f_(3) + f_(4)) / 2)       (2)

An example is fooled if (1) is below zero. (2) does not change when all scores are multiplied or shifted. Of two scores
(2) is minus the margin, because a third score is missing, and divided by itself the margin would have no gradient.
Reference: [croce2020reliable] for (2).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import TimeLimitError
from gnomon.core.machine.budget import check_time
from gnomon.core.metrics import margin_over_others, predicted_classes
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.robustness.attacks.straight_through import StraightThrough
from gnomon.robustness.attacks.threat import ThreatModel

__all__ = [
    "AbstractAttack",
    "AttackedModel",
    "cross_entropy",
    "dlr_loss",
    "input_gradient",
    "margin_loss",
    "targeted_dlr_loss",
]

EXAMPLES_PER_PASS = 250
"""Number of examples in one forward pass."""
Score = Callable[[Tensor, Tensor], Tensor]
"""Maps scores (n, k) and classes (n,) to the loss (n,) that an attack increases."""


class AttackedModel:
    """A classifier in eval mode under attack: returns its scores, decisions and input gradients, and counts queries.

    With ``through``, gradients pass through rounding and other step functions, see `StraightThrough`. With
    ``keeps_partial_results``, attacks end at the time limit of the call with what they have found, without an error.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> classifier = AttackedModel(net)
    >>> with classifier.attack_mode():
    ...     classifier.right(torch.zeros(1, 2), torch.tensor([0])).tolist()
    [True]
    """

    def __init__(self, module: nn.Module, *, through: bool = False, keeps_partial_results: bool = False) -> None:
        self.module, self.through, self.queries = module, through, 0
        self.keeps_partial_results, self.time_is_up = keeps_partial_results, False

    @contextmanager
    def until_time_is_up(self) -> Any:
        """Context that ends at the time limit of the call, if the attack then returns the points found so far.

        Afterwards nothing is limited, so that the points can be checked.
        """
        try:
            yield
        except TimeLimitError:
            if not self.keeps_partial_results:
                raise
            self.time_is_up = True

    def _check_time(self) -> None:
        if not self.time_is_up:
            check_time("queries of the network", self.queries, None)

    @contextmanager
    def attack_mode(self) -> Any:
        """Context in which the attacked module is in eval mode and its parameters need no gradients; restores both
        afterwards.
        """
        wanted = [(p, p.requires_grad) for p in self.module.parameters()]
        try:
            with preserve(self.module):
                for p, _ in wanted:
                    p.requires_grad = False
                yield self
        finally:
            for p, before in wanted:
                p.requires_grad = before

    def scores(self, x: Tensor) -> Tensor:
        """Returns class scores (n, k), differentiable if x is; a single output f becomes two scores, -f/2 and f/2."""
        self.queries += len(x)
        with StraightThrough() if self.through and x.requires_grad else nullcontext():
            f = run_to_rows(self.module, x)
        return f if f.shape[1] > 1 else torch.cat([-f, f], 1) / 2

    @torch.no_grad()
    def all_scores(self, x: Tensor) -> Tensor:
        """Returns the class scores (n, k) without gradients, computed in batches."""
        self._check_time()
        return torch.cat([self.scores(part) for part in x.split(EXAMPLES_PER_PASS)])

    def right(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns whether each example is classified as y; scores that are not finite count as wrong."""
        return predicted_classes(self.all_scores(x)) == y

    def slope(self, x: Tensor, y: Tensor, score: Score) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the loss, its gradient with respect to the inputs, and whether each example is still classified as
        y.
        """
        self._check_time()
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            f = self.scores(leaf)
            value = score(f, y)
            gradient = input_gradient(value.sum(), leaf)
        return value.detach(), gradient, f.detach().argmax(1) == y


def input_gradient(value: Tensor, leaf: Tensor) -> Tensor:
    """Returns the gradient of ``value`` with respect to the inputs ``leaf``; zeros if ``value`` does not depend on
    them.

    Cost: a backward pass.

    >>> x = torch.ones(2, requires_grad=True)
    >>> input_gradient((x > 0).double().sum(), x).tolist()
    [0.0, 0.0]
    """
    if not value.requires_grad:
        return torch.zeros_like(leaf)
    return torch.autograd.grad(value, leaf, retain_graph=True, allow_unused=True, materialize_grads=True)[0]


class AbstractAttack(ABC):
    """Base class of adversarial attacks: methods that search for a misclassified point near each example."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Returns the name of the attack, as tables show it."""

    @abstractmethod
    def run(
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        """Returns one allowed point for each example; the point is misclassified if the attack succeeded."""


def margin_loss(f: Tensor, y: Tensor) -> Tensor:
    """Returns the margin of each example: the score of class y minus the best other score.

    See equation (1) of the module docstring.
    Cost: one pass over the scores.

    >>> margin_loss(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0])).tolist()
    [1.0]
    """
    return margin_over_others(f, f, y)  # (1)


def dlr_loss(f: Tensor, y: Tensor) -> Tensor:
    """Returns the DLR loss of each example: minus the margin, divided by the difference of the top scores if there are
    three; minus the margin for two scores.

    See equation (2) of the module docstring.
    Cost: a partial sort of the scores.

    >>> dlr_loss(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0])).tolist()
    [-0.5]
    """
    if f.shape[1] < 3:
        return -margin_loss(f, y)
    best = f.topk(3, 1).values
    return -margin_loss(f, y) / (best[:, 0] - best[:, 2] + 1e-12)  # (2)


def targeted_dlr_loss(target: Tensor) -> Score:
    """Returns the DLR loss for a target class, which grows as an example comes closer to being classified as
    ``target``.

    See equation (2) of the module docstring.

    >>> targeted_dlr_loss(torch.tensor([1]))(torch.tensor([[4.0, 3.0, 1.0, 1.0]]), torch.tensor([0])).tolist()
    [-0.333...]
    """

    def score(f: Tensor, y: Tensor) -> Tensor:
        best = f.topk(min(4, f.shape[1]), 1).values
        away = f.gather(1, y[:, None])[:, 0] - f.gather(1, target[:, None])[:, 0]
        return -away / (best[:, 0] - best[:, 2:].mean(1) + 1e-12) if f.shape[1] > 3 else -away  # (2)

    return score


def cross_entropy(f: Tensor, y: Tensor) -> Tensor:
    """Returns the cross-entropy loss of each example.

    Cost: one pass over the scores.

    >>> round(float(cross_entropy(torch.zeros(1, 2), torch.tensor([0]))), 4)                  # log 2
    0.6931
    """
    return nn.functional.cross_entropy(f, y, reduction="none")
