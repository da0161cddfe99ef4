"""Which layer is at fault, what is wrong with it, and the cure.

A fault is a measurement beyond a threshold; what weighs more comes first. With mean squares a_l of activations, and
relative gradients u_l = |dL/dW|^2 / |W|^2 of the weights (not of activations, over whose positions pooling spreads a
gradient without harm), at the layers with weights, in the order of calls,

    a_last / a_first, u_first / u_last < 1 / RANGE, or > RANGE     vanishing, or exploding              (1)

and the layer at fault is the one with the largest change by itself, where that is more than half of the whole in
logarithms; otherwise all layers share the blame, and the initialization is at fault. A single layer that cuts both the
signal and the gradient by RANGE is found too where biases behind it hide that from (1).

Reference: [schoenholz2017deep], [he2015delving]; [zhang2019fixup] for residual branches.
"""

from dataclasses import dataclass, replace
from math import exp, log

from gnomon.core.record import Record

RANGE = 1e4
"""By how much squares may change over all layers."""
DEAD = 0.5
"""The share of units that may be dead in a layer."""
MERGED = 0.9999
"""The mean correlation of different inputs at which they count as merged, if they came in below ``APART``."""
APART = 0.9
NOTHING = 1e-300
"""What stands for zero in logarithms."""
LOUD, FAINT = 100.0, 1e-4
"""Mean squares of inputs beyond which they should be standardized."""


@dataclass(frozen=True, slots=True)
class Layer(Record):
    """What a layer passes on: the name it has in the module, its class, and equations (1) to (4) of `signal`.

    ``size`` counts the numbers it puts out for an example, ``units`` those that are not positions of one another.
    ``gradient`` is None where none passed, ``correlation`` and ``dead`` where they cannot be told. ``zero`` says that
    all its weights are zero, ``finite`` that its output is.

    >>> Layer("0", "Linear", 1.0, 1.0, 1.0, 0.0, 0.0, 8, 8, True, False, True).kind
    'Linear'
    """

    name: str
    kind: str
    activation: float | None
    gradient: float | None
    update: float | None
    correlation: float | None
    dead: float | None
    units: int
    size: int
    weighted: bool
    zero: bool
    finite: bool


@dataclass(frozen=True, slots=True)
class Fault(Record):
    """What is wrong: a key for programs, the layer (None for all or for the inputs), the finding, the cure, the weight.

    >>> Fault("zero", "3", "'3' is zero", "Initialize it", 100.0).layer
    '3'
    """

    key: str
    layer: str | None
    what: str
    cure: str
    weight: float


def faults(layers: tuple[Layer, ...], inputs: float | None = None) -> tuple[Fault, ...]:
    """The faults that measured layers show, the heaviest first; none for a healthy module.

    Keys: "not finite", "zero", "inputs", "vanishing activations", "exploding activations", "vanishing gradients",
    "exploding gradients", "dead", "merged".

    Reference: [schoenholz2017deep].
    Cost: none.

    >>> healthy = Layer("0", "Linear", 1.0, 1.0, 1.0, 0.0, 0.0, 8, 8, True, False, True)
    >>> faults((healthy,)), [fault.key for fault in faults((healthy,), inputs=1e6)]
    ((), ['inputs'])
    """
    found: list[Fault] = []
    broken = next((layer for layer in layers if not layer.finite), None)
    if broken is not None:
        what = f"The output of '{broken.name}' ({broken.kind}) is not finite"
        found.append(Fault("not finite", broken.name, what, "Lower the scale of the weights or of the inputs", 1000.0))
    if inputs is not None and not FAINT <= inputs <= LOUD:
        what = f"The mean square of the inputs is {inputs:.3g}, far from 1"
        found.append(Fault("inputs", None, what, "Standardize the inputs", 500.0 + abs(log(max(inputs, 1e-300)))))
    zero = _zero(layers)
    # An embedding has rows that no example uses, and no layer before it: it says nothing of what travels.
    weighted = [layer for layer in layers if layer.weighted and layer.finite and not layer.kind.startswith("Embedding")]
    if not zero:  # what such a layer does to those after it is not their fault
        forwards, backwards = _travel(weighted, "activation"), _travel(weighted, "update")
        if forwards and backwards:  # one cause: the forward pass shows it first
            backwards = [replace(backwards[0], weight=min(backwards[0].weight, forwards[0].weight - 1))]
        found += forwards + backwards or _narrow(weighted)
    found += zero + _dead(layers) + _merged(layers)
    return tuple(sorted(found, key=lambda fault: -fault.weight))


