"""Bounds on the gap between training and test error from weights and margins, each with all its factors.

With gamma the margin of training, B the largest |x|, W_i the layers, h_i their units, and C as follows, the gap is of
order sqrt(C / n), up to constants and logarithms:

    rows         C = (B / gamma)^2 prod |W_i|_{1,inf}^2                                                          (1)
    Frobenius    C = (B / gamma)^2 prod |W_i|_F^2                                                                (2)
    spectral-1   C = (B / gamma)^2 prod |W_i|_2^2 sum |W_i|_{1,2}^2 / |W_i|_2^2                                  (3)
    spectral-F   C = (B / gamma)^2 prod |W_i|_2^2 sum h_i |W_i|_F^2 / |W_i|_2^2                                  (4)
    compression  C = (max |f| / gamma)^2 sum c^2 / (mu_i mu_i>)^2,  the cushions of `cushions`                   (5)
    spectral     C = (R_A |X|_F / gamma)^2 / n,  the spectral complexity of `output_margins`                    (6)
    path         C = (B path norm / gamma)^2                                                                     (7)
    parameters   C = p L ln p,  the VC dimension of a ReLU network of p weights in L layers                      (8)

Most of these say nothing for real networks: they are for comparing networks, and their factors tell what is large.

Hypotheses: independent examples; Linear layers one after another, ReLU; for (5) a ``nn.Sequential`` of these. With
skips, normalization or attention the bounds are no theorems: the premise is shown as broken, and (7) is left out.
Reference: [bartlett2002rademacher] for (1), [neyshabur2015norm] for (2) and (7), [bartlett2017spectrally] for (3) and
(6), [neyshabur2018pac] for (4), [arora2018stronger] for (5), [bartlett2019nearly] for (8).
"""

from dataclasses import dataclass
from math import inf, log, prod, sqrt
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, called, lesson
from gnomon.core.inputs import tensors
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Axis, Bars, Definition, Hypothesis, Interval, Plot, Reference, Result, Value
from gnomon.core.source import source
from gnomon.generalization.bound import Bound
from gnomon.generalization.cushions import cushions
from gnomon.generalization.norms import LAYERS, LayerNorms, path_norm
from gnomon.generalization.output_margins import OutputMargins, output_margins

__all__ = ["GeneralizationBounds", "generalization_bounds"]

