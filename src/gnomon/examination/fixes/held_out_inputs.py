"""Fixes of the test inputs, which need no training: other axes, other order, inverted values, other columns."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.scale import TransformedSource
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES", "column_order"]

MAX_EXAMPLES = 2000
"""Examples of each set that are compared."""
MAX_COLUMNS = 200
"""Columns of a table whose order is looked for, at most."""
QUANTILES_PER_COLUMN = 21
"""Quantiles that describe a column."""
MAX_REMAINING_DISTANCE = 0.5
"""Largest distance of the columns after a reordering that is tried, as a share of the distance before."""
IMAGE_CHANGES = (
    ("x.transpose(2, 3)", lambda x: x.transpose(2, 3)), ("x.flip(3)", lambda x: x.flip(3)),
    ("x.flip(2)", lambda x: x.flip(2)), ("x.flip(2, 3)", lambda x: x.flip(2, 3)),
    ("x.rot90(1, (2, 3))", lambda x: x.rot90(1, (2, 3))), ("x.rot90(-1, (2, 3))", lambda x: x.rot90(-1, (2, 3))),
    ("x.flip(1)", lambda x: x.flip(1)),
)  # fmt: skip
"""Changes of images: code and function."""
SEQUENCE_CHANGES = (("x.flip(1)", lambda x: x.flip(1)), ("x.flip(2)", lambda x: x.flip(2)))
"""Changes of sequences of vectors."""


def prepare_test_inputs_like_training(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: prepares test inputs differently; one change for each way. None of them needs training."""
    if trial.test is trial.train or subject.test is None:
        return ()
    train, test = (data.probe(MAX_EXAMPLES, seed=0).x for data in (trial.train, trial.test))
    if not isinstance(train, Tensor) or not isinstance(test, Tensor):
        return ()
    made = []
    for code, function in _changes(train, test):
        if function(test[:2]).shape[1:] != train.shape[1:] or torch.equal(function(test), test):
            continue
        source = TransformedSource(trial.test, _on_tensors(function))
        words = f"test inputs changed to {code}"
        made.append(
            TrialChange(replace(trial, test=source), words, diff("", code.replace("x", "x_test = x_test", 1)), False)
        )
    return tuple(made)


def _on_tensors(function: Callable[[Tensor], Tensor]) -> Callable[[Inputs], Inputs]:
    return lambda x: function(x) if isinstance(x, Tensor) else x


def _changes(train: Tensor, test: Tensor) -> list[tuple[str, Callable[[Tensor], Tensor]]]:
    """Returns the ways to change test inputs that suit their shape, as code and function."""
    made: list[tuple[str, Callable[[Tensor], Tensor]]] = []
    if train.dim() == 4:
        made += IMAGE_CHANGES
    if train.dim() == 3:
        made += SEQUENCE_CHANGES
    if not train.is_floating_point():
        return [*made, ("x.flip(1)", lambda x: x.flip(1))] if train.dim() == 2 else made
    total = float(train.min() + train.max())
    made.append((f"{total:.3g} - x", lambda x: total - x))
    ratio = float(train.std() / test.std().clamp(min=1e-30))
    made += [(f"{c:g} * x", partial(torch.mul, other=c)) for c in (255.0, 1 / 255) if 0.2 < ratio / c < 5]
    if train.dim() == 2:
        order = column_order(train, test)
        if order is not None:
            made.append((f"x[:, {order.tolist()}]", lambda x: x[:, order]))
    return made


def column_order(train: Float[Tensor, "n d"], test: Float[Tensor, "m d"]) -> Tensor | None:
    """Returns the order of the test columns that fits the training columns best, by their quantiles; None if the given
    order fits as well.

    >>> x = torch.randn(300, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 5.0, 20.0])
    >>> column_order(x[:200], x[200:][:, [2, 0, 1]]).tolist()
    [1, 2, 0]
    >>> column_order(x[:200], x[200:]) is None
    True
    """
    from scipy.optimize import linear_sum_assignment

    if not 2 <= train.shape[1] <= MAX_COLUMNS:
        return None
    at = torch.linspace(0, 1, QUANTILES_PER_COLUMN, dtype=torch.float64)
    a, b = (torch.quantile(t.detach().cpu().double(), at, dim=0) for t in (train, test))
    spread = (a[-3] - a[2]).clamp(min=1e-12)
    cost = ((a[:, :, None] - b[:, None, :]) / spread[None, :, None]).abs().mean(0)
    rows, columns = linear_sum_assignment(cost.numpy())
    order = torch.as_tensor(columns)
    given, best = float(cost.diagonal().sum()), float(cost[rows, columns].sum())
    return order if best < MAX_REMAINING_DISTANCE * given else None


FIXES = (Fix("test-inputs", prepare_test_inputs_like_training),)
