"""Signals on their way forward and gradients on their way back: measured at every layer, with theory beside them."""

from dataclasses import replace
from math import nan
from statistics import median
from typing import Any

from torch import Tensor, nn

from gnomon.checks import signal
from gnomon.checks.network.chain import chain
from gnomon.checks.network.layer import LayerSignal
from gnomon.checks.network.meanfield import MeanField
from gnomon.checks.network.settled import settled
from gnomon.checks.network.signal import Signal
from gnomon.core.errors import GnomonError
from gnomon.core.inputs.arguments import take
from gnomon.core.results import Axis, Definition, Finding, Hypothesis, Line, Plot, Scatter, Value
from gnomon.examination.step import AbstractStep, Context, Products, StepResult, plainly
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import needs
from gnomon.kernels import Limit, layers
from gnomon.kernels.ready import layers_wait
from gnomon.program.laws import weight_std
from gnomon.report import Content

EXAMPLES, THEORY = (8, 16, 32, 64), (4, 24)
"""Numbers of examples: of the measurement, and of the theory, where the fewer tell whether more can be afforded."""
LONGER = 3
"""Times its share that the step may take where its theory is compiled, once on a machine."""
IDLE = 0.3
"""Severity of units that are dead behind frozen layers, a warning: training cannot bring them back, nor need it."""
FRESH = "batch norm has seen no batch yet, and is measured with the statistics of these examples"
ROOT_CAUSE = 0.9
"""Severity from which on other findings about the signal are consequences, and are left out."""


class SignalStep(AbstractStep):
    """Per-layer mean squares, gradients, correlations, dead units; which layer is at fault, and the cure."""

    key, title, share = "signal", "Signal through the layers", 0.06
    question = "Do the inputs reach every layer on the way forward, and the gradient on the way back?"
    uses = (Profile,)
    gives = Signal

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        profile = products.get(Profile)
        x = subject.probe.some(_examples(profile, context)).x
        module = settled(subject.module, x, call=subject.call)
        measured = signal(module, x, seed=context.seed)
        theory, why = _theory(subject, x, profile, context) if module is subject.module else ({}, FRESH)
        weighted = tuple(layer for layer in measured.layers if layer.weighted)
        own = _findings(measured, _variance(subject.module))
        findings = tuple(_unless_frozen(finding, measured, subject.module) for finding in own)
        answer = findings[0].what if findings else _healthy(measured, len(weighted))
        hypothesis = Hypothesis("mean squares can be predicted for this module", bool(theory), why)
        plots = [*_through_layers(weighted, theory)] if len(weighted) > 1 else []
        values = _values(weighted, measured)
        field = chain(subject.module, None if profile is None else profile.program, seconds=LONGER * context.seconds)
        if field is not None:
            plots.append(_correlations(field))
            values += _scales(field)
        content = Content(answer, findings, values, tuple(plots), _definitions(), (hypothesis,), measured.to_dict())
        return StepResult(content, measured)


def _examples(profile: Profile | None, context: Context) -> int:
    """As many as half of the time allows for some passes, eight at least, which may take twice the time."""
    if profile is None:
        return max(EXAMPLES)
    least = 2 * profile.cost.passes(min(EXAMPLES))
    if least > 2 * context.seconds:
        raise needs(f"Signals of {min(EXAMPLES)} examples", least, context)
    return max(n for n in EXAMPLES if n == min(EXAMPLES) or 4 * profile.cost.passes(n) <= 0.5 * context.seconds)


def _findings(measured: Signal, variance: float | None) -> tuple[Finding, ...]:
    """What is wrong with the layers, the gravest first, without what follows from a graver cause."""
    own = [finding for finding in measured.findings if finding.where != "inputs"]  # their scale belongs to the data
    own = own[:1] if own and own[0].severity > ROOT_CAUSE else own
    return tuple(_with_variance(finding, variance) for finding in own)


def _unless_frozen(finding: Finding, measured: Signal, module: nn.Module) -> Finding:
    """Dead units behind frozen layers alone: features learned elsewhere, which these examples do not need."""
    names = [layer.name for layer in measured.layers]
    if finding.kind != "dead-units" or finding.severity > ROOT_CAUSE or finding.where not in names:
        return finding
    before = [layer.name for layer in measured.layers[: names.index(finding.where) + 1] if layer.weighted]
    frozen = not any(p.requires_grad for name in before for p in module.get_submodule(name).parameters(recurse=False))
    if not before or not frozen or not any(p.requires_grad for p in module.parameters()):
        return finding
    what = f"{finding.what} The layers before it are frozen: on these examples so many of their features are not used."
    cure = "Leave it if the result is good; otherwise train the last frozen layers as well, at a small learning rate."
    return replace(finding, what=what, cure=cure, severity=min(finding.severity, IDLE))


def _healthy(measured: Signal, weighted: int) -> str:
    """What is said of layers that pass all on; the scale of the inputs is told where the data are described."""
    if measured.worst is None:
        return measured.verdict
    return f"Whatever the size of the inputs, signals and gradients pass through all {weighted} layers with weights."


