"""Checks of attributions: whether they depend on the weights, and whether highly ranked features are important.

    similarity = mean over examples of the rank correlation of |map| with |map of the same model, weights redrawn|  (1)
    deletion   = f(target) as the most important features are covered first; insertion: as they are uncovered first  (2)

A method whose maps hardly change when the weights are shuffled (1) shows the input, not the model.
Hypotheses: none. Weights are shuffled within each parameter, so that their distribution stays.
Reference: [adebayo2018sanity], (1); [petsiuk2018rise], (2).
Cost: two calls of the method for each draw; (2) a forward pass for each of ``points``.

>>> from gnomon.attribution.gradient import gradient
>>> net = nn.Linear(8, 2)
>>> sanity_check(gradient, net, torch.rand(6, 8)).depends_on_model
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import target_of_each_example, target_scores
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Finding, Line, Plot, Result
from gnomon.findings import decisions as kinds

__all__ = ["Faithfulness", "SanityCheck", "deletion_insertion", "sanity_check"]

MAX_RANK_CORRELATION = 0.7
"""Mean rank correlation above which a map does not depend on the model; unrelated maps are near 0."""

Method = Callable[..., Attribution]
"""An attribution method, called as method(module, x, target)."""


@dataclass(frozen=True, slots=True)
class SanityCheck(Result):
    """Result: how similar attribution maps stay if weights are shuffled, or if the model was trained on random labels.

    >>> SanityCheck("gradient", 0.1).depends_on_model, SanityCheck("edges", 0.95).findings[0].kind
    (True, 'map-ignores-model')
    """

    method: str
    weights: float
    labels: float | None = None

    @property
    def depends_on_model(self) -> bool:
        """Returns whether the attribution map changes if the model's weights change."""
        return self.weights < MAX_RANK_CORRELATION and (self.labels is None or self.labels < MAX_RANK_CORRELATION)

    @property
    def verdict(self) -> str:
        """States in one sentence whether the attribution map depends on the model."""
        text = "depends on the model" if self.depends_on_model else "does not depend on the model: it shows the input"
        other = "" if self.labels is None else f", with random labels {self.labels:.2f}"
        return f"'{self.method}' {text} (rank correlation with shuffled weights {self.weights:.2f}{other})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the attribution map does not depend on the model's weights."""
        if self.depends_on_model:
            return ()
        return (Finding(kinds.MAP_IGNORES_MODEL, values={"method": self.method}),)


@add_call_to_errors
def sanity_check(
    method: Method, module: nn.Module, data: Any, target: Any = None, *, draws: int = 3, seed: int = 0,
    random_labels: nn.Module | None = None,
) -> SanityCheck:  # fmt: skip
    """Compares a model's attribution maps with the maps of the same model after its weights are shuffled.

    See equation (1) of the module docstring.
    ``random_labels`` is the same architecture trained on shuffled labels, if available.
    Hypotheses: see the module.
    Reference: [adebayo2018sanity].
    Cost: ``draws`` + 1 calls of the method.

    >>> sanity_check(lambda net, x, target: Attribution(x.abs(), target, "edges"), nn.Linear(8, 2), torch.rand(6, 8))
    SanityCheck: 'edges' does not depend on the model: ...
    """
    inputs = one_tensor(data, module, whole=True)
    which = target_of_each_example(module, inputs, target)
    own = method(module, inputs, which)
    if not isinstance(own, Attribution):
        found = f"the method returned a {type(own).__name__}"
        raise InputError(found, accepted="an Attribution", fix="Return Attribution(values, target, name)")
    draw = torch.Generator().manual_seed(check_seed(seed))
    alike = []
    for _ in range(check_integer("draws", draws)):
        other = shuffle_parameters(module, draw)
        alike.append(rank_correlation(own.values, method(other, inputs, which).values))
    labels = (
        None if random_labels is None else rank_correlation(own.values, method(random_labels, inputs, which).values)
    )
    return SanityCheck(own.method, sum(alike) / len(alike), labels)  # (1)


def shuffle_parameters(module: nn.Module, draw: torch.Generator) -> nn.Module:
    """Returns a copy of the module with the entries of each parameter shuffled."""
    other = copy_module(module)
    with torch.no_grad():
        for p in other.parameters():
            p.copy_(p.flatten()[torch.randperm(p.numel(), generator=draw)].reshape(p.shape))
    return other


