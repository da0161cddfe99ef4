"""Finds the layer at which signals or gradients vanish or explode, and suggests a fix.

A finding is a measurement beyond a threshold; the most serious comes first. With mean squares a_l of activations, and
relative gradients u_l = |dL/dW|^2 / |W|^2 of the weights (not of activations, over whose positions pooling spreads a
gradient without harm), at the layers with weights, in the order of calls,

    a_last / a_first, v_first / v_last < 1 / RANGE, or > RANGE     vanishing, or exploding              (1)

with v_l = u_l units_l / fan_l. Entries of dL/dW are products of a gradient, whose square is shared by the units, and
an input, and squares of W are 1 / fan: so v does not depend on the widths, and for a chain of ReLU layers without
biases, drawn with one gain, it is the same at every layer. The layer at fault is the one with the largest change by
itself, if this change is more than half of the total in logarithms; otherwise all layers contribute, and the
initialization is at fault. A single layer that cuts both the signal and the gradient by RANGE is reported too if
biases after it hide the change from (1).

Reference: [schoenholz2017deep], [he2015delving]; [zhang2019fixup] for residual branches.
"""

from math import exp, log
from statistics import median

from gnomon.checks.network.layer import LayerSignal
from gnomon.core.results import Finding, Value
from gnomon.findings import data as data_kinds
from gnomon.findings import most_serious_first, network

__all__ = ["MAX_SIGNAL_CHANGE_OVER_LAYERS", "NORMAL_INPUT_MEAN_SQUARES", "signal_findings"]

MAX_SIGNAL_CHANGE_OVER_LAYERS = 1e4
"""Factor by which mean squares may change from the first layer to the last."""
MAX_DEAD_SHARE = 0.5
"""Share of units that may be dead."""
MAX_DEAD_SHARE_OF_SIMILAR_INPUTS = 0.9
"""The same if the layer's inputs are highly correlated: half of the units are then dead by chance."""
MERGED_CORRELATION = 1 - 1e-4
"""Mean correlation of different inputs at which they count as merged."""
LOST_CORRELATION = 1 - 1e-6
"""Mean correlation of different inputs at which merging is a problem."""
MAX_INPUT_CORRELATION = 0.9
"""Inputs with a larger correlation are similar from the start."""
NORMAL_INPUT_MEAN_SQUARES = (1e-4, 100.0)
"""Mean squares of inputs beyond which they should be standardized: root mean squares from 0.01 to 10 are accepted."""
MIN_TREND_SHARE = 2 / 3
"""Share of the allowed range, in logarithms, that a trend over the layers must explain."""
SMALLEST_POSITIVE = 1e-300
"""Stands for zero in logarithms."""

ROWS = {
    ("vanishing", "activation", True): network.VANISHING_AT_LAYER,
    ("vanishing", "activation", False): network.VANISHING_ACTIVATIONS,
    ("exploding", "activation", True): network.EXPLODING_AT_LAYER,
    ("exploding", "activation", False): network.EXPLODING_ACTIVATIONS,
    ("vanishing", "update", True): network.GRADIENTS_VANISH_AT_LAYER,
    ("vanishing", "update", False): network.VANISHING_GRADIENTS,
    ("exploding", "update", True): network.GRADIENTS_EXPLODE_AT_LAYER,
    ("exploding", "update", False): network.EXPLODING_GRADIENTS,
}
"""Kinds of findings by direction, quantity, and whether one layer alone changes more than half of the whole."""


def signal_findings(
    layers: tuple[LayerSignal, ...], input_mean_square: float | None = None, weight_variance: float | None = None
) -> tuple[Finding, ...]:
    """Reports layers at which signals or gradients vanish, explode or are zero, most serious first.

    Kinds: "not-finite", "input-scale", "zero-weights", "vanishing-activations", "exploding-activations",
    "vanishing-gradients", "exploding-gradients", "dead-units", "merged-inputs". ``where`` is the layer, "inputs", or
    empty if all layers contribute; ``evidence`` holds the measurement and its threshold. ``weight_variance`` is fan_in
    times the mean square of the weights, the median over layers.

    Reference: [schoenholz2017deep].

    >>> from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics
    >>> healthy = LayerSignal("0", "Linear", "nonzero", 8, 8, ForwardStatistics(1.0, 0.0, 0.0),
    ...     BackwardStatistics(1.0, 1.0))
    >>> signal_findings((healthy,)), [finding.kind for finding in signal_findings((healthy,), input_mean_square=1e6)]
    ((), ['input-scale'])
    """
    findings = _not_finite(layers) + _inputs(input_mean_square)
    zero = _zero(layers)
    # Embeddings are left out: no layer comes before them, and their unused rows would distort the size of their
    # weights.
    weighted = [layer for layer in layers if layer.weighted and layer.finite and not _is_embedding(layer)]
    if not zero:  # If some weights are zero, changes in later layers are only a consequence of these.
        findings += _change(weighted, "activation", weight_variance) + _change(
            weighted, "update", weight_variance
        ) or _narrow(weighted)
    findings += zero + _dead(layers) + _merge(layers)
    return most_serious_first(findings)


