"""Measures the norms of a network's weights that training implicitly keeps small.

    |W|_F, |W|_2, nuclear norm |W|_*,  effective rank exp(entropy of the singular values)      for each weight    (1)
    path norm = sqrt( sum over paths from inputs to outputs of prod w^2 )                                         (2)

Descent from small weights prefers small nuclear norms in products of matrices and small Euclidean ones in linear
models; the path norm does not change when relu layers are rescaled.
Hypotheses: (2) for chains of linear layers and activations that grow at most linearly.
Reference: [gunasekar2017implicit], [roy2007effective] for (1); [neyshabur2015norm] for (2).

>>> import torch
>>> net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False))
>>> _ = [nn.init.ones_(w) for w in net.parameters()]
>>> round(solution_norms(net).path, 6)                                                       # two paths of weight one
1.414214
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.metrics import effective_rank
from gnomon.core.results import Axis, Bars, Line, Plot, Result
from gnomon.core.results.record import Record

__all__ = ["RankDuringTraining", "SolutionNorms", "WeightNorms", "rank_during_training", "solution_norms"]


@dataclass(frozen=True, slots=True)
class WeightNorms(Record):
    """Frobenius, spectral and nuclear norm of one weight matrix (rows: outputs), and its effective rank.

    >>> WeightNorms(5.0, 4.0, 7.0, 1.9).nuclear
    7.0
    """

    frobenius: float
    spectral: float
    nuclear: float
    rank: float


@dataclass(frozen=True, slots=True)
class SolutionNorms(Result):
    """Result: norms of each weight matrix, the norm of all parameters, and the norm over paths through the network."""

    weights: dict[str, WeightNorms]
    euclidean: float
    path: float | None

    @property
    def product(self) -> float:
        """The product of the spectral norms of all layers, which bounds the Lipschitz constant of a chain of layers and
        ReLUs.
        """
        return prod(w.spectral for w in self.weights.values())

    @property
    def verdict(self) -> str:
        """A sentence with the norms of the network, and the weight matrix with the smallest effective rank."""
        name = min(self.weights, key=lambda n: self.weights[n].rank)
        path = "" if self.path is None else f", the path norm {self.path:.3g}"
        return (
            f"The parameters have Euclidean norm {self.euclidean:.3g}{path}; the weight '{name}' has the smallest "
            "effective rank, "
            f"{self.weights[name].rank:.1f}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the effective rank of each weight matrix."""
        bars = Bars("rank", tuple(self.weights), tuple(w.rank for w in self.weights.values()))
        return (Plot("Effective rank", (bars,), Axis("effective rank"), caption=self.verdict),)


@dataclass(frozen=True, slots=True)
class RankDuringTraining(Result):
    """The effective rank of each weight matrix at each checkpoint of a run."""

    ranks: dict[str, tuple[float, ...]]

    @property
    def verdict(self) -> str:
        """A sentence that names the weight matrix whose effective rank changed most during the run."""
        name = max(self.ranks, key=lambda n: abs(self.ranks[n][-1] - self.ranks[n][0]))
        row = self.ranks[name]
        return f"The effective rank of the weight '{name}' changed most, from {row[0]:.1f} to {row[-1]:.1f}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the effective rank of each weight matrix over the checkpoints."""
        lines = tuple(Line(name, range(len(row)), row) for name, row in self.ranks.items())
        return (Plot("Effective rank in training", lines, Axis("checkpoint"), Axis("rank"), self.verdict),)


@add_call_to_errors
def solution_norms(module: nn.Module) -> SolutionNorms:
    """Computes norms of a network's weights, for each weight matrix and for the whole network.

    See equations (1), (2) of the module docstring.
    Hypotheses: see the module. Reference: [neyshabur2015norm].
    Cost: the singular values of each weight.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> net.weight.data = torch.diag(torch.tensor([3.0, 4.0]))
    >>> found = solution_norms(net).weights["weight"]
    >>> round(found.frobenius, 5), round(found.spectral, 5), round(found.nuclear, 5)
    (5.0, 4.0, 7.0)
    """
    check_weights(module)
    weights = {name: p.detach() for name, p in module.named_parameters() if p.dim() > 1}
    if not weights:
        raise InputError("the module has no weight matrix", accepted="at least one", fix="Pass a network with layers")
    squares = sum(float(p.detach().double().square().sum()) for p in module.parameters())
    return SolutionNorms({name: _norms(w) for name, w in weights.items()}, squares**0.5, _path(module))


@add_call_to_errors
def rank_during_training(checkpoints: Sequence[nn.Module]) -> RankDuringTraining:
    """Computes the effective rank of each weight matrix at each checkpoint of a run.

    See equation (1) of the module docstring.
    Hypotheses: one architecture. Reference: [roy2007effective].
    Cost: the singular values of each weight of each checkpoint.

    >>> rank_during_training([nn.Linear(3, 1), nn.Linear(3, 1)]).ranks["weight"]                        # a single row
    (1.0, 1.0)
    """
    if not checkpoints:
        raise InputError("the list of checkpoints is empty", accepted="at least one", fix="Pass a list of modules")
    rows = [solution_norms(module).weights for module in with_progress_bar(checkpoints, "checkpoints")]
    if any(set(row) != set(rows[0]) for row in rows):
        raise InputError(
            "the checkpoints have different weights", accepted="one architecture", fix="Pass checkpoints of one network"
        )
    return RankDuringTraining({name: tuple(round(row[name].rank, 12) for row in rows) for name in rows[0]})


def _norms(w: Tensor) -> WeightNorms:
    values = torch.linalg.svdvals(w.flatten(1).double())
    return WeightNorms(float(values.norm()), float(values[0]), float(values.sum()), effective_rank(values))  # (1)


def _path(module: nn.Module) -> float | None:
    """Returns the path norm of a chain of linear layers: the root of the summed squares of weight products over all
    paths.
    """
    layers = [part for part in module.modules() if not list(part.children()) and any(True for _ in part.parameters())]
    if not isinstance(module, nn.Sequential | nn.Linear) or not all(isinstance(part, nn.Linear) for part in layers):
        return None
    squares = [next(layer.parameters()).detach().double().square() for layer in layers]
    if any(a.shape[0] != b.shape[1] for a, b in zip(squares, squares[1:], strict=False)):
        return None
    flow = torch.ones(squares[0].shape[1], dtype=torch.float64, device=squares[0].device)
    for w in squares:
        flow = w @ flow
    return float(flow.sum().sqrt())  # (2)
