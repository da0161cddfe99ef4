"""Which layer is at fault, what is wrong with it, and the cure.

A finding is a measurement beyond a threshold; the gravest comes first. With mean squares a_l of activations, and
relative gradients u_l = |dL/dW|^2 / |W|^2 of the weights (not of activations, over whose positions pooling spreads a
gradient without harm), at the layers with weights, in the order of calls,

    a_last / a_first, v_first / v_last < 1 / RANGE, or > RANGE     vanishing, or exploding              (1)

with v_l = u_l units_l / fan_l. Entries of dL/dW are products of a gradient, whose square is shared by the units, and
an input, and squares of W are 1 / fan: so v does not depend on the widths, and for a chain of ReLU layers without
biases, drawn with one gain, it is the same at every layer. The layer at fault is the one with the largest change by
itself, where that is more than half of the whole in logarithms; otherwise all layers contribute, and the
initialization is at fault. A single layer that cuts both the signal and the gradient by RANGE is reported too where
biases behind it hide that from (1).

Reference: [schoenholz2017deep], [he2015delving]; [zhang2019fixup] for residual branches.
"""

from math import exp, log
from statistics import median

from gnomon.checks.network.layer import LayerSignal
from gnomon.core.results import Finding, Value

__all__ = ["INPUT_SQUARES", "signal_findings"]

RANGE = 1e4
"""Factor by which squares may change over all layers."""
DEAD, MOST_DEAD = 0.5, 0.9
"""Share of units that may be dead. Where examples reach a layer nearly alike, with a correlation above `APART`, half
of the units are dead by chance, each having one sign for all examples. That share has a deviation of
1 / (2 units^(1/2)), and four of them are accepted then, up to `MOST_DEAD`."""
MERGED, LOST = 1 - 1e-4, 1 - 1e-6
"""The mean correlation of different inputs at which they count as merged, if they came in below ``APART``, and at which
that is a fault. Gradient descent needs about 1 / (1 - c) times as many steps for what differs as for what is shared,
Adam about the root of it: a hundred times at the first, which it makes up for, as in two layers of sigmoids, whose
outputs are all about 1/2; a thousand at the second, where float32 is about to round the difference away."""
APART = 0.9
INPUT_SQUARES = (1e-4, 100.0)
"""Mean squares of inputs beyond which they should be standardized: root mean squares from 0.01 to 10 are accepted."""
TREND = 2 / 3
"""Share of the range, in logarithms, by which all layers of the third where signals or gradients arrive must differ
from the median of the third where they start. A last layer that is drawn small, as transformers have it, has a large
relative gradient, and queries and keys of attention that is almost even have hardly any: neither is a sign of a fault
while the layers beside them are reached."""
NOTHING = 1e-300
"""Stands for zero in logarithms."""

SEVERITY = {
    "not-finite": 0.99, "zero-weights": 0.98, "input-scale": 0.985, "all-dead": 0.96, "all-constant": 0.87,
    "vanishing-activations": 0.95, "exploding-activations": 0.95, "vanishing-gradients": 0.94,
    "exploding-gradients": 0.94, "zero-last-layer": 0.2, "merged-inputs": 0.7, "similar-inputs": 0.45,
}  # fmt: skip
"""What makes learning impossible comes before what makes it slow, and a cause before its effects."""


def signal_findings(layers: tuple[LayerSignal, ...], inputs: float | None = None) -> tuple[Finding, ...]:
    """What measured layers and the mean square of the inputs show, the gravest first; none for a healthy module.

    Kinds: "not-finite", "input-scale", "zero-weights", "vanishing-activations", "exploding-activations",
    "vanishing-gradients", "exploding-gradients", "dead-units", "merged-inputs". ``where`` is the layer, "inputs", or
    empty where all layers contribute; ``evidence`` holds the measurement and its threshold.

    Reference: [schoenholz2017deep].

    >>> from gnomon.checks.network.layer import Backward, Forward
    >>> healthy = LayerSignal("0", "Linear", "nonzero", 8, 8, Forward(1.0, 0.0, 0.0), Backward(1.0, 1.0))
    >>> signal_findings((healthy,)), [finding.kind for finding in signal_findings((healthy,), inputs=1e6)]
    ((), ['input-scale'])
    """
    findings = _not_finite(layers) + _inputs(inputs)
    zero = _zero(layers)
    # An embedding has rows that no example uses, and no layer before it: its weights say nothing about the signal.
    weighted = [layer for layer in layers if layer.weighted and layer.finite and not layer.kind.startswith("Embedding")]
    if not zero:  # what such a layer does to those after it is not their fault
        findings += _change(weighted, "activation") + _change(weighted, "update") or _narrow(weighted)
    findings += zero + _dead(layers) + _merged(layers)
    return tuple(sorted(findings, key=lambda finding: -finding.severity))


