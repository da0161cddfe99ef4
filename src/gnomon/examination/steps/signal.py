"""Examination step that measures signals and gradients at every layer, and compares them with theory."""

from collections.abc import Sequence
from math import nan
from typing import Any

from torch import Tensor

from gnomon.checks import signal_propagation
from gnomon.checks.network.batch_statistics import copy_with_batch_norm_statistics
from gnomon.checks.network.chain import mean_field_of_module
from gnomon.checks.network.layer import LayerSignal
from gnomon.checks.network.meanfield import MeanField
from gnomon.checks.network.signal import SignalPropagation
from gnomon.checks.network.signal_findings import MAX_SIGNAL_CHANGE_OVER_LAYERS
from gnomon.core.errors import GnomonError
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.results import Axis, Hypothesis, Line, Plot, QuantityDefinition, Scatter, Value
from gnomon.examination.layer_table import layer_table
from gnomon.examination.signal_causes import find_signal_cause
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, error_sentence
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.kernels import Limit, limit_layers
from gnomon.kernels.layers_compile_time import layers_compile_seconds
from gnomon.report import PageContent

AFFORDABLE_EXAMPLE_COUNTS = (8, 16, 32, 64)
"""Numbers of examples for the measurement, chosen by time."""
THEORY_EXAMPLE_COUNTS = (4, 24)
"""Numbers of examples for the theory; the smaller one shows whether the larger one is affordable."""
MAX_COMPILE_TIME_FACTOR = 3
"""The step may take this multiple of its time share while its theory is compiled, once per machine."""
FRESH = "batch norm has seen no batch yet, so gnomon uses the statistics of these examples"


class SignalStep(AbstractStep):
    """Examination step that measures activations, gradients, correlations and dead units, and finds faulty layers."""

    key, title, share = "signal", "Signal through the layers", 0.06
    question = "Do the inputs reach every layer, and does the gradient reach every layer on the way back?"
    uses = (NetworkProfile,)
    gives = SignalPropagation
    essential = True

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        profile = products.get(NetworkProfile)
        x = subject.probe.some(_examples(profile, context)).x
        module = copy_with_batch_norm_statistics(subject.module, x)
        measured = signal_propagation(module, x, seed=context.seed)
        theory, why = _theory(subject, x, profile, context) if module is subject.module else ({}, FRESH)
        weighted = tuple(layer for layer in measured.layers if layer.weighted)
        findings = tuple(
            f for f in measured.findings if f.where != "inputs"
        )  # The section on the data reports the scale of the inputs, so findings about inputs are left out
        findings = tuple(find_signal_cause(finding, subject.module, x) for finding in findings)
        answer = findings[0].message if findings else _healthy(measured, len(weighted))
        hypothesis = Hypothesis("mean squares can be predicted for this module", bool(theory), why)
        plots = [*_through_layers(weighted, theory)] if len(weighted) > 1 else []
        values = _values(weighted, measured)
        field = mean_field_of_module(
            subject.module,
            None if profile is None else profile.program,
            seconds=MAX_COMPILE_TIME_FACTOR * context.seconds,
        )
        if field is not None:
            plots.append(_correlations(field))
            values += _scales(field)
        content = PageContent(
            answer,
            findings,
            values,
            tuple(plots),
            _definitions(),
            (hypothesis,),
            measured.to_dict(),
            stated=findings[:1],
            tables=layer_table(module, x, measured.layers),
        )
        return StepResult(content, measured)


def _examples(profile: NetworkProfile | None, context: StepContext) -> int:
    """Returns how many examples can be measured in half of the time left; raises `OutOfTime` if fewer than eight."""
    if profile is None:
        return max(AFFORDABLE_EXAMPLE_COUNTS)
    least = 2 * profile.cost.passes(min(AFFORDABLE_EXAMPLE_COUNTS))
    if least > 2 * context.seconds:
        raise out_of_time_error(f"Signals of {min(AFFORDABLE_EXAMPLE_COUNTS)} examples", least, context)
    return max(
        n
        for n in AFFORDABLE_EXAMPLE_COUNTS
        if n == min(AFFORDABLE_EXAMPLE_COUNTS) or 4 * profile.cost.passes(n) <= 0.5 * context.seconds
    )


def _healthy(measured: SignalPropagation, weighted: int) -> str:
    """Returns the report's sentence for a network in which all layers pass signals and gradients on."""
    if measured.worst is None:
        return measured.verdict
    return f"For inputs of any size, signals and gradients pass through all {weighted} layers with weights."


def _theory(
    subject: Subject, x: Any, profile: NetworkProfile | None, context: StepContext
) -> tuple[dict[str, float], str]:
    """Predicts the mean square of each layer's outputs by mean-field theory, from the variances of the current
    weights.
    """
    if profile is None or profile.program is None:
        return {}, "" if profile is None else profile.reason
    if layers_compile_seconds(profile.program) > MAX_COMPILE_TIME_FACTOR * context.seconds:
        return {}, "skipped: this code is compiled once per machine, which needs a larger budget"
    limit, start = Limit(subject.module, init="measured"), context.clock()
    try:
        for n in THEORY_EXAMPLE_COUNTS:
            if (
                n > min(THEORY_EXAMPLE_COUNTS)
                and 2 * n / min(THEORY_EXAMPLE_COUNTS) * (context.clock() - start) > context.seconds
            ):
                break
            some = take_examples(x, slice(0, n))
            assert isinstance(some, Tensor)
            predicted = limit_layers(limit, some.double())
    except GnomonError as error:
        return {}, error_sentence(error)
    why = "theory uses the measured variances of the current weights"
    return {layer.where: layer.second_moment for layer in predicted}, why