def _with_variance(finding: Finding, variance: float | None) -> Finding:
    """Where all layers contribute to a vanishing or exploding signal, the variance of the weights is the reason."""
    if finding.where or variance is None or not finding.kind.startswith(("vanishing", "exploding")):
        return finding
    evidence = Value("variance of the weights times fan_in", variance, meaning="median over layers")
    what = f"{finding.what.rstrip('.')}; the weights have variance {variance:.2g} / fan_in."
    return replace(finding, what=what, evidence=(*finding.evidence, evidence))


def _variance(module: nn.Module) -> float | None:
    """fan_in times the mean square of the weights, the median of all layers: the sigma_w^2 of theory."""
    weights = [p.detach() for name, p in module.named_parameters() if p.dim() > 1 and name.endswith("weight")]
    variances = [weight_std(w) ** 2 for w in weights]
    return median(variances) if variances else None


def _theory(subject: Subject, x: Any, profile: Profile | None, context: Context) -> tuple[dict[str, float], str]:
    """Mean squares by module path, for the law of the present weights."""
    if profile is None or profile.program is None:
        return {}, "" if profile is None else profile.reason
    if layers_wait(profile.program) > LONGER * context.seconds:
        return {}, "this is compiled once on every machine, which needs a larger budget"
    limit, start = Limit(subject.module, init="measured"), context.clock()
    try:
        for n in THEORY:
            if n > min(THEORY) and 2 * n / min(THEORY) * (context.clock() - start) > context.seconds:
                break
            some = take(x, slice(0, n))
            assert isinstance(some, Tensor)
            predicted = layers(limit, some.double())
    except GnomonError as error:
        return {}, plainly(error)
    return {layer.where: layer.second_moment for layer in predicted}, "the law is that of the present weights"


def _values(weighted: tuple[LayerSignal, ...], measured: Signal) -> tuple[Value, ...]:
    values = [Value("layers with weights", len(weighted)), Value("examples", measured.examples)]
    if len(weighted) > 1:
        first, last = weighted[0], weighted[-1]
        values += [
            Value("signal, last layer over first", _ratio(last.activation, first.activation)),
            Value("relative gradient, first layer over last", _ratio(first.update, last.update)),
        ]
        for place, layer in (("first", first), ("last", last)):
            if layer.correlation is not None:
                name = f"correlation of different inputs, {place} layer"
                values.append(Value(name, layer.correlation, meaning="at 1 they look the same to the layers after it"))
    dead = max((layer for layer in measured.layers if layer.dead), key=lambda layer: layer.dead or 0, default=None)
    worst = "none" if dead is None else f"{dead.dead:.1%} of '{dead.name}'"
    return (*values, Value("dead units, worst layer", worst, meaning="units with one output for all probe examples"))


def _scales(field: MeanField) -> tuple[Value, ...]:
    at = f"weight std {field.weight_std:.3g}, bias std {field.bias_std:.2g}"
    return (
        Value("phase, by mean-field theory", field.phase, meaning=at),
        Value("chi", field.chi, meaning="factor of the squared gradient per layer; 1 is critical"),
        Value("depth scale of correlations", field.xi_c, unit="layers"),
        Value("depth scale of gradients", field.xi_gradient, unit="layers"),
    )


def _correlations(field: MeanField) -> Plot:
    before = [i / 40 for i in range(41)]
    after = [field.correlation(c) for c in before]
    marks = (Line("after a layer", before, after), Line("no change", (0, 1), (0, 1), "dotted"))
    words = "Above the dotted line different inputs become more alike from layer to layer, below it less."
    axes = Axis("correlation of two inputs before a layer", limits=(0, 1)), Axis("after", limits=(0, 1.02))
    return Plot("How alike two inputs are after a layer", marks, *axes, words)


def _ratio(a: float | None, b: float | None) -> float | str:
    return "unknown" if a is None or b is None else a / max(b, 1e-300)


def _through_layers(weighted: tuple[LayerSignal, ...], theory: dict[str, float]) -> tuple[Plot, Plot]:
    places = range(1, len(weighted) + 1)
    measured = Scatter("measured", places, [layer.activation or nan for layer in weighted])
    known = [(i, theory[v.name]) for i, v in zip(places, weighted, strict=True) if theory.get(v.name, 0) > 0]
    predicted = (Line("theory", [i for i, _ in known], [q for _, q in known]),) if known else ()
    axis = Axis("layer with weights")
    words = "Roughly level is good: the signal reaches every layer. A fall or rise over many powers of ten is not."
    forwards = Plot(
        "Forward: size of each layer's outputs", (measured, *predicted), axis, Axis("mean of h²", log=True), words
    )
    updates = Line("measured", places, [layer.update or nan for layer in weighted])
    words = "Roughly level is good: every layer learns. A fall over many powers of ten means that one end does not."
    scale = Axis("|∂L/∂W|² / |W|²", log=True)
    backwards = Plot("Backward: gradient of each layer's weights", (updates,), axis, scale, words)
    return forwards, backwards


def _definitions() -> tuple[Definition, ...]:
    return (
        Definition("q = E[h²]", "mean square of a layer's outputs", "poole2016exponential"),
        Definition(
            "χ = σ_w² E[φ′(u)²],  C(c) = (σ_w² E[φ(u)φ(v)] + σ_b²) / q*", "mean-field maps", "poole2016exponential"
        ),
        Definition("u = |∂L/∂W|² / |W|²", "relative gradient of a layer's weights", "schoenholz2017deep"),
    )