def _not_finite(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    broken = next((layer for layer in layers if not layer.finite), None)
    if broken is None:
        return []
    what = f"The output of '{broken.name}' ({broken.kind}) is not finite."
    cure = "Lower the scale of the weights or of the inputs."
    return [Finding("not-finite", what, cure, SEVERITY["not-finite"], broken.name)]


def _inputs(square: float | None) -> list[Finding]:
    low, high = INPUT_SQUARES
    if square is None or low <= square <= high:
        return []
    what = f"The typical size of the inputs (root mean square) is {square**0.5:.3g}, and networks are made for about 1."
    evidence = Value("mean square of the inputs", square), Value("accepted range", f"{low:g} to {high:g}")
    return [Finding("input-scale", what, "Standardize the inputs.", SEVERITY["input-scale"], "inputs", evidence)]


def _zero(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    """Layers whose weights are all zero, where they let no gradient pass to any layer before them."""
    findings = []
    for i, layer in enumerate(layers):
        before = [other.gradient for other in layers[:i] if other.weighted]
        if layer.zero and all(not g for g in before):
            what = f"All weights of '{layer.name}' ({layer.kind}) are zero: it passes on no signal and no gradient."
            cure = "Initialize it at random; zero is for the last layer of a residual branch."
            last = not any(other.weighted for other in layers[i + 1 :])  # it has a gradient itself, and will leave zero
            if last:
                what = f"All weights of the last layer '{layer.name}' are zero: others learn after its first step."
                cure = "Leave it if it is meant; otherwise initialize it at random."
            severity = SEVERITY["zero-last-layer" if last else "zero-weights"]
            findings.append(Finding("zero-weights", what, cure, severity, layer.name))
    return findings


def _change(layers: list[LayerSignal], quantity: str) -> list[Finding]:
    """Equation (1), for activations forwards and for gradients backwards."""
    backwards = quantity == "update"
    known = [(layer, _strength(layer, quantity)) for layer in (reversed(layers) if backwards else layers)]
    order = [layer for layer, square in known if square is not None]
    if len(order) < 2:
        return []
    logs = [log(max(square, NOTHING)) for _, square in known if square is not None]
    if backwards and not _beyond_the_head(logs):
        return []
    total, steps = logs[-1] - logs[0], [b - a for a, b in zip(logs, logs[1:], strict=False)]
    group = max(1, len(logs) // 3)
    reached = max(logs[-group:]) if total < 0 else min(logs[-group:])  # what passes by other ways has not vanished
    trend = reached - median(logs[:group])
    if abs(total) <= log(RANGE) or trend * total <= 0 or abs(trend) <= TREND * log(RANGE):
        return []
    word = "vanishing" if total < 0 else "exploding"
    at = max(range(len(steps)), key=lambda i: steps[i] * (1 if total > 0 else -1))
    alone = abs(steps[at]) > abs(total) / 2 and len(steps) > 1
    # A gradient changes between a layer and the next one backwards: the layer passed through is the later one.
    name = order[at if backwards else at + 1].name if alone else ""
    factor = f"{exp(steps[at] if alone else total / len(steps)):.2g}"
    which = f"'{name}' alone changes them by {factor}" if alone else f"each of {len(order)} layers by {factor}"
    plural = "gradients" if backwards else "activations"
    way = "from the last layer to the first" if backwards else "from the first layer to the last"
    what = f"{word.capitalize()} {plural}: their squares change by {exp(total):.1e} {way}; {which}."
    kind = f"{word}-{plural}"
    evidence = Value("change of the squares", exp(total)), Value("accepted factor", RANGE)
    return [Finding(kind, what, _cure(word), SEVERITY[kind], name, evidence)]


def _strength(layer: LayerSignal, quantity: str) -> float | None:
    """a or v of equation (1)."""
    if quantity == "activation" or layer.update is None:
        return layer.activation if quantity == "activation" else None
    return layer.update * layer.units / layer.fan


def _beyond_the_head(logs: list[float]) -> bool:
    """Whether relative gradients change over the layers before the last one as well.

    The last layer may be drawn much smaller than the others, and then has a relative gradient that is a thousand times
    that of the layer before it: a difference between these two alone is no fault.
    """
    return len(logs) > 2 and abs(logs[-1] - logs[1]) > TREND * log(RANGE)


def _narrow(layers: list[LayerSignal]) -> list[Finding]:
    """A layer that by itself lets almost nothing through, either way, though a bias behind it hides that."""
    for i, layer in enumerate(layers[1:], start=1):
        before, passed = layers[i - 1].activation, layer.gradient
        if not before or layer.activation is None or not passed or layer.activation > before / RANGE:
            continue
        reached = [other.gradient * other.size for other in layers[:i] if other.gradient is not None]
        if reached and max(reached) < passed * layer.size / RANGE:  # no way around it
            share = max(layer.activation / before, NOTHING)
            what = (
                f"'{layer.name}' ({layer.kind}) lets through {share:.1e} of the signal, and as little of the gradient."
            )
            evidence = Value("share of the signal", share), Value("accepted share", 1 / RANGE)
            kind = "vanishing-activations"
            return [Finding(kind, what, _cure("vanishing"), SEVERITY[kind], layer.name, evidence)]
    return []


def _cure(word: str) -> str:
    if word == "vanishing":
        return (
            "Raise the weights to variance 2 / fan_in for relu, 1 / fan_in for tanh; or add normalization, or residual "
            "branches."
        )
    return (
        "Lower the weights to variance 2 / fan_in for relu, 1 / fan_in for tanh; or add normalization; scale residual "
        "branches by depth^(-1/2)."
    )


def _dead(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    """The first layer with too many dead units."""
    first = next((i for i, layer in enumerate(layers) if layer.weighted), 0)  # before it, columns of the data
    for layer in layers[first:]:
        # An embedding of what all examples share, such as the kind of a token, is one and the same without any harm.
        counted = layer.units > 1 and layer.kind != "Flatten" and not layer.zero
        counted = counted and not layer.kind.startswith("Embedding")
        # A norm that gives nothing but zeros has a scale of zero, as the last one of a residual branch may begin with.
        counted = counted and not ("Norm" in layer.kind and layer.activation == 0)
        alike = layer.correlation is not None and layer.correlation > APART
        accepted = min(MOST_DEAD, DEAD + 2 * layer.units**-0.5) if alike else DEAD
        if layer.dead is not None and layer.dead > accepted and counted:
            what = f"{layer.dead:.0%} of the {layer.units} units of '{layer.name}' ({layer.kind}) are dead."
            cure = "Lower the learning rate or the biases, or use an activation that is flat nowhere."
            fed = layer.weighted or "Norm" in layer.kind  # such a layer is constant where what it is given is
            own = "all-constant" if fed else "all-dead"
            if fed and layer.dead == 1:
                what = f"'{layer.name}' ({layer.kind}) gives the same outputs for all examples."
                cure = f"Look at what forward hands to '{layer.name}': it is the same for all examples."
            severity = SEVERITY[own] if layer.dead == 1 else 0.5 + 0.25 * layer.dead
            evidence = Value("share of dead units", layer.dead), Value("accepted share", accepted)
            return [Finding("dead-units", what, cure, severity, layer.name, evidence)]
    return []


def _merged(layers: tuple[LayerSignal, ...]) -> list[Finding]:
    # Before the last layer: there a bias alone makes the few outputs of all inputs alike.
    weights = [i for i, layer in enumerate(layers) if layer.weighted]
    before = layers[: weights[-1]] if weights else ()
    known = [layer for layer in before if layer.correlation is not None and layer.units > 1]
    if len(known) < 3 or known[0].correlation is None or known[0].correlation >= APART:
        return []
    last = known[-1]
    if last.correlation is None or last.correlation < MERGED:
        return []
    first = next(layer for layer in known if layer.correlation is not None and layer.correlation >= MERGED)
    what = f"Different inputs look alike from '{first.name}' on: mean correlation {last.correlation:.6f} in the end."
    cure = "Use weights of critical variance (2 / fan_in for relu, 1 / fan_in for tanh) and small biases."
    evidence = Value("correlation of different inputs", last.correlation), Value("accepted correlation", MERGED)
    severity = SEVERITY["merged-inputs" if last.correlation >= LOST else "similar-inputs"]
    return [Finding("merged-inputs", what, cure, severity, first.name, evidence)]