def _zero(layers: tuple[Layer, ...]) -> list[Fault]:
    """Layers whose weights are all zero, where they let no gradient pass to any layer before them."""
    found = []
    for i, layer in enumerate(layers):
        before = [other.gradient for other in layers[:i] if other.weighted]
        if layer.zero and all(not g for g in before):
            what = f"All weights of '{layer.name}' ({layer.kind}) are zero: it passes on no signal and no gradient"
            cure = "Initialize it at random; zero is for the last layer of a residual branch"
            last = not any(other.weighted for other in layers[i + 1 :])  # its own gradient is there: it will leave zero
            found.append(Fault("zero", layer.name, what, cure, 60.0 if last else 400.0))
    return found


def _travel(layers: list[Layer], quantity: str) -> list[Fault]:
    """Equation (1), for activations forwards and for gradients backwards."""
    backwards = quantity == "update"
    order = [layer for layer in (reversed(layers) if backwards else layers) if getattr(layer, quantity) is not None]
    if len(order) < 2:
        return []
    logs = [log(max(getattr(layer, quantity), NOTHING)) for layer in order]
    total, steps = logs[-1] - logs[0], [b - a for a, b in zip(logs, logs[1:], strict=False)]
    if abs(total) <= log(RANGE):
        return []
    word = "vanishing" if total < 0 else "exploding"
    at = max(range(len(steps)), key=lambda i: steps[i] * (1 if total > 0 else -1))
    alone = abs(steps[at]) > abs(total) / 2 and len(steps) > 1
    # A gradient changes between a layer and the next one backwards: the layer passed through is the later one.
    name = order[at if backwards else at + 1].name if alone else None
    passed = f"{exp(steps[at] if alone else total / len(steps)):.2g}"
    which = f"'{name}' alone" if alone else f"each of {len(order)} layers"
    plural = "gradients" if backwards else "activations"
    what = f"{word.capitalize()} {plural}: their squares change by {exp(total):.1e} on the way; {which} by {passed}"
    return [Fault(f"{word} {plural}", name, what, _cure(word), 100.0 + abs(total))]


def _narrow(layers: list[Layer]) -> list[Fault]:
    """A layer that by itself lets almost nothing through, either way, though a bias behind it hides that."""
    for i, layer in enumerate(layers[1:], start=1):
        before, passed = layers[i - 1].activation, layer.gradient
        if not before or layer.activation is None or not passed or layer.activation > before / RANGE:
            continue
        reached = [other.gradient * other.size for other in layers[:i] if other.gradient is not None]
        if reached and max(reached) < passed * layer.size / RANGE:  # no way around it
            share = max(layer.activation / before, NOTHING)
            what = (
                f"'{layer.name}' ({layer.kind}) lets through {share:.1e} of the signal, and as little of the gradient"
            )
            return [Fault("vanishing activations", layer.name, what, _cure("vanishing"), 100.0 - log(share))]
    return []


def _cure(word: str) -> str:
    if word == "vanishing":
        return (
            "Raise the weights to variance 2 / fan_in for relu, 1 / fan_in for tanh; or add normalization, or residual "
            "branches"
        )
    return (
        "Lower the weights to variance 2 / fan_in for relu, 1 / fan_in for tanh; or add normalization; scale residual "
        "branches by depth^(-1/2)"
    )


def _dead(layers: tuple[Layer, ...]) -> list[Fault]:
    found = []
    first = next((i for i, layer in enumerate(layers) if layer.weighted), 0)  # before it, columns of the data
    for layer in layers[first:]:
        counted = layer.units > 1 and layer.kind != "Flatten" and not layer.zero
        if layer.dead is not None and layer.dead > DEAD and counted:
            what = f"{layer.dead:.0%} of the {layer.units} units of '{layer.name}' ({layer.kind}) are dead"
            cure = "Lower the learning rate or the biases, or use an activation without a flat side"
            found.append(Fault("dead", layer.name, what, cure, 300.0 if layer.dead == 1 else 50.0 * layer.dead))
    return found[:1]


def _merged(layers: tuple[Layer, ...]) -> list[Fault]:
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
    what = f"Different inputs look alike from '{first.name}' on: mean correlation {last.correlation:.6f} in the end"
    cure = "Use weights of critical variance (2 / fan_in for relu, 1 / fan_in for tanh) and small biases"
    return [Fault("merged", first.name, what, cure, 40.0)]
