"""Bounds on the gap between training and test error from weights and margins, each with all its factors.

With gamma the margin of training, B the largest |x|, W_i the layers, h_i their units, and C as follows, the gap is of
order sqrt(C / n), up to constants and logarithms:

    rows         C = (B / gamma)^2 prod |W_i|_{1,inf}^2                                                          (1)
    Frobenius    C = (B / gamma)^2 prod |W_i|_F^2                                                                (2)
    spectral-1   C = (B / gamma)^2 prod |W_i|_2^2 sum |W_i|_{1,2}^2 / |W_i|_2^2                                  (3)
    spectral-F   C = (B / gamma)^2 prod |W_i|_2^2 sum h_i |W_i|_F^2 / |W_i|_2^2                                  (4)
    compression  C = (max |f| / gamma)^2 sum c^2 / (mu_i mu_i>)^2,  the cushions of `layer_noise_tolerance`          (5)
    spectral     C = (R_A |X|_F / gamma)^2 / n,  the spectral complexity of `output_margins`                    (6)
    path         C = (B path norm / gamma)^2                                                                     (7)
    parameters   C = p L ln p,  the VC dimension of a ReLU network of p weights in L layers                      (8)

Most of these bounds are vacuous for real networks. Use them to compare networks; their factors show what is large.

A bound whose hypotheses do not hold for the module is not reported: `GeneralizationBounds.excluded` has its name and
the reason. The same goes for a bound that is below the measured gap by more than chance, because then the constants
and logarithms that are left out decide, and its value says nothing.

Hypotheses: independent examples; Linear layers one after another, checked by `relu_chain`; ReLU between them, for (1),
(3) and (6) ReLU or tanh. Biases are not counted, except in (7).
Reference: [bartlett2002rademacher] for (1), [neyshabur2015norm] for (2) and (7), [bartlett2017spectrally] for (3) and
(6), [neyshabur2018pac] for (4), [arora2018stronger] for (5), [bartlett2019nearly] for (8).
"""

from dataclasses import dataclass
from math import inf, log, prod, sqrt
from typing import Any

from torch import Tensor, nn

from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.bounds.cushions import layer_noise_tolerance
from gnomon.bounds.norms import LayerNorms, path_norm
from gnomon.bounds.output_margins import OutputMargins, output_margins
from gnomon.bounds.relu_chain import ReluChain, read_relu_chain
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Axis, Bars, Hypothesis, Interval, Plot, QuantityDefinition, Reference, Result, Value

__all__ = ["GeneralizationBounds", "generalization_bounds"]

MARGIN_QUANTILE = 0.1
"""Share of the training examples that may have a smaller margin than gamma."""
PROBE_EXAMPLES = 200
"""Examples on which cushions are measured."""
CONFIDENCE_LEVEL = 0.95
"""Confidence level of the interval."""
EVERY = ("rows", "frobenius", "spectral-1", "spectral-F", "compression", "spectral", "path", "parameters")
"""Names of all bounds, in the order of their equations."""
FOR_TANH = ("rows", "spectral-1", "spectral")
"""Bounds for every activation with Lipschitz constant 1 that maps zero to zero."""


