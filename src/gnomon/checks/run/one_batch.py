"""Tests whether a network can memorize a few examples, as almost every working network can.

A copy is trained on a few different examples only, first with the user's optimizer, then with Adam. Almost every
network with a suitable loss fits them:

    fitted = share of the batch that is right, or the share of the variance of its targets that is explained   (1)

If only Adam fits them, the optimizer or its learning rate is the reason; if neither does, the network or the loss is.

Hypotheses: the examples differ; equal inputs have equal targets. Random layers (dropout) stay in training mode in
training, and are off when (1) is measured.
Reference: [karpathy2019recipe].

>>> from gnomon.core.losses import CrossEntropy
>>> x, y = torch.randn(40, 6), torch.arange(40) % 2
>>> found = fit_one_batch(nn.Linear(6, 2), x, y, loss=CrossEntropy(), optimizer=Adam(0.1))
>>> found.own > 0.8, one_batch_findings(found)
(True, ())
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.checks.data.rows import example_hashes
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.metrics import predicted_classes
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Finding, Value
from gnomon.core.results.record import Record
from gnomon.findings import training as kinds
from gnomon.training import Adam, train
from gnomon.training.evaluate import Loss
from gnomon.training.optimizers import AbstractOptimizer

__all__ = ["OneBatchFit", "fit_one_batch", "one_batch_findings"]

BATCH_EXAMPLES = 8
"""Examples to learn by heart."""
FITTING_STEPS = 200
"""Steps of each run."""
ADAM_RATES = (3e-3, 3e-2)
"""Learning rates of Adam that are tried."""
MIN_FITTED = 0.8
"""Share (1) from which the batch counts as fitted."""


@dataclass(frozen=True, slots=True)
class OneBatchFit(Record):
    """Result: which fraction of one small batch a network memorizes, with the user's optimizer and at best with
    Adam.
    """

    examples: int
    steps: int
    own: float
    adam: float


def fit_one_batch(
    module: nn.Module, x: Inputs, y: Tensor, *, loss: Loss, optimizer: AbstractOptimizer,
    targets: Callable[[Tensor], Tensor] = lambda y: y,
) -> OneBatchFit | None:  # fmt: skip
    """Trains copies of a network on a few different examples only; returns how well they fit, None if too few examples
    differ.

    ``y`` are classes (n,), or numbers; ``targets`` brings them into the form that the loss takes.
    Cost: at most three runs of `FITTING_STEPS` steps on `BATCH_EXAMPLES` examples.

    >>> fit_one_batch(nn.Linear(2, 2), torch.ones(9, 2), torch.arange(9) % 2, loss=None, optimizer=Adam(0.1)) is None
    True
    """
    chosen = _different(x, y)
    if len(chosen) < BATCH_EXAMPLES:
        return None
    few, known = take_examples(x, chosen), y[chosen]
    reached = [_fitted_share(module, few, known, loss, optimizer, targets)]
    for lr in ADAM_RATES:
        if max(reached) < MIN_FITTED:
            reached.append(_fitted_share(module, few, known, loss, Adam(lr), targets))
    return OneBatchFit(len(chosen), FITTING_STEPS, reached[0], max(reached))


def one_batch_findings(found: OneBatchFit | None) -> tuple[Finding, ...]:
    """Reports a problem if the network cannot memorize one small batch with the user's optimizer.

    To be used for networks that fit their training set badly. False alarms: 0 of 240 healthy networks of six kinds.

    >>> one_batch_findings(OneBatchFit(8, 200, 0.2, 1.0))[0].kind
    'cannot-fit-one-batch'
    """
    if found is None or found.own >= MIN_FITTED:
        return ()
    values: dict[str, Any] = {"examples": found.examples, "steps": found.steps}
    values |= {"own": max(found.own, 0.0), "adam": max(found.adam, 0.0)}
    row = kinds.BATCH_NEEDS_OTHER_OPTIMIZER if found.adam >= MIN_FITTED else kinds.CANNOT_FIT_BATCH
    return (Finding(row, "", values, (Value("fitted share of one batch", found.own),)),)


def _different(x: Inputs, y: Tensor) -> Tensor:
    """Returns the indices of the first examples whose inputs differ from each other."""
    first: dict[bytes, int] = {}
    for i, name in enumerate(example_hashes(x)):
        first.setdefault(name, i)
    return torch.tensor(list(first.values())[:BATCH_EXAMPLES], dtype=torch.long)


def _fitted_share(
    module: nn.Module,
    x: Inputs,
    y: Tensor,
    loss: Loss,
    optimizer: AbstractOptimizer,
    targets: Callable[[Tensor], Tensor],
) -> float:
    """Trains a copy on a few examples only; returns which fraction of them it fits, from 0 to 1; 0 if training
    diverges.
    """
    run = train(
        module,
        (x, targets(y)),
        loss=loss,
        optimizer=optimizer,
        steps=FITTING_STEPS,
        batch=len(y),
        record=[0, FITTING_STEPS],
    )
    if run.raise_if_interrupted().stopped != "finished":
        return 0.0
    f = outputs_in_eval_mode(run.model, x)
    if not y.is_floating_point():
        return float((predicted_classes(f) == y).double().mean())
    y, f = y.reshape(len(y), -1).double(), f.double()
    spread = float((y - y.mean(0)).square().sum())
    return 1 - float((f - y).square().sum()) / spread if spread > 0 else 1.0
