"""What the variance of features is made of, where two networks put their units, and what data cannot see of weights.

    total = between classes + nuisance within a class + rest                                                      (1)
    sliced Wasserstein distance of the neurons (w_in, m^e w_out) of two layers, of any widths                     (2)
    invisible share of a weight W = |W (1 - P)|^2 / |W|^2,  P the projector on the layer's inputs                 (3)

Hypotheses: (1) means over a balanced design or not: sums of squares are taken in this order. (3) inputs of the layer
are all examples (and places, for convolutions).
Reference: [fisher1922interpretation] and [hastie2009elements] for (1); [mei2018mean] for (2); [soudry2018implicit],
section 2, on the part of the weights that data never move.

>>> import torch
>>> x = torch.tensor([[0.0], [0.0], [2.0], [2.0]])
>>> variance_shares(x, torch.tensor([0, 0, 1, 1])).between
1.0
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.checks import as_numbers, as_targets, check_readable, check_seed, integer, number
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import invoke
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.source import source_of_inputs
from gnomon.core.untouched import untouched

__all__ = [
    "InvisibleWeights",
    "NeuronDistance",
    "VarianceShares",
    "invisible_weights",
    "neuron_distance",
    "variance_shares",
]


@dataclass(frozen=True, slots=True)
class VarianceShares(Result):
    """Shares of (1), which add up to one; ``nuisance`` is zero where none is given."""

    between: float
    nuisance: float
    rest: float

    @property
    def separation(self) -> float:
        """Between over within, the ratio of Fisher; infinite where classes are points."""
        within = self.nuisance + self.rest
        return self.between / within if within > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """What most of the variance is."""
        return (
            f"{self.between:.0%} of the variance of the features is between classes, {self.nuisance:.0%} comes from "
            f"the nuisance, {self.rest:.0%} is neither."
        )

    def plots(self) -> tuple[Plot, ...]:
        """The three shares."""
        bars = Bars("share", ("between classes", "nuisance", "rest"), (self.between, self.nuisance, self.rest))
        return (Plot("Variance of the features", (bars,), Axis("share", limits=(0, 1)), caption=self.verdict),)


@dataclass(frozen=True, slots=True)
class NeuronDistance(Result):
    """The distance (2) of two layers' neurons, the spread of the first one's, and both widths."""

    distance: float
    spread: float
    widths: tuple[int, int]

    @property
    def verdict(self) -> str:
        """How different the two sets of neurons are."""
        return (
            f"The neurons of the two networks ({self.widths[0]} and {self.widths[1]}) are {self.distance:.3g} apart, "
            f"{self.distance / max(self.spread, 1e-300):.1%} of their spread."
        )


@dataclass(frozen=True, slots=True)
class InvisibleWeights(Result):
    """By layer: the share (3) of its weights that no example sees, and the rank of its inputs."""

    shares: dict[str, float]
    ranks: dict[str, int]

    @property
    def verdict(self) -> str:
        """The layer with the largest share."""
        name = max(self.shares, key=self.shares.__getitem__)
        return (
            f"Up to {self.shares[name]:.0%} of the squared weights of a layer are not seen by the data ('{name}', "
            f"whose inputs span {self.ranks[name]} directions): only weight decay moves them."
        )

    def plots(self) -> tuple[Plot, ...]:
        """The share of each layer."""
        bars = Bars("share", tuple(self.shares), tuple(self.shares.values()))
        return (Plot("Weights that data do not see", (bars,), Axis("share of the square"), caption=self.verdict),)


def variance_shares(features: Array, labels: Array, nuisance: Array | None = None) -> VarianceShares:
    """How much of the variance of features is between classes, how much a nuisance, how much the rest; equation (1).

    Args:
        features: a row for each example: pixels, or the activations of a layer.
        labels: classes, whole numbers.
        nuisance: a second grouping, such as the angle an image was turned by, whole numbers.

    The nuisance's share is what means of (class, nuisance) explain beyond means of classes.
    Hypotheses: see the module. Reference: [fisher1922interpretation].
    Cost: one pass over the features for each grouping.

    >>> x = torch.tensor([[0.0], [1.0], [0.0], [1.0]])
    >>> variance_shares(x, torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])).nuisance
    1.0
    """
    call = "variance_shares(features, labels)"
    x = as_numbers(features, "features", call=call).detach().flatten(1).double()
    y = as_targets(labels, len(x), call=call).long()
    total = float((x - x.mean(0)).square().sum())
    if not total > 0:
        raise InputError(lesson(call, "all features are equal", "features that vary", "Pass more examples"))
    classes = _explained(x, y)
    both = classes
    if nuisance is not None:
        z = as_targets(nuisance, len(x), call=call).long()
        both = _explained(x, torch.unique(torch.stack([y, z], 1), dim=0, return_inverse=True)[1])
    return VarianceShares(classes / total, (both - classes) / total, max(0.0, 1 - both / total))  # (1)


def neuron_distance(
    a: nn.Module, b: nn.Module, *, layer: int = 0, exponent: float = 0.5, directions: int = 200, seed: int = 0
) -> NeuronDistance:
    """How far apart the hidden neurons of two networks are as distributions, also for different widths; equation (2).

    Args:
        a: a network with at least two linear layers.
        b: another with as many inputs and outputs of that layer's units.
        layer: the hidden layer, counted among linear layers.
        exponent: e of (2): outgoing weights are multiplied by width^e; 1/2 for usual initializations, 1 where the
            outputs are a mean over neurons.
        directions: of projections.
        seed: of the directions.

    Hypotheses: see the module. Reference: [mei2018mean].
    Cost: a sort of the neurons for each direction.

    >>> net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1))
    >>> neuron_distance(net, net).distance
    0.0
    """
    call = "neuron_distance(a, b)"
    power, m = number("exponent", exponent, call=call), integer("directions", directions, call=call)
    clouds = [_neurons(net, integer("layer", layer, call=call, least=0), power, call) for net in (a, b)]
    if clouds[0].shape[1] != clouds[1].shape[1]:
        found = f"neurons of {clouds[0].shape[1]} and {clouds[1].shape[1]} weights"
        raise InputError(lesson(call, found, "layers of the same inputs and outputs", "Compare such networks"))
    generator = torch.Generator().manual_seed(check_seed(seed, call=call))
    u = torch.nn.functional.normalize(
        torch.randn(clouds[0].shape[1], m, generator=generator, dtype=torch.float64), dim=0
    )
    grid = (torch.arange(512, dtype=torch.float64) + 0.5) / 512
    rows = [(cloud @ u).quantile(grid, dim=0, interpolation="nearest") for cloud in clouds]
    distance = float((rows[0] - rows[1]).square().mean().sqrt())  # (2)
    spread = float((clouds[0] @ u).var(0, correction=0).mean().sqrt())
    return NeuronDistance(distance, spread, (len(clouds[0]), len(clouds[1])))


def invisible_weights(module: nn.Module, x: Any) -> InvisibleWeights:
    """The share of each linear layer's weights that no example's input to it sees; equation (3).

    Args:
        module: read in eval mode and left as it was.
        x: inputs, or data.

    Hypotheses: see the module; linear layers. Reference: [soudry2018implicit].
    Cost: a forward pass, and the eigenvectors of the covariance of each layer's inputs.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> net.weight.data = torch.tensor([[3.0, 4.0]])
    >>> told = invisible_weights(net, torch.tensor([[1.0, 0.0]]))                      # the second weight is not seen
    >>> round(told.shares[""], 4)
    0.64
    """
    call = "invisible_weights(module, x)"
    check_readable(module, call=call)
    layers = {name: part for name, part in module.named_modules() if isinstance(part, nn.Linear)}
    if not layers:
        raise InputError(lesson(call, "there is no linear layer", "a network with nn.Linear", "Pass such a network"))
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, args: Any) -> None:
            h = args[0].detach().double().reshape(-1, args[0].shape[-1])
            seen[name] = seen.get(name, 0) + h.T @ h

        return hook

    with untouched(module), torch.no_grad():
        handles = [part.register_forward_pre_hook(keep(name)) for name, part in layers.items()]
        try:
            for batch in source_of_inputs(x, module, call=call).batches():
                invoke(module, batch.x, call=call)
        finally:
            for handle in handles:
                handle.remove()
    shares, ranks = {}, {}
    for name, gram in seen.items():
        values, vectors = torch.linalg.eigh(gram)
        inside = values > 1e-10 * float(values[-1].clamp_min(1e-300))
        w = layers[name].weight.detach().double()
        ranks[name] = int(inside.sum())
        shares[name] = float((w @ vectors[:, ~inside]).square().sum() / w.square().sum().clamp_min(1e-300))  # (3)
    return InvisibleWeights(shares, ranks)


def _explained(x: Tensor, groups: Tensor) -> float:
    """The sum of squares of group means around the whole mean."""
    count = int(groups.max()) + 1
    sizes = torch.zeros(count, dtype=x.dtype).index_add_(0, groups, torch.ones(len(x), dtype=x.dtype))
    sums = torch.zeros(count, x.shape[1], dtype=x.dtype).index_add_(0, groups, x)
    means = sums / sizes.clamp_min(1)[:, None]
    return float((sizes[:, None] * (means - x.mean(0)).square()).sum())


def _neurons(net: nn.Module, layer: int, exponent: float, call: str) -> Tensor:
    check_readable(net, call=call)
    chain = [part for part in net.modules() if isinstance(part, nn.Linear)]
    if layer + 1 >= len(chain):
        found = f"there are {len(chain)} linear layers"
        raise InputError(lesson(call, found, f"a layer after number {layer}", "Choose another layer"))
    w, v = chain[layer], chain[layer + 1].weight.detach().double()
    parts = [w.weight.detach().double(), *([] if w.bias is None else [w.bias.detach().double()[:, None]]),
             v.T * len(w.weight) ** exponent]  # fmt: skip
    return torch.cat(parts, 1)
