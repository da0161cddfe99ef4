"""Checks the assumptions of a robustness measurement before it starts.

A failed attack means nothing if it could not have worked: if gradients are zero or wrong, if decisions depend on chance
or on the batch, or if inputs have another scale than the model expects. Each assumption is measured:

    gradient     g = d margin / dx is not zero, and (m(x - h s) - m(x)) / (-h |g|_*) is near 1 for small h      (1)

Reference: [carlini2019evaluating], [athalye2018obfuscated].
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.metrics import binomial_interval, predicted_classes
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Hypothesis, Plot, Result, Value
from gnomon.findings import decisions as kinds
from gnomon.robustness.attacks.base import AttackedModel, margin_loss
from gnomon.robustness.attacks.run import BOUND_TOLERANCE, examples_to_attack
from gnomon.robustness.attacks.threat import Norm, ThreatModel

__all__ = [
    "GRADIENT_PREMISE",
    "PROBE_EXAMPLES",
    "Preflight",
    "check_attack_assumptions",
    "check_gradients",
    "preflight",
]

PROBE_EXAMPLES = 200
"""Examples on which assumptions about gradients and batches are checked."""
SINGLE_EXAMPLES = 16
"""Examples that are classified alone as well as in a batch."""
MAX_ZERO_GRADIENT_SHARE = 0.02
"""Share of examples with zero gradient above which gradients count as masked."""
MIN_PREDICTED_CHANGE = 0.3
"""Median share of the predicted change that must happen over a step of eps / 50; 1 for a smooth function."""
MIN_FILLED_SHARE = 0.02
"""Share of the width of the bounds that the inputs must fill."""
SCORE_TOLERANCE = 1e-3
"""Difference between two computations of the scores that is allowed, relative to their spread."""
GRADIENT_PREMISE = "gradients of the model predict how its scores change"
"""The assumption that fails if gradients are masked."""


@dataclass(frozen=True, slots=True)
class Preflight(Result):
    """Result: the assumptions of a robustness measurement, whether each holds, and the evidence for each.

    >>> found = Preflight((Hypothesis(GRADIENT_PREMISE, False, "gradients are zero at 90% of the examples"),))
    >>> found.ready, found.gradients_are_masked
    (False, True)
    >>> print(found.verdict)
    A robustness measurement would not be reliable: gradients are zero at 90% of the examples.
    """

    premises: tuple[Hypothesis, ...]

    @property
    def failed_assumptions(self) -> tuple[Hypothesis, ...]:
        """Returns the assumptions of the robustness measurement that do not hold."""
        return tuple(p for p in self.premises if p.holds is False)

    @property
    def ready(self) -> bool:
        """Returns whether all assumptions of the robustness measurement hold."""
        return not self.failed_assumptions

    @property
    def gradients_are_masked(self) -> bool:
        """Returns whether gradients are masked (unusable), so that failed gradient attacks do not show robustness."""
        return any(p.statement == GRADIENT_PREMISE for p in self.failed_assumptions)

    @property
    def verdict(self) -> str:
        """States in one sentence whether a robustness measurement would be reliable."""
        if self.ready:
            return f"All {len(self.premises)} assumptions of an attack hold: robustness can be measured."
        return (
            "A robustness measurement would not be reliable: "
            + "; ".join(f"{p.checked}" for p in self.failed_assumptions)
            + "."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding for each assumption of the robustness measurement that does not hold."""
        return tuple(
            Finding(kinds.GRADIENT_MASKING if p.statement == GRADIENT_PREMISE else kinds.ROBUSTNESS_PREMISE, "",
                    {"reasons": p.checked.capitalize(), "advice": FIXES.get(p.statement, "Fix this before measuring.")},
                    (Value("premise", p.statement),))
            for p in self.failed_assumptions
        )  # fmt: skip

    def plots(self) -> tuple[Plot, ...]:
        """Plots one bar per assumption of the robustness measurement: 1 if it holds, 0 if it fails."""
        bars = Bars("holds", [p.statement for p in self.premises], [float(p.holds is not False) for p in self.premises])
        return (
            Plot(
                "Assumptions of an attack",
                (bars,),
                Axis("1: holds, 0: does not hold", limits=(0, 1)),
                caption=self.verdict,
            ),
        )


EVAL = "the model makes decisions in eval mode"
SAME = "the same input gives the same scores"
BATCH = "scores do not depend on the other examples of a batch"
INSIDE = "inputs lie within the bounds"
FILL = "inputs fill the bounds"
CHANCE = "clean accuracy is above chance"
FIXES = {
    GRADIENT_PREMISE: "Trust only attacks without gradients, or attack a model without the layer that masks them.",
    EVAL: "Call model.eval() first.",
    SAME: "Fix the random numbers inside the model, or measure their average.",
    BATCH: "Use eval mode, or layers that process each example separately.",
    INSIDE: "Move normalization into the model and pass raw inputs with their bounds.",
    FILL: "Pass the bounds of these inputs; scaling outside the model changes what eps means.",
    CHANCE: "Train the model, or check labels and preprocessing.",
}


@add_call_to_errors
def preflight(
    module: nn.Module, data: Any, *, eps: float, norm: Norm = "inf", bounds: tuple[float, float] = (0, 1)
) -> Preflight:
    """Checks the assumptions of `robust_accuracy`, such as eval mode and usable gradients, before any attack.

    Hypotheses: none.
    Reference: [carlini2019evaluating].
    Cost: two passes over the examples and a gradient of 200 of them.

    >>> net, x = nn.Linear(2, 2, bias=False), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> preflight(net, (x, torch.tensor([1, 0])), eps=0.1).ready
    True
    """
    threat = ThreatModel.of(eps, norm, bounds)
    return check_attack_assumptions(module, *examples_to_attack(module, data), threat)