@dataclass(frozen=True, slots=True)
class GeneralizationBounds(Result):
    """Result: all bounds on the generalization gap that apply to a network, smallest first, and the measured gap.

    ``excluded`` are the bounds that do not apply to this network, by name, each with the reason.

    >>> import torch
    >>> x = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    >>> net = nn.Sequential(nn.Linear(3, 2, bias=False))
    >>> _ = nn.init.eye_(net[0].weight)
    >>> y = net(x).argmax(1)
    >>> found = generalization_bounds(net, (x, y), test=(x, y))
    >>> found["frobenius"].vacuous, float(found.gap.value)
    (True, 0.0)
    """

    bounds: tuple[GeneralizationErrorBound, ...]
    margin: float
    train_error: float
    gap: Value | None
    examples: int
    excluded: dict[str, str]

    def __getitem__(self, name: str) -> GeneralizationErrorBound:
        """Returns the bound with the given name; raises an error if the bound does not apply."""
        found = next((bound for bound in self.bounds if bound.name == name), None)
        if found is None:
            what = f"the bound '{name}' does not apply: {self.excluded.get(name, 'the name is unknown')}"
            raise InputError(what, accepted="the assumptions of the bound", fix=f"Use one of {list(self.names)}")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the bounds that apply, the smallest bound first."""
        return tuple(bound.name for bound in self.bounds)

    @property
    def verdict(self) -> str:
        """States the smallest bound on the generalization gap, compared with the measured gap."""
        seen = self.gap
        measured = (
            ""
            if seen is None
            else f" The measured gap between test error and training error is "
            f"{float(seen.value):.2%} ({seen.interval})."
        )
        if not self.bounds:
            return f"No bound applies to this network: {next(iter(self.excluded.values()))}.{measured}"
        best = self.bounds[0]
        says = "vacuous, like all others" if best.vacuous else "not vacuous"
        part = f"its largest part is '{best.dominating.name}' ({float(best.dominating.value):.3g})"
        return f"The smallest bound, '{best.name}', is {best.value:.3g}, {says}; {part}.{measured}"

    def plots(self) -> tuple[Plot, ...]:
        """Plots all bounds on the generalization gap on one scale, with the measured gap."""
        if not self.bounds:
            return ()
        bars = Bars("bound", [b.name for b in self.bounds], [b.value for b in self.bounds])
        seen = () if self.gap is None else (Reference("measured gap", float(self.gap.value), vertical=True),)
        words = "Bounds above 1 guarantee nothing, but a network with smaller bounds usually generalizes better."
        return (Plot("Bounds on the gap", (bars, *seen), Axis("test error - training error", log=True), caption=words),)


@add_call_to_errors
def generalization_bounds(
    module: nn.Module, data: Any, *, test: Any = None, start: nn.Module | None = None, confidence: float = 0.95
) -> GeneralizationBounds:
    """Computes eight bounds on the generalization gap of a trained classifier, and the measured gap.

    See equations (1) to (8) of the module docstring.

    Args:
        module: a trained classifier.
        data: its training examples.
        test: held-out examples; without them the gap is not measured.
        start: the network before training, from which (6) measures distances.
        confidence: the probability that a bound holds, 1 - delta; delta enters (1) to (8) only by logarithms,
            which are left out.

    Hypotheses: as for the module; each is checked if possible, and listed with the bound.
    Reference: [jiang2020fantastic].
    Cost: two forward passes, and the cost of `norms`.

    >>> import torch
    >>> x, net = torch.eye(2), nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.eye_(net.weight)
    >>> found = generalization_bounds(net, (x, torch.tensor([0, 1])))
    >>> round(found["frobenius"].value, 6)                              # B / gamma = 1, |W|_F = sqrt(2), n = 2
    1.0
    """
    train = output_margins(module, data, start=start)
    x, _ = data_source(data, module=module).pair()
    first = next(iter(input_tensors(x)))
    if not first.is_floating_point():
        found = f"x is {first.dtype} of shape {tuple(first.shape)}"
        raise InputError(found, accepted="floating-point inputs", fix="Pass embeddings in place of tokens")
    gamma = train.quantile(MARGIN_QUANTILE) if train.error < MARGIN_QUANTILE else train.quantile((1 + train.error) / 2)
    if not gamma > 0:
        found = f"{train.error:.0%} of the training examples are wrong or tied, and the margin is {gamma:.3g}"
        raise InputError(found, accepted="a positive margin", fix="Train the network first, or pass its own examples")
    gap = None if test is None else _gap(train, output_margins(module, test))
    chain = read_relu_chain(module, first[:PROBE_EXAMPLES])
    premises = (
        Hypothesis("examples are independent and identically distributed", None),
        Hypothesis("layers are fully connected and follow one another", chain.layers is not None, chain.reason),
    )
    relu = Hypothesis("activations are ReLU", chain.activation == "relu")
    smooth = Hypothesis("activations are ReLU or tanh", chain.activation in ("relu", "tanh"))
    radius = float(first.double().flatten(1).norm(dim=1).max())
    made = [*_norm_bounds(train.layers, radius / gamma), *_others(module, train, gamma)]
    excluded = _exclude(chain)
    if "path" not in excluded:
        made += _of_chain(chain, first, radius, gamma)
    n = len(train.values)
    bounds = [
        GeneralizationErrorBound(
            name,
            prod(parts.values()) / sqrt(n),
            (*(Value(what, size) for what, size in parts.items()), Value("1 / sqrt(n)", n**-0.5)),
            1 - confidence,
            (*premises, smooth if name in FOR_TANH else relu),
            QuantityDefinition(words, "the gap between training and test error, up to constants and logarithms", key),
            gap,
            order=True,
        )
        for name, parts, words, key in made
        if name not in excluded
    ]
    excluded |= {b.name: _below(b, gap) for b in bounds if gap is not None and b.value < _surely_above(gap)}
    kept = sorted((b for b in bounds if b.name not in excluded), key=lambda b: b.value)
    return GeneralizationBounds(tuple(kept), gamma, train.error, gap, n, excluded)


Made = tuple[str, dict[str, float], str, str]


def _norm_bounds(layers: tuple[LayerNorms, ...], scale: float) -> list[Made]:
    """Returns the bounds on the generalization gap that use layer norms, with their factors.

    See equations (1) to (4) of the module docstring.
    """
    spectral = prod(layer.spectral for layer in layers)
    ones = sqrt(sum((a.row_sum_square / a.spectral) ** 2 if a.spectral else inf for a in layers))
    ranks = sqrt(sum(a.units * a.stable_rank for a in layers))
    first = {"largest input / margin": scale}
    return [
        (
            "rows",
            first | {"product of row sums": prod(a.row_sum for a in layers)},
            "C of (1)",
            "bartlett2002rademacher",
        ),
        (
            "frobenius",
            first | {"product of Frobenius norms": prod(a.frobenius for a in layers)},
            "C of (2)",
            "neyshabur2015norm",
        ),
        (
            "spectral-1",
            first | {"product of spectral norms": spectral, "sum over layers": ones},
            "C of (3)",
            "bartlett2017spectrally",
        ),
        (
            "spectral-F",
            first | {"product of spectral norms": spectral, "sum over layers": ranks},
            "C of (4)",
            "neyshabur2018pac",
        ),
    ]


def _others(module: nn.Module, train: OutputMargins, gamma: float) -> list[Made]:
    """Returns two bounds on the generalization gap: by spectral norms and margins, and by the number of parameters.

    See equations (6) and (8) of the module docstring.
    """
    n = len(train.values)
    p, depth = sum(q.numel() for q in module.parameters()), len(train.layers)
    vc = {"sqrt(weights)": sqrt(p), "sqrt(layers ln weights)": sqrt(depth * log(max(p, 2)))}
    size = {"inputs / margin": train.size / sqrt(n) / gamma, "spectral complexity": train.complexity}
    return [
        ("spectral", size, "R_A |X|_F / (gamma n)", "bartlett2017spectrally"),
        ("parameters", vc, "C of (8)", "bartlett2019nearly"),
    ]


def _of_chain(chain: ReluChain, x: Tensor, radius: float, gamma: float) -> list[Made]:
    """Returns two bounds on the generalization gap (compression, paths) that need a chain of Linear layers and ReLUs.

    See equations (5) and (7) of the module docstring.
    """
    assert chain.layers is not None
    kept = layer_noise_tolerance(chain.layers, x[:PROBE_EXAMPLES])
    parts = {"largest output / margin": kept.largest / gamma, "cushions": sqrt(kept.total)}
    paths = {"largest input / margin": radius / gamma, "path norm": path_norm(chain.layers, tuple(x.shape[1:]))}
    return [
        ("compression", parts, "sqrt(C / n), C of (5)", "arora2018stronger"),
        ("path", paths, "C of (7)", "neyshabur2015norm"),
    ]


def _exclude(chain: ReluChain) -> dict[str, str]:
    """Returns the names of bounds whose assumptions the network does not meet, each with the reason."""
    if chain.layers is None:
        return dict.fromkeys(EVERY, chain.reason)
    if chain.activation == "relu":
        return {}
    return {name: f"the activation is {chain.activation}, and not ReLU" for name in EVERY if name not in FOR_TANH}


def _surely_above(gap: Value) -> float:
    """Returns the lower end of the confidence interval of the measured generalization gap."""
    return gap.interval.low if isinstance(gap.interval, Interval) else float(gap.value)


def _below(bound: GeneralizationErrorBound, gap: Value) -> str:
    return (
        f"its value, {bound.value:.3g}, is below the measured gap of {float(gap.value):.3g}: the constants and "
        "logarithms that are left out decide here"
    )


def _gap(train: OutputMargins, test: OutputMargins) -> Value:
    """Returns test error minus training error, with the confidence interval of the test error."""
    n = len(test.values)
    sure = binomial_interval(round(test.error * n), n, confidence=CONFIDENCE_LEVEL)
    interval = Interval(sure.low - train.error, sure.high - train.error, CONFIDENCE_LEVEL)
    return Value("test error - training error", test.error - train.error, interval, "estimate")
