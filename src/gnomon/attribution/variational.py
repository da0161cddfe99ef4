"""Computes lower bounds of mutual information, with a network trained on half of the samples and tested on the rest.

    I(A; B) >= H(B) + E log q(B | A)                                             for classes B, any q            (1)
    I(A; B) >= E_joint f - log E_product e^f  =: D(f),    D judged as  E_joint (f - c) - E_product e^(f - c) + 1  (2)

In (2) c is log E_product e^f on the training half: with c fixed, the held-out value is an unbiased estimate of a lower
bound. Bias: both are too small, by the part that q or f has not learned. No bound from n samples reaches far beyond
log n. All values are in nats.
Hypotheses: independent pairs of samples.
Reference: [barber2003im], (1); [nguyen2010estimating] and [belghazi2018mutual], (2); [mcallester2020formal] on limits.
Cost: ``steps`` passes of a small network.

>>> a = torch.randn(600, 1, generator=torch.Generator().manual_seed(0))
>>> found = variational_information(a, (a[:, 0] > 0).long(), steps=100)
>>> 0.5 < found.bound <= 0.75                                                          # the truth is log 2 = 0.69
True
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_seed
from gnomon.core.modules.preserve import random_state
from gnomon.core.results import Interval, Result

__all__ = ["VariationalInformation", "variational_information"]

NORMAL_95 = 1.959964
HIDDEN_WIDTH = 64
"""Units in the hidden layer of the critic."""
LEARNING_RATE = 3e-3
"""Learning rate of AdamW for the critic."""
BATCH_SIZE = 64
"""Number of examples in a batch."""
WEIGHT_DECAY = 1e-4
"""Weight decay of AdamW for the critic."""
MIN_SAMPLES = 20
"""Minimum number of samples."""


@dataclass(frozen=True, slots=True)
class VariationalInformation(Result):
    """Result: a lower bound of the mutual information in nats, its standard error, and the method."""

    bound: float
    error: float
    method: str

    @property
    def interval(self) -> Interval:
        """Returns the 95 % confidence interval of the lower bound; the mutual information may be larger."""
        return Interval(self.bound - NORMAL_95 * self.error, self.bound + NORMAL_95 * self.error, 0.95)

    @property
    def verdict(self) -> str:
        """States the lower bound of the mutual information in one sentence."""
        low = max(self.interval.low, 0.0)
        return (
            f"The two variables share at least {low:.3g} nats of information (bound {self.bound:.3g}, standard "
            f"error {self.error:.2g})."
        )


@add_call_to_errors
def variational_information(a: Any, b: Any, *, steps: int = 500, seed: int = 0) -> VariationalInformation:
    """Returns a lower bound of the mutual information of two variables a and b, from samples.

    See equations (1) and (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [barber2003im], [nguyen2010estimating].
    Cost: see the module.

    >>> noise = torch.randn(400, 2, generator=torch.Generator().manual_seed(0))
    >>> variational_information(noise[:, 0], noise[:, 1], steps=50).bound < 0.1
    True
    """
    x = as_numbers(a, "a").float()
    y = as_numbers(b, "b")
    if len(x) != len(y) or len(x) < MIN_SAMPLES:
        fix = f"Pass equally many samples of both, at least {MIN_SAMPLES}"
        raise InputError(f"there are {len(x)} and {len(y)} samples", accepted="pairs of samples", fix=fix)
    total, number = check_integer("steps", steps), check_seed(seed)
    x, classes = _scale(x.reshape(len(x), -1)), not y.is_floating_point() and y.dim() == 1
    with random_state(number), torch.enable_grad():
        order = torch.randperm(len(x))
        fit, held = order[: len(x) // 2], order[len(x) // 2 :]
        if classes:
            return _by_classes(x, y.unique(return_inverse=True)[1], fit, held, total)
        return _by_critic(x, _scale(y.float().reshape(len(y), -1)), fit, held, total)


def _by_classes(x: Tensor, y: Tensor, fit: Tensor, held: Tensor, steps: int) -> VariationalInformation:
    count = int(y.max()) + 1
    net = _network(x.shape[1], count)

    def loss(rows: Tensor) -> Tensor:
        return functional.cross_entropy(net(x[rows]), y[rows])

    _train(net, loss, fit, steps)
    with torch.no_grad():
        share = (y.bincount(minlength=count).double() / len(y)).clamp(min=1e-300)
        gain = -share[y[held]].log() - functional.cross_entropy(net(x[held]), y[held], reduction="none").double()  # (1)
    return VariationalInformation(float(gain.mean()), float(gain.std() / len(held) ** 0.5), "classifier")


def _by_critic(x: Tensor, y: Tensor, fit: Tensor, held: Tensor, steps: int) -> VariationalInformation:
    net = _network(x.shape[1] + y.shape[1], 1)

    def table(rows: Tensor) -> Tensor:
        """Returns the score of a trained network (critic) for every pair of samples; true pairs are on the diagonal."""
        n = len(rows)
        both = torch.cat([x[rows].repeat_interleave(n, 0), y[rows].repeat(n, 1)], 1)
        return net(both).reshape(n, n)

    def loss(rows: Tensor) -> Tensor:
        f = table(rows)
        return -(f.diagonal().mean() - _product(f))

    _train(net, loss, fit, steps)
    with torch.no_grad():
        c = torch.stack([_product(table(rows)) for rows in fit.split(BATCH_SIZE) if len(rows) > 1]).logsumexp(0)
        c = c - torch.tensor(float(sum(len(rows) > 1 for rows in fit.split(BATCH_SIZE)))).log()
        gain = []
        for rows in held.split(BATCH_SIZE):
            f = table(rows).double() - c
            grown = f.exp() - torch.diag(f.diagonal().exp())
            by_row, by_column = (grown.sum(axis) / max(len(rows) - 1, 1) for axis in (1, 0))
            # How much each sample contributes to the estimate; the spread of these contributions gives the standard
            # error.
            gain.append(f.diagonal() - by_row - by_column + by_row.mean() + 1)
        values = torch.cat(gain)
    return VariationalInformation(float(values.mean()), float(values.std() / len(values) ** 0.5), "critic")


def _product(f: Tensor) -> Tensor:
    """Returns the log of the mean of exp(f) over all pairs of different samples, the off-diagonal entries of f."""
    n = len(f)
    off = f.masked_fill(torch.eye(n, dtype=torch.bool), -torch.inf)
    return off.flatten().logsumexp(0) - torch.tensor(float(n * (n - 1))).log()


def _train(net: nn.Module, loss: Any, fit: Tensor, steps: int) -> None:
    optimizer = torch.optim.AdamW(net.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        rows = fit[torch.randint(len(fit), (min(BATCH_SIZE, len(fit)),))].unique()
        value = loss(rows)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        schedule.step()


def _network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, HIDDEN_WIDTH),
        nn.SiLU(),
        nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH),
        nn.SiLU(),
        nn.Linear(HIDDEN_WIDTH, outputs),
    )


def _scale(rows: Tensor) -> Tensor:
    return (rows - rows.mean(0)) / rows.std(0).clamp(min=1e-12)
