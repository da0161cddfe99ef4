"""Computes mutual information: exactly for discrete distributions, estimated from samples, and the bottleneck curve.

    I(A; B) = sum p(a, b) log p(a, b) / (p(a) p(b))                                                              (1)
    KSG: I ~ psi(k) + psi(n) - mean [psi(n_a + 1) + psi(n_b + 1)]                                                (2)
    min over p(t|x) of I(X; T) - beta I(T; Y):   p(t|x) ~ p(t) e^{-beta KL(p(y|x) | p(y|t))}                      (3)

Bias: binned estimates (1) are too large by about (cells - 1) / 2n nats, and change with the bins. (2) is nearly
unbiased in few dimensions and fails if I is large. All values are in nats.
Hypotheses: (2) continuous, independent samples; (3) a discrete joint distribution.
Reference: [kraskov2004estimating], (2); [tishby2000information], (3).
Cost: (2) O(n log n) for few dimensions; (3) ``iterations`` products of the tables for each beta.

>>> round(discrete_information(np.eye(2) / 2), 6) == round(float(np.log(2)), 6)
True
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.attribution.layers import names_of_called_layers, one_tensor
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.results import Axis, Line, Plot, Result, Scatter

__all__ = [
    "BottleneckCurve", "InformationPlane", "bottleneck_curve", "discrete_information", "information_plane",
    "mutual_information",
]  # fmt: skip


@add_call_to_errors
def discrete_information(joint: Any) -> float:
    """Returns the exact mutual information of two discrete variables from a table of probabilities or counts.

    See equation (1) of the module docstring.
    Hypotheses: entries >= 0.
    Reference: [cover2006elements].
    Cost: one pass.

    >>> discrete_information(np.ones((2, 3)))
    0.0
    """
    p = np.asarray(joint, dtype=np.float64)
    if p.ndim != 2 or (p < 0).any() or not np.isfinite(p).all() or p.sum() <= 0:
        fix = "Pass a table of probabilities or counts"
        raise InputError("the table has negative, non-finite or only zero entries", accepted="entries >= 0", fix=fix)
    p = p / p.sum()
    free = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    return max(0.0, float(np.sum(p[p > 0] * np.log(p[p > 0] / free[p > 0]))))  # (1)


@add_call_to_errors
def mutual_information(a: Any, b: Any, *, neighbors: int = 3) -> float:
    """Estimates the mutual information of two variables from samples, by the nearest-neighbor method.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [kraskov2004estimating].
    Cost: a tree search for each sample.

    >>> z = np.random.default_rng(0).standard_normal((2, 1000))
    >>> abs(mutual_information(z[0], z[1])) < 0.1
    True
    """
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    x, y = _rows(a), _rows(b)
    k, n = check_integer("neighbors", neighbors), len(x)
    if len(y) != n or n <= k + 1:
        fix = "Pass equally many samples of both, and more than neighbors"
        raise InputError(f"there are {n} and {len(y)} samples", accepted="pairs of samples", fix=fix)
    draw = np.random.default_rng(0)
    x, y = ((t - t.mean(0)) / np.maximum(t.std(0), 1e-300) + 1e-10 * draw.standard_normal(t.shape) for t in (x, y))
    reach = cKDTree(np.hstack([x, y])).query(np.hstack([x, y]), k + 1, p=np.inf)[0][:, k]
    inside = [cKDTree(t).query_ball_point(t, reach * (1 - 1e-12), p=np.inf, return_length=True) for t in (x, y)]
    return float(
        digamma(k) + digamma(n) - np.mean(digamma(inside[0]) + digamma(inside[1]))
    )  # estimate of mutual information from nearest neighbors; the counts include the point itself


@dataclass(frozen=True, slots=True)
class InformationPlane(Result):
    """Result: the mutual information of each layer's output with the input and with the target, in nats."""

    layers: tuple[str, ...]
    about_input: tuple[float, ...]
    about_target: tuple[float, ...]
    ceiling: float
    bins: int

    @property
    def verdict(self) -> str:
        """States what the mutual information of layers shows, and whether it measures compression at all."""
        full = max(self.about_input) > 0.95 * self.ceiling
        note = (
            "as large as it can be, because the bins separate all examples, so it does not measure compression"
            if full
            else "smaller than its largest possible value"
        )
        return f"I(X; T) is {note}; with {self.bins} bins it measures clustering of examples and changes with the bins."

    def plots(self) -> tuple[Plot, ...]:
        """Plots each layer's information about the target over its information about the input."""
        points = Scatter("layers", self.about_input, self.about_target)
        return (Plot("Information plane", (points,), Axis("I(X; T), nats"), Axis("I(T; Y), nats"), self.verdict),)


