"""Runs one theory claim: compares its prediction with the measurement, then with a control experiment that must
disagree.

>>> from gnomon.lab.claim import Claim, Premise, Source
>>> from gnomon.lab.judges import equals
>>> claim = Claim(
...     id="doubling", title="A sum with itself is twice the number", equation="x + x = 2 x", source=Source("derived"),
...     premises=(Premise("two terms"),), parameters={"x": 3.0}, judge=equals(rounding=2),
...     predicted=lambda x: 2 * x, observed=lambda x: x + x, control=lambda x: x + x + 1)
>>> outcome = run_claim(claim)
>>> outcome.judgment.verdict.value, outcome.control.verdict.value, outcome.as_stated
('holds', 'refuted', True)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import torch

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_seed
from gnomon.core.machine.clock import Clock
from gnomon.core.modules.preserve import seed_generators
from gnomon.core.results import Finding, Hypothesis, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON, to_json_value
from gnomon.findings import theory as kinds
from gnomon.lab.axes import name_axes
from gnomon.lab.claim import Claim, Scale, parameters_of
from gnomon.lab.verdict import Judgment, Verdict

SEED_LIMIT = 2**48
"""Seeds are below this, so that claims may number their repetitions by multiples of the seed, within 63 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ClaimOutcome(Result):
    """Result of one run of a theory claim: the verdicts on the measurement and on the control experiment, and the
    parameters.
    """

    id: str
    expected: str
    judgment: Judgment
    control: Judgment
    premises: tuple[Hypothesis, ...]
    parameters: Mapping[str, Any]
    seconds: float = 0.0
    title: str = field(default="", metadata=HIDDEN_IN_JSON)

    @property
    def violated_premises(self) -> tuple[str, ...]:
        """Returns the assumptions that the parameters violate; the claim says nothing if there are any."""
        return tuple(p.statement for p in self.premises if p.holds is False)

    @property
    def as_stated(self) -> bool:
        """Checks whether the verdict is the expected one, the control experiment fails as it should, and all
        assumptions hold.
        """
        expected = self.judgment.verdict.value == self.expected and self.control.verdict is not Verdict.HOLDS
        return expected and not self.violated_premises

    @property
    def verdict(self) -> str:
        """States the verdict and its reason, and first whether the parameters violate an assumption."""
        verdict = self.judgment.verdict.value
        outside = f"outside its hypotheses ({'; '.join(self.violated_premises)}), so the claim does not apply"
        words = f"{outside}. Result anyway: {verdict}" if self.violated_premises else verdict
        return f"{self.title}: {words}. {self.judgment.reason}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a control experiment that should fail but passes, or an unexpected verdict; nothing if an assumption
        is violated.
        """
        found: list[Finding] = []
        if self.violated_premises:
            return ()
        if self.control.verdict is Verdict.HOLDS:
            found.append(Finding(kinds.CONTROL_HOLDS, self.id))
        if self.judgment.verdict.value != self.expected:
            said = {"verdict": self.judgment.verdict.value, "expected": self.expected, "reason": self.judgment.reason}
            found.append(Finding(kinds.UNEXPECTED_VERDICT, self.id, said))
        return tuple(found)

    def plots(self) -> tuple[Plot, ...]:
        """Plots prediction and measurement together, and the same for the control experiment."""
        return (
            tuple(j.plot for j in (self.judgment, self.control) if j.plot is not None)
            or super(ClaimOutcome, self).plots()
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the run of a claim as plain values for JSON: verdict, reason, numbers, control, assumptions,
        parameters.
        """
        return {
            "id": self.id,
            "verdict": self.judgment.verdict.value,
            "expected": self.expected,
            "as_stated": self.as_stated,
            "reason": self.judgment.reason,
            "reached": self.judgment.reached,
            "values": [value.to_dict() for value in self.judgment.values],
            "axes": None if self.judgment.plot is None else [self.judgment.plot.x.label, self.judgment.plot.y.label],
            "control": {"verdict": self.control.verdict.value, "reason": self.control.reason},
            "premises": [{"statement": p.statement, "holds": p.holds} for p in self.premises],
            "parameters": to_json_value(self.parameters),
            "seconds": round(self.seconds, 3),
        }


@add_call_to_errors
def run_claim(
    claim: Claim,
    settings: Mapping[str, Any] | None = None,
    *,
    scale: Scale = "smoke",
    seed: int = 0,
    clock: Clock = perf_counter,
) -> ClaimOutcome:
    """Runs a theory claim at a scale (short or full) and random seed, with parameters that the user may choose.

    Torch's random numbers start from the seed and are put back afterwards, so that a run depends on its seed alone.
    Hypotheses: as the claim states them; the outcome says which of them the parameters leave.
    Cost: about a second at smoke scale; the claim says what full scale takes.

    >>> from gnomon.lab.claim import Premise, Source
    >>> from gnomon.lab.judges import bounded_by
    >>> claim = Claim(
    ...     id="square", title="A square is not negative", equation="x^2 >= 0", source=Source("derived"),
    ...     premises=(Premise("x is real"),), parameters={"n": 5}, judge=bounded_by("below"),
    ...     predicted=lambda n: [0.0] * n, observed=lambda n: torch.randn(n) ** 2,
    ...     control=lambda n: -(torch.randn(n) ** 2))
    >>> run_claim(claim, {"n": "9"}, seed=3).parameters
    {'n': 9, 'seed': 3}
    """
    start = clock()
    if not 0 <= check_seed(seed) < SEED_LIMIT:
        raise out_of_range_error("seed", "a whole number from 0 to 2^48", seed)
    chosen = claim.settings(settings or {}, scale) | {"seed": int(seed)}
    with torch.random.fork_rng(devices=[]):
        predicted = _call(claim.predicted, chosen)
        judgment = _judge(claim, predicted, _call(claim.observed, chosen), chosen)
        control = _judge(claim, predicted, _call(claim.control, chosen), chosen)
    premises = tuple(Hypothesis(p.statement, p.check(chosen), "decided from the parameters") for p in claim.premises)
    return ClaimOutcome(claim.id, claim.expected, judgment, control, premises, chosen, clock() - start, claim.title)


def _call(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    seed_generators(parameters["seed"])
    return function(**parameters_of(function, parameters))


def _judge(claim: Claim, predicted: Any, observed: Any, parameters: Mapping[str, Any]) -> Judgment:
    judgment = claim.judge(predicted, observed)
    if claim.loose_because:
        judgment = replace(judgment, reason=f"{judgment.reason} The bound is loose: {claim.loose_because}")
    plot = judgment.plot if claim.plot is None else claim.plot(predicted, observed)
    return judgment if plot is None else replace(judgment, plot=name_axes(plot, claim.axes, parameters))
