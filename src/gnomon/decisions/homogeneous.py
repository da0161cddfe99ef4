"""Computes margins divided by the size of the weights (normalized margins), which grow even after all examples are
fitted.

For f(x; c w) = c^L f(x; w), margins m_i = f_y(x_i) - max over other classes, n examples and the exponential loss,

    g = min m_i / |w|^L,    smooth  g~ = -log( sum_i exp(-m_i) ) / |w|^L,    g - log n / |w|^L <= g~ <= g          (1)
    stationarity: min over l >= 0 of | w / |w| - sum_i l_i grad m_i | over examples near the smallest margin      (2)

    KKT residual: min over l >= 0 of sqrt( |w / |w| - sum_i l_i grad m_i|^2 + (L sum_i l_i (m_i - min m) / |w|)^2 )  (3)

g~ never falls under gradient flow once it is positive, and limits of w / |w| make (2) and (3) zero: they are KKT points
of "minimize |w|^2 with all margins at least 1". The second part of (3) is zero if only the smallest margins count.
Hypotheses: a network without biases (but the first) and normalization, relu-like units; all examples fitted.
Reference: [lyu2020gradient], Theorems 4.1 and 4.4.

>>> import torch
>>> net = nn.Linear(2, 1, bias=False)
>>> net.weight.data = torch.tensor([[3.0, 4.0]])
>>> found = normalized_margin(net, (torch.eye(2), torch.tensor([1, 1])))                # margins 3 and 4, norm 5
>>> round(found.margin, 5), found.degree
(0.6, 1)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import check_labels_and_margins, class_margins
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = [
    "KKTResidual",
    "MarginGrowth",
    "NormalizedMargin",
    "homogeneity_degree",
    "kkt_residual",
    "margin_growth",
    "normalized_margin",
]

HOMOGENEITY_TOLERANCE = 1e-3
"""Relative error of f(c w) = c^L f(w) below which a network counts as homogeneous: float32 through about ten layers."""
SUPPORT_MARGIN_FACTOR = 1.1
"""Margins up to this multiple of the smallest one count as support vectors."""
MIN_MULTIPLIER = 1e-6
"""Multipliers below this share of the largest one do not count as support vectors: the rounding of float32."""
MAX_SUPPORT_VECTORS = 64
"""Support vectors that are examined, at most."""


@dataclass(frozen=True, slots=True)
class NormalizedMargin(Result):
    """Result: a network's normalized margin, a smooth approximation of it, and the distance from the largest possible
    margin.
    """

    margin: float
    smooth: float
    degree: int
    stationarity: float
    width: float

    @property
    def verdict(self) -> str:
        """States whether all examples are fitted, and how near the weights are to a maximum-margin solution."""
        if self.margin <= 0:
            return (
                f"Some training examples are classified wrongly: the smallest normalized margin is {self.margin:.3g}."
            )
        return (
            f"The normalized margin is {self.margin:.3g} (degree {self.degree}); {self.stationarity:.1%} of the "
            "weight vector is not a combination of gradients at the examples of smallest margin (0 for a "
            "maximum-margin solution)."
        )


@dataclass(frozen=True, slots=True)
class MarginGrowth(Result):
    """Result: a network's normalized margin (margin divided by weight size) and its smooth version, at each
    checkpoint.
    """

    margins: tuple[float, ...]
    smooth: tuple[float, ...]
    degree: int

    @property
    def verdict(self) -> str:
        """States in one sentence whether the margin, relative to the size of the weights, grew over the checkpoints."""
        word = "grew" if self.smooth[-1] > self.smooth[0] else "did not grow"
        return f"The smooth margin {word}, from {self.smooth[0]:.3g} to {self.smooth[-1]:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the smallest margin relative to the size of the weights, and a smooth approximation of it, over the
        checkpoints.
        """
        places = range(len(self.margins))
        marks = (Line("smallest margin", places, self.margins), Line("smooth margin", places, self.smooth))
        return (Plot("Normalized margin", marks, Axis("checkpoint"), Axis("margin"), self.verdict),)


