"""Signals on their way forward and gradients on their way back: measured at every layer, with theory beside them."""

from math import log10
from statistics import median
from typing import Any

from torch import Tensor

from gnomon.core.errors import GnomonError, NotFiniteError
from gnomon.core.inputs import take
from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.geometry import Layer, Signal, signal
from gnomon.kernels import Limit, layers
from gnomon.report import COLORS, Definition, Hypothesis, Section, Status, Value, figure

LOST = 1e-6
"""Ratio of squared gradient norms between the ends of a network beyond which one end does not learn."""
ALONE = 1e-2  # a layer that passes on this share of what the others do is at fault alone
THEORY = 24  # examples


class Signals(AbstractStep):
    """Per-layer second moments, gradients, correlations, dead units."""

    key, title, stage, share = "signal", "Signal propagation", "before", 0.1
    question = "Does every layer see the inputs, and does every layer see the gradient?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        x = subject.train.some(64, context.seed).x
        try:
            found = signal(subject.module, x, seed=context.seed)
        except NotFiniteError as reason:
            cure = "Initialize with smaller weights, or add normalization layers"
            section = Section(self.key, self.title, self.question, str(reason), "fault")
            return Outcome(section, {"signal fault": {"because": str(reason), "cure": cure}})
        theory, why = _theory(subject, x, context)
        seen = found.weighted
        zero = found.zero if found.blocked else ()
        fault = None if zero else diagnose(seen)
        dead = {v.name: v.dead for v in found.layers if v.weight_std is None and v.dead > 0}
        values = _values(seen, found, dead)
        status: Status = "fault" if zero or fault or any(share > 0.5 for share in dead.values()) else "good"
        answer = found.verdict if fault is None else f"{fault['because'][0].upper()}{fault['because'][1:]}."
        if zero:
            answer = f"Layer '{zero[0]}' has only zero weights: neither signal nor gradient passes it."
        hypothesis = Hypothesis("theory can follow the signal through this module", bool(theory), why)
        shown = (_drawn(seen, theory),) if len(seen) > 1 else ()
        section = Section(self.key, self.title, self.question, answer, status, values, shown, _definitions(),
                          (hypothesis,), data=found.to_dict())  # fmt: skip
        facts = {"signal": found, "zero layers": zero, "signal fault": fault, "dead units": dead}
        return Outcome(section, facts)


def diagnose(seen: tuple[Layer, ...]) -> dict[str, str] | None:
    """Where the gradient is lost or explodes, and the cure; None where it is neither.

    Squared norms are compared, over all units of a layer, so that its width does not matter.
    """
    norms = [v.gradient * v.units for v in seen]
    if len(seen) < 3 or norms[-1] <= 0:
        return None
    ratio = norms[0] / norms[-1]
    if LOST < ratio < 1 / LOST:
        return None
    factors = [a / b for a, b in zip(norms, norms[1:], strict=False) if a > 0 and b > 0]
    if not factors:
        return None
    typical = median(factors)
    least = min(range(len(factors)), key=lambda i: factors[i])
    if ratio < 1 and factors[least] < ALONE * typical:
        name, share = seen[least + 1].name, factors[least]
        because = f"layer '{name}' passes on {share:.1e} of the gradient's squared norm, the others {typical:.2g}"
        return {"because": because, "cure": f"Initialize layer '{name}' like the others, or normalize before it"}
    fate = "vanishes" if ratio < 1 else "explodes"
    now = median(v.weight_std for v in seen[1:-1] if v.weight_std is not None)
    better = now / typical**0.5
    because = (
        f"the gradient {fate}: each of {len(seen)} layers multiplies its squared norm by {typical:.2g} on its way, "
        f"{'1e' + format(log10(max(ratio, 1e-300)), '+.0f')} in all"
    )
    cure = (
        f"Initialize with weight std {better:.2g} / sqrt(fan_in) instead of {now:.2g} / sqrt(fan_in), "
        "or add normalization or residual connections"
    )
    return {"because": because, "cure": cure}


def _theory(subject: Subject, x: Any, context: Context) -> tuple[dict[str, float], str]:
    """Second moments by module path, for the law of the present weights."""
    if context.facts.get("program") is None:
        return {}, str(context.facts.get("unread", ""))
    some = take(x, slice(0, THEORY))
    assert isinstance(some, Tensor)
    try:
        found = layers(Limit(subject.module, init="measured"), some.double())
    except GnomonError as reason:
        return {}, str(reason)
    return {v.where: v.second_moment for v in found}, "the law is that of the present weights"


def _values(seen: tuple[Layer, ...], found: Signal, dead: dict[str, float]) -> tuple[Value, ...]:
    values = [Value("layers with weights", len(seen))]
    if len(seen) > 1:
        last = max(seen[-1].gradient * seen[-1].units, 1e-300)
        values += [
            Value("signal, last layer over first", seen[-1].second_moment / max(seen[0].second_moment, 1e-300)),
            Value("gradient, first layer over last", seen[0].gradient * seen[0].units / last, meaning="squared norms"),
            Value("correlation of different inputs, first layer", seen[0].correlation),
            Value(
                "correlation of different inputs, last layer", seen[-1].correlation, meaning="1: cannot be told apart"
            ),
        ]
    worst = max(dead.items(), key=lambda item: item[1], default=None)
    told = "none" if worst is None else f"{worst[1]:.1%} of '{worst[0]}'"
    return (*values, Value("dead units, worst layer", told, meaning="zero on every probe example"))


def _drawn(seen: tuple[Layer, ...], theory: dict[str, float]):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        places = list(range(1, len(seen) + 1))
        axes[0].plot(
            places,
            [max(v.second_moment, 1e-300) for v in seen],
            "o",
            markersize=4,
            color=COLORS["first"],
            label="measured",
        )
        told = [(i, theory[v.name]) for i, v in zip(places, seen, strict=True) if theory.get(v.name, 0) > 0]
        if told:
            axes[0].plot([i for i, _ in told], [q for _, q in told], color=COLORS["third"], label="theory")
        axes[0].set(yscale="log", xlabel="layer", title="signal: mean of h²")
        axes[0].legend()
        axes[1].plot(
            places, [max(v.gradient * v.units, 1e-300) for v in seen], "o-", markersize=4, color=COLORS["second"]
        )
        axes[1].set(yscale="log", xlabel="layer", title="gradient: squared norm")

    return figure(
        "signal",
        "Flat lines mean that every layer learns; a fall over many decades means that one end does not.",
        draw,
        parts=2,
    )


def _definitions() -> tuple[Definition, ...]:
    return (
        Definition("q_l = E[h_l²]", "mean square of a layer's outputs", "poole2016exponential"),
        Definition("|δ_l|² = |∂⟨v, f⟩/∂h_l|²", "gradient of a random readout v", "schoenholz2017deep"),
    )