def _values(weighted: tuple[LayerSignal, ...], measured: SignalPropagation) -> tuple[Value, ...]:
    values = [
        Value("layers with weights", len(weighted), id="layers-with-weights"),
        Value("examples", measured.examples, id="signal-examples"),
    ]
    if len(weighted) > 1:
        first, last = weighted[0], weighted[-1]
        values += [
            Value("signal, last layer over first", _ratio(last.activation, first.activation), id="signal-ratio"),
            Value("relative gradient, first layer over last", _ratio(first.update, last.update), id="gradient-ratio"),
        ]
        for place, layer in (("first", first), ("last", last)):
            if layer.correlation is not None:
                name = f"correlation of different inputs, {place} layer"
                meaning = "at 1, later layers cannot distinguish the inputs"
                values.append(Value(name, layer.correlation, meaning=meaning, id=f"correlation-{place}"))
    dead = max((layer for layer in measured.layers if layer.dead), key=lambda layer: layer.dead or 0, default=None)
    worst = "none" if dead is None else f"{dead.dead:.1%} of '{dead.name}'"
    return (
        *values,
        Value(
            "dead units, worst layer",
            worst,
            meaning="units whose output is the same for all probe examples",
            id="dead-units",
        ),
    )


def _scales(field: MeanField) -> tuple[Value, ...]:
    at = f"weight std {field.weight_std:.3g}, bias std {field.bias_std:.2g}"
    return (
        Value("phase, by mean-field theory", field.phase, meaning=at, id="phase"),
        Value("chi", field.chi, meaning="factor of the squared gradient per layer; 1 is critical", id="chi"),
        Value("depth scale of correlations", field.xi_c, unit="layers", id="correlation-depth"),
        Value("depth scale of gradients", field.xi_gradient, unit="layers", id="gradient-depth"),
    )


def _correlations(field: MeanField) -> Plot:
    before = [i / 40 for i in range(41)]
    after = [field.correlation(c) for c in before]
    marks = (Line("after a layer", before, after), Line("no change", (0, 1), (0, 1), "dotted"))
    words = (
        "Above the dotted line, different inputs become more similar from layer to layer; below the line, less similar."
    )
    axes = Axis("correlation of two inputs before a layer", limits=(0, 1)), Axis("after", limits=(0, 1.02))
    return Plot("Similarity of two inputs after a layer", marks, *axes, words, id="correlation-map")


def _ratio(a: float | None, b: float | None) -> float | str:
    return "unknown" if a is None or b is None else a / max(b, 1e-300)


def _through_layers(weighted: tuple[LayerSignal, ...], theory: dict[str, float]) -> tuple[Plot, Plot]:
    places = range(1, len(weighted) + 1)
    measured = Scatter("measured", places, [layer.activation or nan for layer in weighted], 0)
    known = [(i, theory[v.name]) for i, v in zip(places, weighted, strict=True) if theory.get(v.name, 0) > 0]
    predicted = (Line("theory", [i for i, _ in known], [q for _, q in known], color=0),) if known else ()
    axis = Axis("layer with weights")
    words = f"Dots: measured at the start{', line: theory' if predicted else ''}. "
    words += _course("outputs", [layer.activation for layer in weighted])
    forwards = Plot(
        "Size of each layer's outputs",
        (measured, *predicted),
        axis,
        Axis("mean squared output", log=True),
        words,
        id="signal-forward",
    )
    updates = Scatter("measured", places, [layer.update or nan for layer in weighted])
    words = f"Dots: measured at the start. {_course('gradients', [layer.update for layer in weighted])}"
    scale = Axis("|gradient|² / |weights|²", log=True)
    backwards = Plot("Size of each layer's gradient", (updates,), axis, scale, words, id="signal-backward")
    return forwards, backwards


def _course(what: str, values: Sequence[float | None]) -> str:
    """Returns a plot's caption: by which factor the mean squares differ between layers, and which factor would be a
    problem.

    >>> _course("outputs", [1.0, 0.5, 0.05])
    'Squared outputs differ by a factor of 20 between layers; more than 10,000 from the first to the last is a problem.'
    """
    known = [value for value in values if value is not None and value > 0]
    if len(known) < len(values) or not known:
        return f"Squared {what} of each layer. Layers without a point pass on nothing: their value is zero."
    factor = max(known) / min(known)
    size = f"{factor:.1e}" if factor >= 1e6 else f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"
    limit = f"more than {MAX_SIGNAL_CHANGE_OVER_LAYERS:,.0f} from the first to the last is a problem"
    return f"Squared {what} differ by a factor of {size} between layers; {limit}."


def _definitions() -> tuple[QuantityDefinition, ...]:
    return (
        QuantityDefinition("q = E[h²]", "mean square of a layer's outputs", "poole2016exponential"),
        QuantityDefinition(
            "χ = σ_w² E[φ′(u)²],  C(c) = (σ_w² E[φ(u)φ(v)] + σ_b²) / q*", "mean-field maps", "poole2016exponential"
        ),
        QuantityDefinition("u = |∂L/∂W|² / |W|²", "relative gradient of a layer's weights", "schoenholz2017deep"),
    )