@dataclass(frozen=True, slots=True)
class KKTResidual(Result):
    """Result: how far a network's weights are from a solution with the largest possible margin (KKT conditions).

    ``stationarity`` is the share of the weights that no sum of margin gradients explains. ``slack`` measures
    by how much the margins in this combination exceed the smallest one. The residual (3) is the root of the sum of the
    squares of both.
    """

    stationarity: float
    slack: float
    support_vectors: int
    smallest_margin: float

    @property
    def residual(self) -> float:
        """Returns how far the weights are from a solution with the largest possible margin; 0 at such a solution (KKT
        conditions).
        """
        return hypot(self.stationarity, self.slack)

    @property
    def verdict(self) -> str:
        """States whether all examples are fitted, and how far the weights are from a solution with the largest possible
        margin.
        """
        if self.smallest_margin <= 0:
            return f"Some training examples are classified wrongly: the smallest margin is {self.smallest_margin:.3g}."
        count = f"{self.support_vectors} example{'s' if self.support_vectors != 1 else ''}"
        return (
            f"The weights miss the conditions of a maximum-margin solution by {self.residual:.3g} (KKT residual): "
            f"gradients of the margins of "
            f"{count} leave {self.stationarity:.1%} of the weight vector, and their margins exceed the smallest one "
            f"by {self.slack:.1%}."
        )


def homogeneity_degree(module: nn.Module, x: Inputs) -> int | None:
    """Returns the power L with which outputs grow if all weights are multiplied by c (as c^L); None if they do not grow
    so.

    Hypotheses: none. Reference: [lyu2020gradient].
    Cost: three forward passes.

    >>> net = nn.Sequential(nn.Linear(2, 4, bias=False), nn.ReLU(), nn.Linear(4, 1, bias=False))
    >>> homogeneity_degree(net, torch.eye(2)), homogeneity_degree(nn.Sequential(nn.Linear(2, 4), nn.Tanh()),
    ...     torch.eye(2))
    (2, None)
    """
    base = outputs_in_eval_mode(module, x).double()
    powers = []
    for c in (0.5, 2.0):
        scaled = copy_module(module)
        with torch.no_grad():
            for p in scaled.parameters():
                p.mul_(c)
        f = outputs_in_eval_mode(scaled, x).double()
        ratio = float((f * base).sum() / base.square().sum().clamp_min(1e-300))
        power = round(float(torch.tensor(max(ratio, 1e-12)).log2()) / (1 if c == 2 else -1))
        if float((f - c**power * base).norm()) > HOMOGENEITY_TOLERANCE * float((c**power * base).norm()):
            return None
        powers.append(power)
    return powers[0] if powers[0] == powers[1] and powers[0] > 0 else None


@add_call_to_errors
def normalized_margin(module: nn.Module, data: Any) -> NormalizedMargin:
    """Computes a network's smallest margin divided by the size of its weights, and how far this is from the largest
    possible.

    See equations (1), (2) of the module docstring.

    Args:
        module: homogeneous in its parameters, which is measured first; read in eval mode and left as it was.
        data: inputs, or data.

    Hypotheses: see the module. Reference: [lyu2020gradient].
    Cost: four forward passes, and a backward pass for each of at most 64 examples near the margin.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> net.weight.data = torch.tensor([[1.0, 1.0]])
    >>> x, y = torch.tensor([[1.0, 0.0], [0.0, -1.0]]), torch.tensor([1, 0])
    >>> round(normalized_margin(net, (x, y)).stationarity, 5)                          # the maximum margin solution
    0.0
    """
    inputs, labels, power = _check(module, data)
    margins, norm = _margins(module, inputs, labels), _norm(module)
    size = norm**power
    return NormalizedMargin(
        float(margins.min()) / size,
        -float(torch.logsumexp(-margins, 0)) / size,  # (1)
        power,
        _stationarity(module, inputs, labels, margins, norm),
        log(len(margins)) / size,
    )


@add_call_to_errors
def kkt_residual(module: nn.Module, data: Any) -> KKTResidual:
    """Computes how far a network's weights are from a solution with the largest possible margin (KKT conditions).

    The combination of gradients may use the 64 examples of smallest margin, whatever their margins are.

    Args:
        module: homogeneous in its parameters, which is measured first; read in eval mode and left as it was.
        data: inputs with their classes, or data.

    Hypotheses: see the module. Reference: [lyu2020gradient], Definition 4.3.
    Cost: four forward passes, and a backward pass for each of at most 64 examples.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> net.weight.data = torch.tensor([[1.0, 1.0]])
    >>> x, y = torch.tensor([[1.0, 0.0], [0.0, -1.0], [5.0, 5.0]]), torch.tensor([1, 0, 1])
    >>> found = kkt_residual(net, (x, y))                                              # the maximum margin solution
    >>> round(found.residual, 5), found.support_vectors
    (0.0, 2)
    """
    inputs, labels, power = _check(module, data)
    margins, norm = _margins(module, inputs, labels), _norm(module)
    near = margins.argsort(stable=True)[:MAX_SUPPORT_VECTORS]
    gradients, w = _margin_gradients(module, inputs, labels, near, norm)
    excess = power * (margins[near] - margins.min()) / norm**2
    multipliers, _ = _nonnegative_fit(torch.cat([gradients, excess[None]]), torch.cat([w, w.new_zeros(1)]))  # (3)
    return KKTResidual(
        float((gradients @ multipliers - w).norm()),
        float(excess @ multipliers),
        int((multipliers > MIN_MULTIPLIER * multipliers.max()).sum()),
        float(margins.min()),
    )