def check_attack_assumptions(module: nn.Module, x: Tensor, y: Tensor, threat: ThreatModel) -> Preflight:
    """Checks the assumptions of a robustness measurement for examples in memory; see `preflight`.

    Cost: as `preflight`.

    >>> x, y = torch.rand(4, 1), torch.tensor([0, 1, 0, 1])
    >>> check_attack_assumptions(nn.Linear(1, 2), x, y, ThreatModel(0.1, "2", 0, 1)).premises[0].holds
    True
    """
    premises = [_inside(x, threat), _check_filled(x, threat), _eval(module, x)]
    with AttackedModel(module).attack_mode() as classifier:
        f = classifier.all_scores(x)
        if not bool(f.isfinite().all()):
            fix = "Look for NaN in the weights"
            raise InputError("the scores are not finite", accepted="finite scores", fix=fix)
        premises += [_same(classifier, x, f), _alone(classifier, x, f), _chance(f, y)]
        right = (f.argmax(1) == y).nonzero()[:PROBE_EXAMPLES, 0]
        if len(right):
            premises.append(check_gradients(classifier, x[right], y[right], threat))
    return Preflight(tuple(premises))


def _inside(x: Tensor, threat: ThreatModel) -> Hypothesis:
    low, high, slack = float(x.min()), float(x.max()), BOUND_TOLERANCE * (threat.high - threat.low)
    words = f"inputs range from {low:.4g} to {high:.4g}, the bounds are ({threat.low:g}, {threat.high:g})"
    return Hypothesis(INSIDE, low >= threat.low - slack and high <= threat.high + slack, words)


def _check_filled(x: Tensor, threat: ThreatModel) -> Hypothesis:
    share = float(x.max() - x.min()) / (threat.high - threat.low)
    return Hypothesis(
        FILL, share >= MIN_FILLED_SHARE or len(x) < 2, f"inputs fill {share:.2%} of the width of the bounds"
    )


def _eval(module: nn.Module, x: Tensor) -> Hypothesis:
    """Checks that the model is in eval mode, or that training mode does not change its scores."""
    if not any(part.training for part in module.modules()):
        return Hypothesis(EVAL, True, "the model is in eval mode")
    part, modes = x[:PROBE_EXAMPLES], [m.training for m in module.modules()]
    with preserve(module, grad=False):
        calm = AttackedModel(module).scores(part)
        for one, mode in zip(module.modules(), modes, strict=True):
            one.training = mode
        trained = AttackedModel(module).scores(part)
    moved = _differ(calm, trained)
    words = "the model is in training mode, which changes its scores" if moved else "training mode changes nothing"
    return Hypothesis(EVAL, not moved, words)


def _differ(a: Tensor, b: Tensor) -> bool:
    spread = float((a - a.mean(1, keepdim=True)).abs().mean()) + 1e-12
    return bool((a - b).abs().max() > SCORE_TOLERANCE * spread) if bool(b.isfinite().all()) else True


def _same(classifier: AttackedModel, x: Tensor, f: Tensor) -> Hypothesis:
    again = classifier.all_scores(x[:PROBE_EXAMPLES])
    differ = _differ(f[:PROBE_EXAMPLES], again)
    words = "the same input gives different scores the second time" if differ else "two passes agree"
    return Hypothesis(SAME, not differ, words)


@torch.no_grad()
def _alone(classifier: AttackedModel, x: Tensor, f: Tensor) -> Hypothesis:
    alone = torch.cat([classifier.scores(x[i : i + 1]) for i in range(min(SINGLE_EXAMPLES, len(x)))])
    differ = _differ(f[: len(alone)], alone)
    words = "an example has different scores alone and in a batch" if differ else "alone and in a batch agree"
    return Hypothesis(BATCH, not differ, words)


def _chance(f: Tensor, y: Tensor) -> Hypothesis:
    right, n, k = int((predicted_classes(f) == y).sum()), len(y), f.shape[1]
    above = right / n > 1 / k and (n < 20 or binomial_interval(right, n).low > 1 / k or right == n)
    return Hypothesis(CHANCE, above, f"clean accuracy is {right / n:.1%}, chance is {1 / k:.1%}")


def check_gradients(classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel) -> Hypothesis:
    """Checks that gradients of the margin are not zero and predict how the margin changes in a small step.

    See equation (1) of the module docstring.
    Cost: a gradient and a forward pass of the examples.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> with AttackedModel(net).attack_mode() as classifier:
    ...     check_gradients(classifier, torch.ones(1, 2), torch.tensor([0]), ThreatModel(0.1, "2", -9, 9)).holds
    True
    """
    value, gradient, _ = classifier.slope(x, y, margin_loss)
    size = threat.dual(gradient)
    zero = float((size <= 1e-12 * value.abs().clamp_min(1e-30)).double().mean())
    if zero > MAX_ZERO_GRADIENT_SHARE:
        return Hypothesis(GRADIENT_PREMISE, False, f"gradients are zero at {zero:.0%} of the examples")
    h = threat.eps / 50
    moved = (x - h * threat.steepest(gradient)).clamp(threat.low, threat.high)
    foretold = (gradient * (moved - x)).flatten(1).sum(1)
    ratio = (margin_loss(classifier.all_scores(moved), y) - value) / torch.where(foretold == 0, -torch.inf, foretold)
    happened = float(ratio.median())
    words = f"a small step changes the margin by {happened:.0%} of what the gradient predicts"
    return Hypothesis(GRADIENT_PREMISE, happened >= MIN_PREDICTED_CHANGE, words)  # (1)
