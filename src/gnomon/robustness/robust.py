"""Robust accuracy: the fraction of examples that stay correctly classified under all of several attacks.

    A(eps) = share { i : f(z) = y_i for all z in B(x_i) }  <=  share { i : no attack changed the decision }    (1)

Attacks run from the cheapest to the most expensive, each on the examples that are still unbroken. Every point that is
returned is checked again: it lies in B(x_i), and the model as the user calls it, in batches of the user's size, decides
wrongly.

Reference: [croce2020reliable].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.metrics import binomial_interval, predicted_classes
from gnomon.core.modules.saved_bytes import bytes_saved_for_backward, examples_that_fit
from gnomon.core.results import Axis, Bars, Finding, Hypothesis, Interval, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import decisions as kinds
from gnomon.robustness.attacks.apgd import APGD, TargetedAPGD
from gnomon.robustness.attacks.attack_order import MostVulnerableFirst, SampleFirst
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, margin_loss
from gnomon.robustness.attacks.gradient import FGSM, PGD
from gnomon.robustness.attacks.run import BOUND_TOLERANCE, examples_to_attack
from gnomon.robustness.attacks.shrinking import ShrinkingSteps
from gnomon.robustness.attacks.square import SquareAttack
from gnomon.robustness.attacks.threat import Norm, ThreatModel
from gnomon.robustness.preflight import (
    FIXES,
    GRADIENT_PREMISE,
    PROBE_EXAMPLES,
    check_attack_assumptions,
    check_gradients,
)

__all__ = ["ENSEMBLE", "THOROUGH_ATTACKS", "RobustAccuracy", "robust_accuracy"]

ENSEMBLE: tuple[AbstractAttack, ...] = (
    FGSM(), PGD(10, 0.25), APGD(40), MostVulnerableFirst(ShrinkingSteps(), 100),
    MostVulnerableFirst(TargetedAPGD(40, 4)), MostVulnerableFirst(TargetedAPGD(60), 20),
    SampleFirst(SquareAttack(1000), rest=(SquareAttack(5000),)),
)  # fmt: skip
"""The default attacks, the cheapest first; the expensive ones stop when a group of examples resists."""
THOROUGH_ATTACKS: tuple[AbstractAttack, ...] = (
    FGSM(), PGD(10, 0.25), APGD(100), ShrinkingSteps(100, 40), TargetedAPGD(100), SquareAttack(5000),
)  # fmt: skip
"""All attacks on all examples: tens of times more expensive, for a final result."""
MAX_GRADIENT_FREE_SHARE = 0.05
"""Share of examples that an attack without gradients may break after attacks with gradients; above it, gradients are
masked."""
MIN_GRADIENT_FREE_EXAMPLES = 5
"""Number of examples that makes such a share meaningful."""


@dataclass(frozen=True, slots=True, eq=False)
class RobustAccuracy(Result):
    """Result: which examples no attack broke, how many each attack broke, and the assumptions of the measurement.

    ``examples`` holds for each input the point that broke it, or the input itself. ``complete`` is false if the budget
    ended the attacks early: the fraction is an upper bound as well, but a looser one.

    >>> robust, threat = torch.tensor([True, True, True, False]), ThreatModel(0.1, "inf", 0.0, 1.0)
    >>> found = RobustAccuracy(robust, torch.zeros(4, 2), 1.0, (("PGD", 1),), threat, ())
    >>> found.value
    0.75
    >>> print(found.verdict)
    75.0% of 4 examples resist all attacks (largest change of an entry at most 0.1), 100.0% are classified correctly
    without an attack.
    """

    robust: Bool[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    examples: Float[Tensor, "n ..."] = field(metadata=HIDDEN_IN_JSON)
    clean: float
    broken: tuple[tuple[str, int], ...]
    threat: ThreatModel
    premises: tuple[Hypothesis, ...]
    complete: bool = True

    @property
    def value(self) -> float:
        """Returns the fraction of examples that no attack broke, an upper bound of robust accuracy."""
        return float(self.robust.double().mean())

    @property
    def interval(self) -> Interval:
        """Returns the 95 % confidence interval of the robust accuracy for new examples from the same distribution."""
        return binomial_interval(int(self.robust.sum()), len(self.robust))

    @property
    def trusted(self) -> bool:
        """Returns whether gradients were usable by the attacks, so that the robust accuracy is reliable."""
        return not any(f.kind == "gradient-masking" for f in self.findings)

    @property
    def verdict(self) -> str:
        """States in one sentence which fraction of examples resisted all attacks."""
        what = f"{self.value:.1%} of {len(self.robust)} examples resist all attacks ({self.threat})"
        tail = "" if self.trusted else "; this is not reliable because gradients are masked"
        tail += "" if self.complete else "; the budget ended the attacks early, so more time may break more examples"
        return f"{what}, {self.clean:.1%} are classified correctly without an attack{tail}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if gradients are masked, which makes the robust accuracy unreliable."""
        reasons = [p.checked for p in self.premises if p.statement == GRADIENT_PREMISE and p.holds is False]
        blind = sum(count for name, count in self.broken if name == SquareAttack.name)
        if blind >= max(MIN_GRADIENT_FREE_EXAMPLES, MAX_GRADIENT_FREE_SHARE * len(self.robust)):
            reasons.append(f"an attack without gradients broke {blind} examples that resisted all other attacks")
        if not reasons:
            return ()
        evidence = (Value("broken without gradients", blind), Value("unbroken", self.value, obtained="upper bound"))
        return (Finding(kinds.GRADIENT_MASKING, "", {"reasons": "; ".join(reasons).capitalize()}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of correctly classified examples before any attack and after each attack."""
        n, left = len(self.robust), round(self.clean * len(self.robust))
        labels, values = ["no attack"], [left / n]
        for name, count in self.broken:
            left -= count
            labels.append(f"and {name}")
            values.append(left / n)
        return (
            Plot(
                "Robust accuracy",
                (Bars("share of examples", labels, values),),
                Axis("share of examples", limits=(0, 1)),
                caption=self.verdict,
            ),
        )


@add_call_to_errors
@limit_time
def robust_accuracy(
    module: nn.Module,
    data: Any,
    *,
    eps: float,
    norm: Norm = "inf",
    bounds: tuple[float, float] = (0, 1),
    attacks: Sequence[AbstractAttack] = ENSEMBLE,
    batch: int | None = None,
    seed: int = 0,
    progress: Callable[[str, int], None] | None = None,
    budget: float | None = None,
) -> RobustAccuracy:
    """Measures the fraction of examples that no attack breaks within eps: an upper bound of robust accuracy.

    Args:
        module: a classifier of one input tensor, read in eval mode and left as it was.
        data: a pair (inputs, classes), a ``Dataset``, a ``DataLoader``, ...
        eps: how far an example may move.
        norm: "inf", the largest change of an entry, or "2", the Euclidean length.
        bounds: the smallest and the largest value that an input may have.
        attacks: attacks to run, in this order.
        batch: batch size with which the model will be used; 256 by default.
        seed: random seed for random starts.
        progress: called with (name of an attack, examples that are left) before each attack.
        budget: seconds after which the attacks end with what they have broken until then; an error if no attack has
            begun.

    Raises an error if an assumption of `preflight` fails; masked gradients become a finding instead.

    Hypotheses: as for `preflight`; what no attack broke is not proven robust, see `robust_radius`.
    Reference: [croce2020reliable].
    Cost: about 50 gradients of every example; 160 to 1,100 in each of three attacks of the most vulnerable examples, in
    groups of 20 to 100 until a group resists; 1,000 forward passes of 50 random ones, and if these break one, 5,000 of
    all that are left. `THOROUGH_ATTACKS` attacks every example.

    >>> net, x = nn.Linear(2, 2, bias=False), torch.tensor([[0.0, 1.0], [0.6, 0.4]])
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> data = x, torch.tensor([1, 0])
    >>> robust_accuracy(net, data, eps=0.2, norm="inf", bounds=(0, 1), attacks=ENSEMBLE[:3]).value  # margins 1, 0.2
    0.5
    """
    threat = ThreatModel.of(eps, norm, bounds)
    x, y = examples_to_attack(module, data)
    batch = DEFAULT_BATCH_SIZE if batch is None else check_integer("batch", batch)
    generator = torch.Generator().manual_seed(check_seed(seed))
    check = check_attack_assumptions(module, x, y, threat)
    for premise in check.failed_assumptions:
        if premise.statement != GRADIENT_PREMISE:
            fix = FIXES[premise.statement].removesuffix(".")
            raise InputError(premise.checked, accepted=premise.statement, fix=fix)
    masked, partial = check.gradients_are_masked, budget is not None
    with AttackedModel(module, through=masked, keeps_partial_results=partial).attack_mode() as classifier:
        robust = _right(classifier, x, y, batch)
        search = _Search(classifier, x, y, threat, generator, robust.clone(), batch)
        if masked and bool(robust.any()):
            seen = robust.nonzero()[:PROBE_EXAMPLES, 0]
            search.blind = check_gradients(classifier, x[seen], y[seen], threat).holds is False
        broken = [count for method in attacks for count in search.run(method, progress)]
    clean = float(robust.double().mean())
    complete = not classifier.time_is_up
    return RobustAccuracy(search.robust, search.found, clean, tuple(broken), threat, check.premises, complete)


DEFAULT_BATCH_SIZE = 256
"""Examples in a batch of the final classification if none is given."""
MAX_EXAMPLES_PER_ATTACK = 500
"""Examples that are attacked at once; fewer if their graphs would take half of the free memory."""


class _Search:
    """State of a robust accuracy measurement: which examples are unbroken, and the most vulnerable point found for
    each.
    """

    def __init__(self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator,
                 robust: Tensor, batch: int) -> None:  # fmt: skip
        self.classifier, self.x, self.y, self.threat, self.generator = classifier, x, y, threat, generator
        self.robust, self.found, self.batch, self.blind = robust, x.clone(), batch, False
        self.near, self.least = x.clone(), torch.full((len(x),), torch.inf).to(x)
        self.piece = examples_that_fit(
            bytes_saved_for_backward(lambda: classifier.scores(x[:1].detach().requires_grad_()), classifier.module),
            MAX_EXAMPLES_PER_ATTACK,
        )

    def run(self, method: AbstractAttack, progress: Callable[[str, int], None] | None) -> Iterator[tuple[str, int]]:
        """Runs an attack on the unbroken examples; yields the name of each attack and the number of examples it
        broke.
        """
        left = self.robust.nonzero()[:, 0]
        if not len(left) or self.classifier.time_is_up:
            return
        if progress is not None:
            progress(method.name, len(left))
        if isinstance(method, SampleFirst):
            if not self.blind:
                few = left[torch.randperm(len(left), generator=self.generator)[: method.group]]
                broken = self._try(method.method, few.split(self.piece), stops=False)
                yield method.name, broken
                if not broken:
                    return
            for other in method.rest:
                yield from self.run(other, progress)
        elif isinstance(method, MostVulnerableFirst) and not self.blind:
            order = torch.arange(len(left))
            with self.classifier.until_time_is_up():
                order = self._order(left)
            groups = left[order].split(min(method.group, self.piece))
            yield method.name, self._try(method.method, groups, stops=True)
        else:
            yield method.name, self._try(method, left.split(self.piece), stops=False)

    def _try(self, method: AbstractAttack, groups: Sequence[Tensor], *, stops: bool) -> int:
        """Runs an attack on one group of examples after another; returns the number of examples it broke."""
        tried, wrong = self.found.clone(), [groups[0][:0]]
        with self.classifier.until_time_is_up():
            for part in with_progress_bar(groups, f"groups of examples ({method.name})"):
                z = method.run(self.classifier, self.x[part], self.y[part], self.threat, self.generator)
                tried[part] = self.threat.project(self.x[part], z)
                wrong.append(part[self._wrong(part, tried[part])])
                if (stops and not len(wrong[-1])) or self.classifier.time_is_up:
                    break
        broken = torch.cat(wrong) if not self.classifier.time_is_up else self.robust.nonzero()[:, 0]
        again = ~_right(self.classifier, tried, self.y, self.batch) & _project_to_allowed(self.x, tried, self.threat)
        broken = broken[again[broken]]
        self.robust[broken], self.found[broken] = False, tried[broken]
        return len(broken)

    def _wrong(self, part: Tensor, z: Tensor) -> Tensor:
        """Returns the examples that the points z make misclassified; stores points closer to misclassification than
        before.
        """
        f, y = self.classifier.all_scores(z), self.y[part]
        value = margin_loss(f, y)
        nearer = value < self.least[part]
        self.near[part[nearer]], self.least[part[nearer]] = z[nearer], value[nearer]
        return predicted_classes(f) != y

    def _order(self, left: Tensor) -> Tensor:
        """Returns the unbroken examples, sorted by their estimated distance to the decision boundary."""
        away = []
        for part in left.split(self.piece):
            value, gradient, _ = self.classifier.slope(self.near[part], self.y[part], margin_loss)
            away.append(value / self.threat.dual(gradient).clamp_min(1e-30))
        return torch.cat(away).argsort()


@torch.no_grad()
def _right(classifier: AttackedModel, x: Tensor, y: Tensor, batch: int) -> Tensor:
    """Returns whether each example is correctly classified, with batches of the user's size."""
    return torch.cat([classifier.scores(part) for part in x.split(batch)]).argmax(1) == y


def _project_to_allowed(x: Tensor, z: Tensor, threat: ThreatModel) -> Tensor:
    flat, slack = z.flatten(1), BOUND_TOLERANCE * (threat.high - threat.low)
    inside = (flat.amin(1) >= threat.low - slack) & (flat.amax(1) <= threat.high + slack)
    return inside & (threat.size(z - x) <= threat.eps * (1 + BOUND_TOLERANCE) + slack)