CALL = "generalization_bounds(module, data)"
QUANTILE = 0.1
"""Share of the training examples that may have a smaller margin than gamma."""
PROBED = 200
"""Examples on which cushions are measured."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class GeneralizationBounds(Result):
    """All bounds that the network has, the smallest first; ``gap`` is what was measured, ``margin`` is gamma.

    >>> import torch
    >>> x = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    >>> net = nn.Sequential(nn.Linear(3, 2, bias=False))
    >>> _ = nn.init.eye_(net[0].weight)
    >>> y = net(x).argmax(1)
    >>> found = generalization_bounds(net, (x, y), test=(x, y))
    >>> found["frobenius"].vacuous, float(found.gap.value)
    (True, 0.0)
    """

    bounds: tuple[Bound, ...]
    margin: float
    train_error: float
    gap: Value | None
    examples: int

    def __getitem__(self, name: str) -> Bound:
        """A bound by its name."""
        return next(bound for bound in self.bounds if bound.name == name)

    @property
    def verdict(self) -> str:
        """One sentence."""
        best, seen = self.bounds[0], self.gap
        beside = "" if seen is None else f" The measured gap is {float(seen.value):.2%} ({seen.interval})."
        says = "says nothing, and no other bound does" if best.vacuous else "says something"
        part = f"its largest part is '{best.dominating.name}' ({float(best.dominating.value):.3g})"
        return f"The smallest bound, '{best.name}', is {best.value:.3g} and {says}; {part}.{beside}"

    def plots(self) -> tuple[Plot, ...]:
        """All bounds on one scale, and the measured gap."""
        bars = Bars("bound", [b.name for b in self.bounds], [b.value for b in self.bounds])
        seen = () if self.gap is None else (Reference("measured gap", float(self.gap.value), vertical=True),)
        words = "Right of 1 a bound says nothing; the order of the bounds still compares networks."
        return (Plot("Bounds on the gap", (bars, *seen), Axis("test error - training error", log=True), caption=words),)


def generalization_bounds(
    module: nn.Module, data: Any, *, test: Any = None, start: nn.Module | None = None, delta: float = 0.05
) -> GeneralizationBounds:
    """Every bound (1) to (8) for a trained classifier, with factors and premises, beside the measured gap.

    Args:
        module: a trained classifier.
        data: its training examples.
        test: examples that were kept apart; without them the gap is not measured.
        start: the network before training, from which (6) measures distances.
        delta: the risk that theory would take; it enters (1) to (8) only by logarithms, which are left out.

    Hypotheses: those of the module; each is checked where it can be, and listed with the bound.
    Reference: [jiang2020fantastic].
    Cost: two forward passes, and that of `norms`.

    >>> import torch
    >>> x, net = torch.eye(2), nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.eye_(net.weight)
    >>> found = generalization_bounds(net, (x, torch.tensor([0, 1])))
    >>> round(found["frobenius"].value, 6)                              # B / gamma = 1, |W|_F = sqrt(2), n = 2
    1.0
    """
    with called(CALL):
        train = output_margins(module, data, start=start)
        x, _ = source(data, module=module, call=CALL).pair()
    first = next(iter(tensors(x)))
    if not first.is_floating_point():
        found = f"x is {first.dtype} of shape {tuple(first.shape)}"
        raise InputError(lesson(CALL, found, "inputs that have a length", "Pass embeddings in place of tokens"))
    gamma = train.quantile(QUANTILE) if train.error < QUANTILE else train.quantile((1 + train.error) / 2)
    if not gamma > 0:
        found = f"{train.error:.0%} of the training examples are wrong or tied, and the margin is {gamma:.3g}"
        raise InputError(lesson(CALL, found, "a positive margin", "Train the network first, or pass its own examples"))
    gap = None if test is None else _gap(train, output_margins(module, test))
    plain = all(not isinstance(part, LAYERS) or isinstance(part, nn.Linear) for part in module.modules())
    chain, apart = _chain(module)
    premises = (
        Hypothesis("examples are independent and of one law", None),
        Hypothesis("layers follow one another", chain, apart),
        Hypothesis("layers are fully connected", plain, "" if plain else "convolutions enter by their matrix"),
        Hypothesis("activations are ReLU", _relu(module)),
    )
    radius = float(first.double().flatten(1).norm(dim=1).max())
    made = [*_norm_bounds(train.layers, radius / gamma), *_others(module, train, gamma)]
    if chain is not False:
        paths = {"largest input / margin": radius / gamma, "path norm": path_norm(module, tuple(first.shape[1:]))}
        made.append(("path", paths, "C of (7)", "neyshabur2015norm"))
    if plain and isinstance(module, nn.Sequential) and _relu(module):
        kept = cushions(module, first[:PROBED])
        parts = {"largest output / margin": kept.largest / gamma, "cushions": sqrt(kept.total)}
        made.append(("compression", parts, "sqrt(C / n), C of (5)", "arora2018stronger"))
    n = len(train.values)
    bounds = [
        Bound(
            name,
            prod(parts.values()) / sqrt(n),
            (*(Value(what, size) for what, size in parts.items()), Value("1 / sqrt(n)", n**-0.5)),
            delta,
            premises,
            Definition(words, "the gap between training and test error, up to constants and logarithms", key),
            gap,
            order=True,
        )
        for name, parts, words, key in made
    ]
    return GeneralizationBounds(tuple(sorted(bounds, key=lambda b: b.value)), gamma, train.error, gap, n)


Made = tuple[str, dict[str, float], str, str]


def _norm_bounds(layers: tuple[LayerNorms, ...], scale: float) -> list[Made]:
    """Equations (1) to (4): their roots, factor by factor."""
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
    """Equations (6) and (8)."""
    n = len(train.values)
    p, depth = sum(q.numel() for q in module.parameters()), len(train.layers)
    vc = {"sqrt(weights)": sqrt(p), "sqrt(layers ln weights)": sqrt(depth * log(max(p, 2)))}
    size = {"inputs / margin": train.size / sqrt(n) / gamma, "spectral complexity": train.complexity}
    return [
        ("spectral", size, "R_A |X|_F / (gamma n)", "bartlett2017spectrally"),
        ("parameters", vc, "C of (8)", "bartlett2019nearly"),
    ]


def _relu(module: nn.Module) -> bool | None:
    """Whether the activations are ReLU: told for modules whose parts are all known."""
    leaves = [part for part in module.modules() if not any(True for _ in part.children())]
    neutral = (*LAYERS, nn.Flatten, nn.Dropout, nn.Identity, nn.ReLU)
    return True if all(isinstance(part, neutral) for part in leaves) else None


def _chain(module: nn.Module) -> tuple[bool | None, str]:
    """Whether layers follow one another, and what speaks against it; None where only ``forward`` could tell."""
    inside = {id(p) for part in module.modules() if isinstance(part, LAYERS) for p in part.parameters()}
    apart = [name for name, p in module.named_parameters() if id(p) not in inside]
    if apart:
        return False, f"'{apart[0]}' and {len(apart) - 1} more parameters belong to no Linear or Conv layer"
    plain = all(isinstance(m, nn.Sequential) or not any(True for _ in m.children()) for m in module.modules())
    return (True, "") if plain else (None, "")


def _gap(train: OutputMargins, test: OutputMargins) -> Value:
    """Test error minus training error, with the interval of the test error."""
    n = len(test.values)
    sure = binomial_interval(round(test.error * n), n, confidence=CONFIDENCE)
    interval = Interval(sure.low - train.error, sure.high - train.error, CONFIDENCE)
    return Value("test error - training error", test.error - train.error, interval, "estimate")