@add_call_to_errors
def margin_growth(checkpoints: Sequence[nn.Module], data: Any) -> MarginGrowth:
    """Computes a network's smallest margin divided by the size of its weights, at several checkpoints of a training
    run.

    See equation (1) of the module docstring.
    Hypotheses: see the module. Reference: [lyu2020gradient].
    Cost: a forward pass for each checkpoint, and three more.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> margin_growth([net, net], (torch.ones(1, 1), torch.tensor([1]))).degree
    1
    """
    if not checkpoints:
        raise InputError("the list of checkpoints is empty", accepted="at least one", fix="Pass a list of modules")
    inputs, labels, power = _check(checkpoints[-1], data)
    rows = [(_margins(module, inputs, labels), _norm(module) ** power) for module in checkpoints]
    hard = tuple(float(m.min()) / size for m, size in rows)
    return MarginGrowth(hard, tuple(-float(torch.logsumexp(-m, 0)) / size for m, size in rows), power)


def _check(module: nn.Module, data: Any) -> tuple[Inputs, Tensor, int]:
    check_weights(module)
    inputs, labels = data_source(data, module=module).pair()
    if labels.is_floating_point() or labels.dim() != 1:
        raise InputError("the targets are not classes", accepted="classes 0, 1, ...", fix="Pass integer labels")
    power = homogeneity_degree(module, take_examples(inputs, slice(0, 64)))
    if power is None:
        fix = "Leave out biases and normalization, and use relu units"
        raise InputError(
            "multiplying all weights by c does not multiply the outputs by a power of c",
            accepted="a homogeneous network",
            fix=fix,
        )
    return inputs, labels, power


def _margins(module: nn.Module, x: Inputs, y: Tensor) -> Tensor:
    return check_labels_and_margins(outputs_in_eval_mode(module, x).double(), y)


def _norm(module: nn.Module) -> float:
    return float(sum(float(p.detach().double().square().sum()) for p in module.parameters()) ** 0.5)


def _stationarity(module: nn.Module, x: Inputs, y: Tensor, margins: Tensor, norm: float) -> float:
    """Returns how far the weights are from a non-negative combination of the examples' margin gradients (a KKT
    condition).

    See equation (2) of the module docstring.
    """
    least = float(margins.min())
    near = (margins <= SUPPORT_MARGIN_FACTOR * least if least > 0 else margins == least).nonzero().flatten()
    return _nonnegative_fit(*_margin_gradients(module, x, y, near[:MAX_SUPPORT_VECTORS], norm))[1]


def _margin_gradients(module: nn.Module, x: Inputs, y: Tensor, examples: Tensor, norm: float) -> tuple[Tensor, Tensor]:
    """Returns the gradient of each example's margin with respect to all weights, as columns of a matrix, and the
    weights.
    """
    with preserve(module):
        f = PureFunction.of(module, "*")
        leaves, columns = list(f.leaves.values()), []
        for i in examples.tolist():
            margin = class_margins(f(take_examples(x, slice(i, i + 1))), y[i : i + 1])[0]
            parts = torch.autograd.grad(margin, leaves, allow_unused=True, materialize_grads=True)
            columns.append(torch.cat([g.flatten() for g in parts]).double() / norm)
        w = torch.cat([leaf.detach().flatten() for leaf in leaves]).double() / norm
    return torch.stack(columns, 1).cpu(), w.cpu()


def _nonnegative_fit(columns: Tensor, target: Tensor) -> tuple[Tensor, float]:
    """Approximates the target by a non-negative combination of columns; returns its coefficients and the remaining
    distance.
    """
    from scipy.optimize import nnls  # slow to import

    weights, distance = nnls(columns.numpy(), target.numpy())
    return torch.from_numpy(weights), float(distance)