@add_call_to_errors
def information_plane(module: nn.Module, data: Any, *, bins: int = 30) -> InformationPlane:
    """Computes the mutual information of each layer's output, divided into bins, with the input and with the classes.

    See equation (1) of the module docstring.
    ``data`` have inputs and classes: a pair, a ``Dataset``, a ``DataLoader``, batches.
    The network is deterministic, so the true I(X; T) is infinite or log n. Binned values measure how examples cluster,
    see [saxe2018information].
    Hypotheses: see the module.
    Reference: [shwartzziv2017opening].
    Cost: one forward pass, and a sort of the binned rows.

    >>> net = nn.Sequential(nn.Linear(2, 1), nn.Tanh())
    >>> information_plane(net, (torch.randn(50, 2), torch.arange(50) % 2), bins=5).layers
    ('0', '1')
    """
    x, y = data_source(data, module=module).pair()
    inputs = one_tensor(x, module, whole=True)
    classes = torch.as_tensor(y).reshape(-1).long()
    if len(classes) != len(inputs):
        raise InputError(
            f"there are {len(inputs)} inputs and {len(classes)} classes",
            accepted="pairs",
            fix="Pass one class for each input",
        )
    cells = check_integer("bins", bins)
    kept = outputs_of_layers(module, inputs, names_of_called_layers(module, inputs))
    found = {name: _plane(h, classes, cells) for name, h in kept.items() if len(h) == len(inputs)}
    about_input, about_target = zip(*found.values(), strict=True)
    return InformationPlane(tuple(found), about_input, about_target, float(np.log(len(inputs))), cells)


def _plane(h: Tensor, y: Tensor, bins: int) -> tuple[float, float]:
    h = h.detach().double().flatten(1)
    low, high = h.min(), h.max()
    codes = ((h - low) / (high - low).clamp(min=1e-300) * bins).floor().clamp(max=bins - 1).long()
    t = codes.unique(dim=0, return_inverse=True)[1]
    p = t.bincount().double() / len(t)
    table = np.zeros((int(t.max()) + 1, int(y.max()) + 1))
    np.add.at(table, (t.numpy(), y.numpy()), 1)
    return float(-(p * p.log()).sum()), discrete_information(table)


@dataclass(frozen=True, slots=True)
class BottleneckCurve(Result):
    """Result: information that the best compressed codes keep about input and target, for each trade-off beta."""

    betas: tuple[float, ...]
    about_input: tuple[float, ...]
    about_target: tuple[float, ...]
    residual: float

    @property
    def critical(self) -> float:
        """Returns the smallest tried beta at which the best code keeps any information about the input; infinity if
        none.
        """
        found = [b for b, i in zip(self.betas, self.about_input, strict=True) if i > 1e-4]
        return min(found, default=float("inf"))

    @property
    def verdict(self) -> str:
        """States in one sentence at which trade-off beta the best compressed code starts to keep information."""
        return (
            f"Below the trade-off parameter beta = {self.critical:.3g} the best compressed code keeps no information "
            "(information bottleneck); the "
            f"optimality equations hold up to {self.residual:.1e}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the bottleneck curve: information about the target over information about the input."""
        line = Line("best codes", self.about_input, self.about_target)
        return (Plot("Information bottleneck", (line,), Axis("I(X; T), nats"), Axis("I(T; Y), nats")),)


@add_call_to_errors
def bottleneck_curve(joint: Any, betas: Any, *, iterations: int = 5000, seed: int = 0) -> BottleneckCurve:
    """Computes the information bottleneck (best compressed codes) of a discrete distribution p(x, y).

    See equation (3) of the module docstring.
    Hypotheses: see the module; the iteration finds a local optimum, starting from the solution at the previous beta.
    Reference: [tishby2000information].
    Cost: ``iterations`` products of the tables for each beta, at most.

    >>> law = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> bottleneck_curve(law, [1.5, 20.0]).critical           # 1 / (second eigenvalue) is 2.78
    20.0
    """
    p = np.asarray(joint, dtype=np.float64) / np.sum(joint)
    px, pyx = p.sum(1), p / p.sum(1, keepdims=True)
    n = len(p)
    draw = np.random.default_rng(abs(seed))
    code = np.eye(n) * 0.9 + draw.dirichlet(np.ones(n), n) * 0.1
    rows: dict[float, tuple[float, float]] = {}
    worst = 0.0
    for beta in sorted(betas, reverse=True):
        for _ in range(iterations):
            pt = px @ code
            pyt = (code * px[:, None]).T @ pyx / np.maximum(pt, 1e-300)[:, None]
            ratio = np.log(np.maximum(pyx, 1e-300))[:, None, :] - np.log(np.maximum(pyt, 1e-300))[None]
            far = np.sum(pyx[:, None, :] * ratio, 2)
            new = pt * np.exp(-beta * (far - far.min(1, keepdims=True)))
            new = new / new.sum(1, keepdims=True)  # (3)
            moved, code = float(np.abs(new - code).max()), new
            if moved < 1e-11:
                break
        worst = max(worst, moved)
        rows[beta] = discrete_information(code * px[:, None]), discrete_information(code.T @ p)
    order = sorted(rows)
    return BottleneckCurve(tuple(order), tuple(rows[b][0] for b in order), tuple(rows[b][1] for b in order), worst)


def _rows(values: Any) -> np.ndarray:
    array = np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            "some samples are not finite", accepted="finite samples", fix="Remove the samples that are not finite"
        )
    return array.reshape(len(array), -1)