def _is_embedding(layer: LayerSignal) -> bool:
    """Checks whether a layer is an embedding, or of a class derived from one, such as a positional embedding."""
    return "Embedding" in layer.kind


def _not_finite(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    broken = next((layer for layer in layers if not layer.finite), None)
    if broken is None:
        return []
    return [Finding(network.NOT_FINITE, broken.name, {"layer": broken.kind})]


def _inputs(square: float | None) -> list[Finding]:
    low, high = NORMAL_INPUT_MEAN_SQUARES
    if square is None or low <= square <= high:
        return []
    evidence = Value("mean square of the inputs", square), Value("accepted range", f"{low:g} to {high:g}")
    return [Finding(data_kinds.INPUT_SCALE, "inputs", {"size": square**0.5}, evidence)]


def _zero(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    """Reports layers whose all-zero weights block the gradient to all layers before them."""
    findings = []
    for i, layer in enumerate(layers):
        before = [other.gradient for other in layers[:i] if other.weighted]
        if layer.zero and all(not g for g in before) and not (not before and _varies_after(layers, i)):
            last = not any(
                other.weighted for other in layers[i + 1 :]
            )  # Some layer gets a gradient, so its zero weights change in the first step, and training starts
            row = network.ZERO_LAST_LAYER if last else network.ZERO_WEIGHTS
            findings.append(Finding(row, layer.name, {"layer": layer.kind}))
    return findings


def _varies_after(layers: tuple[LayerSignal, ...], i: int) -> bool:
    """Checks whether outputs of later layers still differ between examples, because a skip connection goes around this
    layer.
    """
    later = [other for other in layers[i + 1 :] if other.weighted and other.dead is not None]
    # One later layer with a strong signal is enough, because the network may have several heads.
    strong = any((other.activation or 0.0) > 1 / MAX_SIGNAL_CHANGE_OVER_LAYERS for other in later)
    return bool(later) and later[-1].dead != 1 and strong


def _change(layers: list[LayerSignal], quantity: str, variance: float | None) -> list[Finding]:
    """Reports a problem if the size of activations or of gradients changes too much over the layers.

    See equation (1) of the module docstring.
    """
    backwards = quantity == "update"
    known = [(layer, _strength(layer, quantity)) for layer in (reversed(layers) if backwards else layers)]
    order = [layer for layer, square in known if square is not None]
    if len(order) < 2:
        return []
    logs = [log(max(square, SMALLEST_POSITIVE)) for _, square in known if square is not None]
    if backwards and not _beyond_the_head(logs):
        return []
    total, steps = logs[-1] - logs[0], [b - a for a, b in zip(logs, logs[1:], strict=False)]
    group = max(1, len(logs) // 3)
    reached = (
        max(logs[-group:]) if total < 0 else min(logs[-group:])
    )  # A signal that reaches the output on another path, such as a skip connection, has not vanished
    trend = reached - median(logs[:group])
    if (
        abs(total) <= log(MAX_SIGNAL_CHANGE_OVER_LAYERS)
        or trend * total <= 0
        or abs(trend) <= MIN_TREND_SHARE * log(MAX_SIGNAL_CHANGE_OVER_LAYERS)
    ):
        return []
    at = max(range(len(steps)), key=lambda i: steps[i] * (1 if total > 0 else -1))
    alone = abs(steps[at]) > abs(total) / 2 and len(steps) > 1
    # Between two layers, the backward pass of the later one changes the gradient; the forward pass of the earlier one
    # changes the signal.
    name = order[at if backwards else at + 1].name if alone else ""
    values = {
        "total": exp(total),
        "factor": exp(steps[at] if alone else total / len(steps)),
        "layers": len(order),
        "gain": variance,
    }
    evidence = [Value("change of the squares", exp(total)), Value("accepted factor", MAX_SIGNAL_CHANGE_OVER_LAYERS)]
    if not alone and variance is not None:
        evidence.append(Value("variance of the weights times fan_in", variance, meaning="median over layers"))
    known_variance = "unknown" if variance is None else f"{variance:.2g} / fan_in"
    row = ROWS["vanishing" if total < 0 else "exploding", quantity, alone]
    return [Finding(row, name, {**values, "variance": known_variance}, tuple(evidence))]


def _strength(layer: LayerSignal, quantity: str) -> float | None:
    """Returns the size of a layer's activations, or of its weight gradients relative to the weights."""
    if quantity == "activation" or layer.update is None:
        return layer.activation if quantity == "activation" else None
    return layer.update * layer.units / layer.fan


def _beyond_the_head(logs: list[float]) -> bool:
    """Checks whether gradients shrink or grow over several layers, and not only at the last layer.

    The last layer may be drawn much smaller than the others, and then has a relative gradient that is a thousand times
    the gradient of the layer before it: a difference between these two alone is not a fault.
    """
    return len(logs) > 2 and abs(logs[-1] - logs[1]) > MIN_TREND_SHARE * log(MAX_SIGNAL_CHANGE_OVER_LAYERS)


def _narrow(layers: list[LayerSignal]) -> list[Finding]:
    """Reports a layer that nearly blocks signals and gradients, even if its bias hides this in the outputs."""
    for i, layer in enumerate(layers[1:], start=1):
        before, passed = layers[i - 1].activation, layer.gradient
        if (
            not before
            or layer.activation is None
            or not passed
            or layer.activation > before / MAX_SIGNAL_CHANGE_OVER_LAYERS
        ):
            continue
        reached = [other.gradient * other.size for other in layers[:i] if other.gradient is not None]
        # True only if no skip connection carries the gradient past the layer.
        if reached and max(reached) < passed * layer.size / MAX_SIGNAL_CHANGE_OVER_LAYERS:
            share = max(layer.activation / before, SMALLEST_POSITIVE)
            evidence = Value("share of the signal", share), Value("accepted share", 1 / MAX_SIGNAL_CHANGE_OVER_LAYERS)
            return [Finding(network.NARROW_LAYER, layer.name, {"layer": layer.kind, "share": share}, evidence)]
    return []


def _dead(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    """Reports the first layer with too many dead units."""
    first = next(
        (i for i, layer in enumerate(layers) if layer.weighted), 0
    )  # In layers before the first one with weights, a constant unit means a constant column of the data
    for i, layer in enumerate(layers[first:], start=first):
        # An embedding's units may be constant if all examples have the same token, such as one token type for all.
        counted = layer.units > 1 and layer.kind != "Flatten" and not layer.zero
        counted = counted and not _is_embedding(layer)
        # A normalization layer may start with scale zero, as the last one of a residual branch often does.
        counted = counted and not ("Norm" in layer.kind and layer.activation == 0)
        alike = layer.correlation is not None and layer.correlation > MAX_INPUT_CORRELATION
        accepted = (
            min(MAX_DEAD_SHARE_OF_SIMILAR_INPUTS, MAX_DEAD_SHARE + 2 * layer.units**-0.5) if alike else MAX_DEAD_SHARE
        )
        if layer.dead is not None and layer.dead > accepted and counted:
            fed = layer.weighted or "Norm" in layer.kind  # Layers without weights are constant if their input is.
            if layer.dead == 1 and fed and _varies_after(layers, i):
                continue  # The layer's input is the same for all examples on purpose, such as a learned class token.
            whole = network.CONSTANT_LAYER if fed else network.DEAD_LAYER
            values = {"share": layer.dead, "units": layer.units, "layer": layer.kind}
            evidence = Value("share of dead units", layer.dead), Value("accepted share", accepted)
            return [Finding(whole if layer.dead == 1 else network.DEAD_UNITS, layer.name, values, evidence)]
    return []


def _merge(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    # Only layers before the last one with weights count. The bias alone may make the few outputs of the last one
    # similar.
    weights = [i for i, layer in enumerate(layers) if layer.weighted]
    before = layers[: weights[-1]] if weights else ()
    known = [layer for layer in before if layer.correlation is not None and layer.units > 1]
    if len(known) < 3 or known[0].correlation is None or known[0].correlation >= MAX_INPUT_CORRELATION:
        return []
    last = known[-1]
    if last.correlation is None or last.correlation < MERGED_CORRELATION:
        return []
    first = next(layer for layer in known if layer.correlation is not None and layer.correlation >= MERGED_CORRELATION)
    evidence = (
        Value("correlation of different inputs", last.correlation),
        Value("accepted correlation", MERGED_CORRELATION),
    )
    row = network.MERGED_INPUTS if last.correlation >= LOST_CORRELATION else network.SIMILAR_INPUTS
    return [Finding(row, first.name, {"correlation": last.correlation}, evidence)]
