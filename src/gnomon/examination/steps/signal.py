"""Signals on their way forward and gradients on their way back: measured at every layer, with theory beside them."""

from statistics import median
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import GnomonError
from gnomon.core.inputs import take
from gnomon.examination.chain import chain
from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.geometry import LayerSignal, MeanField, Signal, signal
from gnomon.kernels import Limit, layers
from gnomon.report import COLORS, Definition, Hypothesis, Section, Status, Value, figure

EXAMPLES, THEORY = 64, 24


class Signals(AbstractStep):
    """Per-layer mean squares, gradients, correlations, dead units; which layer is at fault, and the cure."""

    key, title, share = "signal", "Signal propagation", 0.1
    question = "Does every layer see the inputs, and does every layer see the gradient?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        x = subject.train.some(EXAMPLES, context.seed).x
        found = signal(subject.module, x, seed=context.seed)
        theory, why = _theory(subject, x, context)
        seen = tuple(v for v in found.layers if v.weighted)
        own = [finding for finding in found.findings if finding.kind != "input-scale"]  # those belong to the data
        status: Status = "fault" if own else "good"
        answer = own[0].what if own else found.verdict
        hypothesis = Hypothesis("theory can follow the signal through this module", bool(theory), why)
        shown = [_drawn(seen, theory)] if len(seen) > 1 else []
        values = _values(seen, found)
        field = chain(subject.module, context.facts.get("program"))
        if field is not None:
            shown.append(_map(field))
            values += _scales(field)
        section = Section(self.key, self.title, self.question, answer, status, values, tuple(shown), _definitions(),
                          (hypothesis,), data=found.to_dict())  # fmt: skip
        return Outcome(section, {"signal": found, "signal faults": own, "weight variance": _variance(subject.module)})


def _variance(module: nn.Module) -> float | None:
    """fan_in times the mean square of the weights, in the middle of all layers: the sigma_w^2 of theory."""
    weights = [p.detach() for name, p in module.named_parameters() if p.dim() > 1 and name.endswith("weight")]
    found = [float(w.double().square().mean()) * w[0].numel() for w in weights]
    return median(found) if found else None


def _theory(subject: Subject, x: Any, context: Context) -> tuple[dict[str, float], str]:
    """Mean squares by module path, for the law of the present weights."""
    if context.facts.get("program") is None:
        return {}, str(context.facts.get("unread", ""))
    some = take(x, slice(0, THEORY))
    assert isinstance(some, Tensor)
    try:
        found = layers(Limit(subject.module, init="measured"), some.double())
    except GnomonError as reason:
        return {}, str(reason)
    return {v.where: v.second_moment for v in found}, "the law is that of the present weights"


def _values(seen: tuple[LayerSignal, ...], found: Signal) -> tuple[Value, ...]:
    values = [Value("layers with weights", len(seen)), Value("examples", found.examples)]
    if len(seen) > 1:
        values += [
            Value("signal, last layer over first", _ratio(seen[-1].activation, seen[0].activation)),
            Value("relative gradient, first layer over last", _ratio(seen[0].update, seen[-1].update)),
        ]
        for place, layer in (("first", seen[0]), ("last", seen[-1])):
            if layer.correlation is not None:
                name = f"correlation of different inputs, {place} layer"
                values.append(Value(name, layer.correlation, meaning="1: cannot be told apart"))
    dead = max((v for v in found.layers if v.dead), key=lambda v: v.dead or 0, default=None)
    told = "none" if dead is None else f"{dead.dead:.1%} of '{dead.name}'"
    return (*values, Value("dead units, worst layer", told, meaning="the same for every probe example"))


def _scales(field: MeanField) -> tuple[Value, ...]:
    at = f"weight std {field.weight_std:.3g}, bias std {field.bias_std:.2g}"
    return (
        Value("phase, by mean-field theory", field.phase, meaning=at),
        Value("chi", field.chi, meaning="factor of the squared gradient per layer; 1 is critical"),
        Value("depth scale of correlations", field.xi_c, unit="layers"),
        Value("depth scale of gradients", field.xi_gradient, unit="layers"),
    )


def _map(field: MeanField):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        places = [i / 40 for i in range(41)]
        axes.plot(places, [field.correlation(c) for c in places], color=COLORS["third"], label="after a layer")
        axes.plot([0, 1], [0, 1], linestyle=":", color=COLORS["second"], label="no change")
        axes.set(xlabel="correlation of two inputs before a layer", ylabel="after", xlim=(0, 1), ylim=(0, 1.02))
        axes.legend()

    words = "Above the dotted line inputs grow alike with depth, below it they grow apart."
    return figure("correlations", words, draw, size=(4.2, 3.2))


def _ratio(a: float | None, b: float | None) -> float | str:
    return "unknown" if a is None or b is None else a / max(b, 1e-300)


def _drawn(seen: tuple[LayerSignal, ...], theory: dict[str, float]):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        places = list(range(1, len(seen) + 1))
        measured = [max(v.activation or 0, 1e-300) for v in seen]
        axes[0].plot(places, measured, "o", markersize=4, color=COLORS["first"], label="measured")
        told = [(i, theory[v.name]) for i, v in zip(places, seen, strict=True) if theory.get(v.name, 0) > 0]
        if told:
            axes[0].plot([i for i, _ in told], [q for _, q in told], color=COLORS["third"], label="theory")
        axes[0].set(yscale="log", xlabel="layer with weights", title="signal: mean of h²")
        axes[0].legend()
        updates = [max(v.update or 0, 1e-300) for v in seen]
        axes[1].plot(places, updates, "o-", markersize=4, color=COLORS["second"])
        axes[1].set(yscale="log", xlabel="layer with weights", title="gradient: |∂L/∂W|² / |W|²")

    words = "Flat lines mean that every layer learns; a fall over many decades means that one end does not."
    return figure("signal", words, draw, parts=2)


def _definitions() -> tuple[Definition, ...]:
    return (
        Definition("q = E[h²]", "mean square of a layer's outputs", "poole2016exponential"),
        Definition(
            "χ = σ_w² E[φ′(u)²],  C(c) = (σ_w² E[φ(u)φ(v)] + σ_b²) / q*", "mean-field maps", "poole2016exponential"
        ),
        Definition("u = |∂L/∂W|² / |W|²", "relative gradient of a layer's weights", "schoenholz2017deep"),
    )
