"""Measures how well classes separate in each layer, with simple classifiers (probes) of its representation.

    linear = accuracy of a ridge classifier,    nearest = accuracy of the nearest neighbor, both on held-out examples
    fisher = tr(S_within) / tr(S_between)                                                                        (1)
    contraction = mean distance within classes / mean distance of all                                            (2)
    dimension = (n - 1) / sum_i log(r_i2 / r_i1),    r_i1 and r_i2 the distances to the two nearest points        (3)

Maps are averaged over positions.
Hypotheses: classes as targets; (3) points of locally constant density.
Reference: [papyan2020prevalence], (1); [facco2017estimating], (3).
Cost: one forward pass, and for each layer the distances of the examples.

>>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU())
>>> x = torch.randn(80, 2)
>>> [layer.name for layer in layer_probe(net, (x, (x[:, 0] > 0).long())).layers]
['input', '0', '1']
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attribution.layers import names_of_called_layers
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.record import Record

__all__ = ["OneLayerProbe", "LayerProbeReport", "intrinsic_dimension", "layer_probe"]

MAX_EXAMPLES = 2000
"""Maximum number of examples used."""
RELATIVE_RIDGE = 1e-3
"""Ridge penalty of the linear probe, per example."""
MAX_FEATURES = 20_000
"""Maximum number of features of a representation; larger ones, such as raw pixels of large images, are skipped."""


@dataclass(frozen=True, slots=True)
class OneLayerProbe(Record):
    """Results of simple classifiers (probes) on one layer's output: accuracies, spread within classes, and dimension.

    See equations (1) to (3) of the module docstring.

    >>> OneLayerProbe("conv", 0.9, 0.8, 0.5, 0.7, 4.0).name
    'conv'
    """

    name: str
    linear: float
    nearest: float
    fisher: float
    contraction: float
    dimension: float


@dataclass(frozen=True, slots=True)
class LayerProbeReport(Result):
    """Result: how well simple classifiers (probes) predict the class from the input and from each layer's output."""

    layers: tuple[OneLayerProbe, ...]

    @property
    def verdict(self) -> str:
        """States in one sentence how the accuracy of simple classifiers changes from the first to the last layer."""
        first, last = self.layers[0], self.layers[-1]
        start = "the input" if first.name == "input" else f"the output of '{first.name}'"
        return (
            f"A linear classifier on {start} is right on {first.linear:.0%} of the examples, one on "
            f"the output of '{last.name}' on {last.linear:.0%} (linear probes)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the probes' accuracies and the spread within classes over depth."""
        depth = range(len(self.layers))
        rising = [Line(n, depth, [getattr(layer, n) for layer in self.layers]) for n in ("linear", "nearest")]
        spread = Line("within / between", depth, [layer.fisher for layer in self.layers])
        words = "Rising curves mean that deeper layers separate the classes better."
        return (
            Plot("Separation of classes", tuple(rising), Axis("layer"), Axis("accuracy of a probe"), words),
            Plot(
                "Spread within classes",
                (spread,),
                Axis("layer"),
                Axis("within / between classes", log=True),
                "Variance of the outputs within a class, divided by the variance between classes. A falling curve "
                "means that deeper layers bring the examples of a class closer together.",
            ),  # fmt: skip
        )


@add_call_to_errors
def layer_probe(
    module: nn.Module, data: Any, *, layers: Sequence[str] | None = None, seed: int = 0
) -> LayerProbeReport:
    """Measures how well simple classifiers predict the class from the input and from each layer's output.

    Hypotheses: see the module.
    Reference: [alain2017understanding], linear probes.
    Cost: one forward pass, and for each layer a ridge regression and the distances of the examples.

    >>> x = torch.randn(60, 3)
    >>> layer_probe(nn.Sequential(nn.Linear(3, 4)), (x, (x[:, 0] > 0).long())).layers[0].linear > 0.7
    True
    """
    check_module_is_callable(module)
    batch = data_source(data, module=module).probe(MAX_EXAMPLES, seed=seed)
    if batch.y is None or batch.y.is_floating_point() or len(batch) < 8:
        fix = "Pass at least 8 examples with whole numbers as classes"
        raise InputError(
            "there are too few examples, or their targets are not classes", accepted="examples with classes", fix=fix
        )
    y = batch.y.unique(return_inverse=True)[1]
    names = list(layers) if layers is not None else names_of_called_layers(module, batch.x)
    kept = outputs_of_layers(module, batch.x, names, keep=pool_positions)
    x = batch.x
    small = isinstance(x, Tensor) and x.is_floating_point() and x[0].numel() <= MAX_FEATURES
    rows = ({"input": pool_positions(x)} if isinstance(x, Tensor) and small else {}) | kept
    found = [_probe(name, h, y) for name, h in rows.items() if len(h) == len(y) and h.shape[1] <= MAX_FEATURES]
    return LayerProbeReport(tuple(found))


def pool_positions(h: Tensor) -> Float[Tensor, "n d"]:
    """Returns a layer's outputs as rows: averages tokens over positions, and images with many channels over pixels."""
    h = h.detach().double()
    return h.mean((2, 3)) if h.dim() == 4 and h.shape[1] > 3 else h.mean(1) if h.dim() == 3 else h.flatten(1)


def _probe(name: str, h: Float[Tensor, "n d"], y: Int[Tensor, " n"]) -> OneLayerProbe:
    fit = torch.zeros(len(y), dtype=torch.bool)
    fit[torch.randperm(len(y), generator=torch.Generator().manual_seed(0))[: len(y) // 2]] = True
    h = h - h[fit].mean(0)
    h = h / h[fit].square().mean().sqrt().clamp(min=1e-30)
    goal = nn.functional.one_hot(y).double()
    rows = torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], 1)
    linear = float((_ridge(rows[fit], goal[fit], rows[~fit]).argmax(1) == y[~fit]).double().mean())
    apart = torch.cdist(h, h)
    nearest = float((y[fit][apart[~fit][:, fit].argmin(1)] == y[~fit]).double().mean())
    pairs = ~torch.eye(len(y), dtype=torch.bool)
    same = (y[:, None] == y) & pairs
    contraction = float(apart[same].mean() / apart[pairs].mean().clamp(min=1e-30))  # (2)
    return OneLayerProbe(name, linear, nearest, _fisher(h, y), contraction, intrinsic_dimension(h))


def _ridge(rows: Tensor, goal: Tensor, others: Tensor) -> Tensor:
    """Returns predictions of ridge regression on new rows, using the smaller of the two Gram matrices."""
    n, d = rows.shape
    if d <= n:
        inner = rows.T @ rows + RELATIVE_RIDGE * n * torch.eye(d, dtype=rows.dtype)
        return others @ torch.linalg.solve(inner, rows.T @ goal)
    inner = rows @ rows.T + RELATIVE_RIDGE * n * torch.eye(n, dtype=rows.dtype)
    return (others @ rows.T) @ torch.linalg.solve(inner, goal)


def _fisher(h: Float[Tensor, "n d"], y: Int[Tensor, " n"]) -> float:
    means = torch.stack([h[y == c].mean(0) for c in y.unique()])
    counts = y.bincount().double()
    within = float((h - means[y]).square().sum())
    between = float((counts[:, None] * (means - h.mean(0)).square()).sum())
    return within / max(between, 1e-30)  # (1)


def intrinsic_dimension(h: Float[Tensor, "n d"]) -> float:
    """Estimates the intrinsic dimension of a set of points from distances to nearest neighbors.

    See equation (3) of the module docstring.
    Hypotheses: locally constant density.
    Reference: [facco2017estimating].
    Cost: all distances of the points.

    >>> line = torch.rand(400, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> abs(intrinsic_dimension(line @ torch.ones(1, 5, dtype=torch.float64)) - 1) < 0.15
    True
    """
    h = h.unique(dim=0)
    if len(h) < 4:
        return 0.0
    two = torch.cdist(h, h).topk(3, largest=False).values[:, 1:]
    ratio = (two[:, 1] / two[:, 0].clamp(min=1e-300)).log()
    return float((len(h) - 1) / ratio.sum().clamp(min=1e-12))  # (3)
