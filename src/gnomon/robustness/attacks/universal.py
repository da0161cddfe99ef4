"""Universal perturbations: one perturbation that changes many predictions when it is added to all inputs.

    max over |v| <= eps of  share { i : f(x_i + v) != f(x_i) }                                               (1)

by projected ascent on the DLR loss of whole batches, which is the mean over their examples.
Reference: [moosavi2017universal] for (1).
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Interval, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.robustness.attacks.base import AttackedModel, dlr_loss
from gnomon.robustness.attacks.run import check_bounds, examples_to_attack
from gnomon.robustness.attacks.threat import Norm, ThreatModel

__all__ = ["UniversalPerturbation", "universal_perturbation"]

BATCH_SIZE = 100
"""Examples in one step of the ascent."""


@dataclass(frozen=True, slots=True, eq=False)
class UniversalPerturbation(Result):
    """Result: a universal perturbation, and how many predictions it and random noise of the same norm change.

    >>> found = UniversalPerturbation(torch.zeros(2), 30, 5, 100, ThreatModel(0.1, "inf", 0.0, 1.0))
    >>> print(found.verdict)
    One perturbation changes 30.0% of 100 decisions; random noise of the same size changes 5.0%.
    """

    perturbation: Float[Tensor, "..."] = field(metadata=HIDDEN_IN_JSON)
    changed: int
    changed_by_noise: int
    examples: int
    threat: ThreatModel

    @property
    def rate(self) -> float:
        """Returns the fraction of predictions that the perturbation changes."""
        return self.changed / self.examples

    @property
    def interval(self) -> Interval:
        """Returns the 95 % confidence interval of the fraction of predictions that the perturbation changes."""
        return binomial_interval(self.changed, self.examples)

    @property
    def verdict(self) -> str:
        """States in one sentence how many predictions the universal perturbation changes, compared with
        random noise.
        """
        noise = self.changed_by_noise / self.examples
        return (
            f"One perturbation changes {self.rate:.1%} of {self.examples} decisions; random noise of the same size "
            f"changes {noise:.1%}."
        )


@add_call_to_errors
@limit_time
def universal_perturbation(
    module: nn.Module,
    data: Any,
    *,
    eps: float,
    norm: Norm = "inf",
    bounds: tuple[float, float] = (0, 1),
    test: Any = None,
    iterations: int = 100,
    seed: int = 0,
    budget: float | None = None,
) -> UniversalPerturbation:
    """Finds one perturbation for all examples of ``data`` and counts the predictions that it changes on ``test``.

    Without ``test`` they are counted on the same examples, which is too optimistic. Other arguments are as in `attack`.

    ``budget`` is the number of seconds after which the call ends with an error that says how long it would take.

    Reference: [moosavi2017universal]; hypotheses as for `attack`.
    Cost: ``iterations`` gradients of 100 examples, and three forward passes over the test examples.

    >>> net, data = nn.Linear(2, 2), (torch.full((3, 2), 0.5), torch.tensor([0, 0, 1]))
    >>> universal_perturbation(net, data, eps=0.1, iterations=3).perturbation.shape
    torch.Size([2])
    """
    threat, steps = ThreatModel.of(eps, norm, bounds), check_integer("iterations", iterations)
    x, _ = examples_to_attack(module, data)
    seen = x if test is None else examples_to_attack(module, test)[0]
    check_bounds(x, threat)
    generator = torch.Generator().manual_seed(check_seed(seed))
    with AttackedModel(module).attack_mode() as classifier:
        decided, v = classifier.all_scores(x).argmax(1), torch.zeros_like(x[:1])
        # No bounds on the perturbation itself, because bounds apply to perturbed inputs.
        whole = ThreatModel(threat.eps, threat.norm, -torch.inf, torch.inf)
        for k in with_progress_bar(range(steps), "steps of the attack"):
            pick = torch.randperm(len(x), generator=generator)[:BATCH_SIZE]
            moved = (x[pick] + v).clamp(threat.low, threat.high)
            _, gradient, _ = classifier.slope(moved, decided[pick], dlr_loss)
            step = 0.25 * threat.eps * (1 - k / steps)
            v = whole.project(torch.zeros_like(v), v + step * threat.steepest(gradient.mean(0, keepdim=True)))  # (1)
        noise = threat.eps * threat.steepest(torch.randn(v.shape, generator=generator).to(x))
        before = classifier.all_scores(seen).argmax(1)
        counts = [int((classifier.all_scores((seen + d).clamp(threat.low, threat.high)).argmax(1) != before).sum())
                  for d in (v, noise)]  # fmt: skip
    return UniversalPerturbation(v[0], counts[0], counts[1], len(seen), threat)
