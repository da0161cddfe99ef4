"""How far descent with a learning rate is from the flow it stands for, and how much its end depends on its start.

    gap = |f_lr(t) - f_flow(t)| / |f_flow(t) - f(0)|,   the flow by the same time in steps of lr / c              (1)

The gap falls like lr. Where it is large, the learning rate itself decides what is learned.
Hypotheses: full-batch descent. Reference: [hairer2006geometric], section IX; [cohen2021gradient].

>>> FlowGap(0.02, 0.03, 0.1, 50).verdict[:24]
'Descent stays near its f'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from gnomon.core.checks import check_readable, integer, number
from gnomon.core.errors import InputError, lesson
from gnomon.core.outputs import outputs
from gnomon.core.pure import random_state
from gnomon.core.results import Image, Plot, Result
from gnomon.core.source import source
from gnomon.training.evaluate import Loss
from gnomon.training.loop import train
from gnomon.training.native import Choice
from gnomon.training.optimizers import SGD

__all__ = ["BasinMap", "FlowGap", "StartSensitivity", "basin_map", "flow_gap", "start_sensitivity"]


@dataclass(frozen=True, slots=True)
class FlowGap(Result):
    """The gap (1) of outputs and of parameters, the learning rate and the steps."""

    outputs: float
    parameters: float
    lr: float
    steps: int

    @property
    def verdict(self) -> str:
        """Whether the learning rate decides what is learned."""
        near = self.outputs < 0.1
        return (
            f"Descent {'stays near its flow' if near else 'leaves its flow'}: after {self.steps} steps of "
            f"{self.lr:.3g} outputs differ by {self.outputs:.1%} of what was learned."
        )


@dataclass(frozen=True, slots=True)
class StartSensitivity(Result):
    """Mean relative distances between networks trained from several starts, of functions and of parameters."""

    functions: float
    parameters: float
    losses: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Whether different starts learn different functions."""
        same = "learn nearly the same function" if self.functions < 0.1 else "learn different functions"
        return (
            f"{len(self.losses)} starts {same}: outputs differ by {self.functions:.1%}, parameters by "
            f"{self.parameters:.1%}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class BasinMap(Result):
    """For each start of a grid the number of the minimum that descent reaches, and the minima."""

    basins: Int[Tensor, "h w"]
    minima: Float[Tensor, "m 2"]

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the grid that each minimum attracts."""
        return tuple(float((self.basins == i).double().mean()) for i in range(len(self.minima)))

    @property
    def verdict(self) -> str:
        """How many minima, and the largest basin."""
        return f"{len(self.minima)} minima are reached; the largest attracts {max(self.shares):.0%} of the starts."

    def plots(self) -> tuple[Plot, ...]:
        """The basins as a picture."""
        return (Plot("Basins of attraction", (Image("minimum reached", self.basins.double()),), caption=self.verdict),)


def flow_gap(
    module: nn.Module, x: Any, y: Any = None, *, lr: float, steps: int = 100, finer: int = 8, loss: Loss | None = None
) -> FlowGap:
    """How far descent with a learning rate ends from the same descent in much smaller steps; equation (1).

    Args:
        module: left as it was; two copies are trained.
        x: inputs, or data, as in `gnomon.train`.
        y: targets.
        lr: the learning rate.
        steps: of descent with it.
        finer: how many small steps replace one.
        loss: as in `gnomon.train`.

    Hypotheses: see the module. Reference: [hairer2006geometric].
    Cost: steps (1 + finer) gradients.

    >>> net, x = nn.Linear(1, 1, bias=False), torch.ones(1, 1)
    >>> _ = nn.init.ones_(net.weight)
    >>> found = flow_gap(net, x, torch.zeros(1), lr=0.5, steps=1, finer=2)     # 1/2 beside (3/4)^2: 0.0625 / 0.4375
    >>> round(found.outputs, 4)
    0.1429
    """
    call = "flow_gap(module, x, y)"
    check_readable(module, call=call)
    rate, c = number("lr", lr, call=call, above=0), integer("finer", finer, call=call, least=2)
    count = integer("steps", steps, call=call)
    runs = [train(module, x, y, loss=loss, optimizer=SGD(r), steps=s, record=[s], mode="eval")
            for r, s in ((rate, count), (rate / c, count * c))]  # fmt: skip
    if any(run.stopped == "diverged" for run in runs):
        raise InputError(lesson(call, f"descent diverged at lr = {rate:.3g}", "a stable step", "Use a smaller lr"))
    inputs = source(x, y, module=module, call=call).whole().x
    f0, f1, f2 = (outputs(m, inputs, call=call).double() for m in (module, runs[0].model, runs[1].model))
    w0, w1, w2 = (parameters_to_vector(m.parameters()).detach().double() for m in (module, *(r.model for r in runs)))
    gaps = [float((a - b).norm() / (b - o).norm().clamp_min(1e-300)) for a, b, o in ((f1, f2, f0), (w1, w2, w0))]
    return FlowGap(gaps[0], gaps[1], rate, count)  # (1)


def start_sensitivity(
    build: Callable[[int], nn.Module],
    data: Any,
    *,
    seeds: Sequence[int] = (0, 1, 2, 3),
    steps: int = 300,
    optimizer: Choice | None = None,
    loss: Loss | None = None,
) -> StartSensitivity:
    """How different the networks are that training reaches from several starts, as functions and as parameters.

    Args:
        build: a function of a seed that returns a network; torch's random numbers start from the seed.
        data: (inputs, targets) or other data; functions are compared on them.
        seeds: at least two.
        steps: of training, full batch.
        optimizer: as in `gnomon.train`.
        loss: as in `gnomon.train`.

    Distances are |f_a - f_b| / sqrt(|f_a| |f_b|), averaged over pairs.
    Hypotheses: one architecture. Reference: [fort2020deep].
    Cost: a training run for each seed.

    >>> x = torch.eye(2)
    >>> pair, rule = (x, torch.ones(2)), SGD(1.0)
    >>> told = start_sensitivity(lambda s: nn.Linear(2, 1), pair, seeds=(0, 1), steps=99, optimizer=rule)
    >>> told.functions < 0.05                                                 # a convex problem has one solution
    True
    """
    call = "start_sensitivity(build, data)"
    if len(seeds) < 2:
        raise InputError(f"{call}: seeds must be at least 2, but there are {len(seeds)}.")
    functions, weights, losses = [], [], []
    for seed in seeds:
        with random_state(seed):
            net = build(seed)
        check_readable(net, call=call)
        run = train(net, data, loss=loss, optimizer=optimizer, steps=steps, record=[steps], seed=seed)
        losses.append(float(run.loss[-1]))
        functions.append(outputs(run.model, source(data, module=net, call=call).whole().x, call=call).double())
        weights.append(parameters_to_vector(run.model.parameters()).detach().double())
    return StartSensitivity(_apart(functions), _apart(weights), tuple(losses))


def basin_map(
    loss: Callable[[Float[Tensor, "n 2"]], Float[Tensor, " n"]],
    *,
    low: tuple[float, float] = (-2.0, -2.0),
    high: tuple[float, float] = (2.0, 2.0),
    points: int = 60,
    lr: float = 0.01,
    steps: int = 2000,
) -> BasinMap:
    """Which minimum of a loss of two parameters descent reaches from each start of a grid.

    Args:
        loss: of many points at once, (n, 2) to (n,); differentiable by torch.
        low: the lower left corner of the grid.
        high: the upper right corner.
        points: of the grid along each axis.
        lr: of descent from all starts.
        steps: of descent.

    Ends nearer than a hundredth of the grid are one minimum; starts whose descent leaves all bounds have number -1.
    Hypotheses: a step below 2 / curvature. Reference: [hairer2006geometric].
    Cost: steps gradients of points^2 starts at once.

    >>> two = basin_map(lambda w: (w[:, 0] ** 2 - 1) ** 2 + w[:, 1] ** 2, points=10)         # minima at x = -1 and 1
    >>> two.shares
    (0.5, 0.5)
    """
    call = "basin_map(loss)"
    n, rate = integer("points", points, call=call, least=2), number("lr", lr, call=call, above=0)
    xs, ys = (torch.linspace(a, b, n, dtype=torch.float64) for a, b in zip(low, high, strict=True))
    w = torch.cartesian_prod(xs, ys)
    for _ in range(integer("steps", steps, call=call)):
        leaf = w.clone().requires_grad_()
        (g,) = torch.autograd.grad(loss(leaf).sum(), leaf)
        w = w - rate * g.nan_to_num(0.0, 0.0, 0.0)
    near = 0.01 * max(b - a for a, b in zip(low, high, strict=True))
    basins, minima = torch.full((len(w),), -1), []
    inside = w.isfinite().all(1) & (w.abs().amax(1) < 1e6)
    while bool((open_ := inside & (basins < 0)).any()):
        minimum = w[open_][0]
        basins[inside & (basins < 0) & ((w - minimum).norm(dim=1) < near)] = len(minima)
        minima.append(minimum)
    found = torch.stack(minima) if minima else torch.zeros(0, 2, dtype=torch.float64)
    return BasinMap(basins.reshape(n, n), found)


def _apart(vectors: Sequence[Tensor]) -> float:
    pairs = [
        float((a - b).norm() / (a.norm() * b.norm()).sqrt().clamp_min(1e-300)) for a, b in combinations(vectors, 2)
    ]
    return sum(pairs) / len(pairs)