def rank_correlation(a: Tensor, b: Tensor) -> float:
    """Returns Spearman's rank correlation of the absolute values of two attribution maps, averaged over examples."""
    found = []
    for first, second in zip(a.detach().flatten(1).abs().double(), b.detach().flatten(1).abs().double(), strict=True):
        # Leaves out features that are zero in both maps, such as black pixels if a map is multiplied by the input.
        used = (first > 0) | (second > 0)
        if int(used.sum()) < 3:
            continue
        ranks = [t[used].argsort().argsort().double() for t in (first, second)]
        u, v = (rank - rank.mean() for rank in ranks)
        found.append(float(u @ v / (u.norm() * v.norm()).clamp(min=1e-30)))
    return sum(found) / len(found) if found else 1.0


@dataclass(frozen=True, slots=True)
class Faithfulness(Result):
    """Result: how the output changes as features are deleted or inserted by importance, or deleted in random order."""

    shares: tuple[float, ...]
    deletion: tuple[float, ...]
    insertion: tuple[float, ...]
    random: tuple[float, ...]

    @property
    def gain(self) -> float:
        """Returns how much lower the output is if features are deleted by importance instead of in random order, on
        average.
        """
        return sum(r - d for r, d in zip(self.random, self.deletion, strict=True)) / len(self.shares)

    @property
    def verdict(self) -> str:
        """States in one sentence whether deleting important features lowers the output faster than deleting random
        ones.
        """
        how = "faster" if self.gain > 0 else "no faster"
        by = f"by {self.gain:.3g} on average"
        return f"Covering important features first makes the output fall {how} than covering them at random ({by})."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the output over the fraction of features deleted or inserted."""
        lines = [Line(name, self.shares, getattr(self, name)) for name in ("deletion", "insertion")]
        random = Line("random order, deletion", self.shares, self.random, "dashed")
        words = "A faithful map makes the output fall early under deletion and rise early under insertion."
        return (
            Plot(
                "Deletion and insertion",
                (*lines, random),
                Axis("share of features deleted or inserted"),
                Axis("output of the network"),
                words,
            ),
        )


@add_call_to_errors
def deletion_insertion(
    module: nn.Module, data: Any, attribution: Attribution, *, points: int = 11, fill_value: float = 0.0, seed: int = 0
) -> Faithfulness:
    """Computes how the output changes as features are deleted or inserted in the order of their attributed importance.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [petsiuk2018rise].
    Cost: three forward passes for each of ``points``.

    >>> from gnomon.attribution.gradient import gradient
    >>> net = nn.Linear(6, 1)
    >>> x = torch.rand(4, 6)
    >>> len(deletion_insertion(net, x, gradient(net, x)).deletion)
    11
    """
    inputs = one_tensor(data, module, whole=True)
    if attribution.values.shape != inputs.shape:
        found = f"the attribution has shape {tuple(attribution.values.shape)} and x {tuple(inputs.shape)}"
        raise InputError(found, accepted="a value for each feature", fix="Use an attribution of the input itself")
    draw = torch.Generator().manual_seed(check_seed(seed))
    flat = attribution.values.flatten(1)
    orders = flat.argsort(1, descending=True), torch.rand(flat.shape, generator=draw).to(flat).argsort(1)
    shares = torch.linspace(0, 1, check_integer("points", points, least=2)).tolist()
    curves: dict[str, list[float]] = {"deletion": [], "insertion": [], "random": []}
    with preserve(module, grad=False):
        for share in shares:
            k = round(share * flat.shape[1])
            for name, order in (("deletion", orders[0]), ("insertion", orders[0]), ("random", orders[1])):
                first = torch.zeros_like(flat, dtype=torch.bool).scatter(1, order[:, :k], True).reshape(inputs.shape)
                hidden = ~first if name == "insertion" else first
                seen = torch.where(hidden, inputs.new_tensor(float(fill_value)), inputs)
                curves[name].append(float(target_scores(module, seen, attribution.target).mean()))  # (2)
    return Faithfulness(tuple(shares), *(tuple(curves[name]) for name in ("deletion", "insertion", "random")))
