"""Measures double descent over the number of training examples and over training time.

    along examples   rows 1 to m of a random order are fitted:  error(m) peaks if the model just fits them        (1)
    along epochs     one run is evaluated after e epochs:       error(e) rises while noise is fitted, and falls    (2)

Hypotheses: none; noise in the labels makes the peaks visible.
Reference: [nakkiran2020deep].

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> x, z, w = torch.randn(160, 40, generator=g), torch.randn(500, 40, generator=g), torch.ones(40) / 40**0.5
>>> def least_norm(x, y, seed):
...     v = torch.linalg.lstsq(x, y, driver="gelsd").solution
...     return lambda inputs: inputs @ v
>>> found = sample_wise_double_descent(least_norm, [10, 20, 40, 80, 160], (x, x @ w + 0.5 * torch.randn(160,
...     generator=g)), (z, z @ w))
>>> found.peak, found.threshold                                            # as many rows as features
(40, 40)
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.bounds.double_descent import DoubleDescent, summarize_errors
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples, take_examples
from gnomon.core.inputs.checks import check_integer, check_module
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.training import Adam, train
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["epoch_wise_double_descent", "sample_wise_double_descent"]


@add_call_to_errors
def sample_wise_double_descent(
    fit: Callable[..., Callable[[Any], Tensor]], sizes: Sequence[int], data: Any, test: Any, *, draws: int = 3
) -> DoubleDescent:
    """Fits a model to more and more examples, and looks for a peak of the test error (double descent).

    See equation (1) of the module docstring.

    Args:
        fit: ``fit(x, y, seed)`` returns a trained module or function from inputs to outputs.
        sizes: increasing numbers of examples, at most the size of the data.
        data: training examples; each repetition shuffles them.
        test: test examples.
        draws: number of random orders at each size.

    Errors are error rates for classes and mean squared errors for numbers; training errors are on the examples used.

    Hypotheses: none.
    Reference: [nakkiran2020deep].
    Cost: one fit for each size and repetition.

    >>> def mean(x, y, seed):
    ...     return lambda inputs: y.mean() + 0 * inputs[:, 0]
    >>> sample_wise_double_descent(mean, [2, 4, 8], (torch.zeros(8, 1), torch.ones(8)), (torch.zeros(2, 1),
    ...     torch.ones(2))).test
    (0.0, 0.0, 0.0)
    """
    wanted = _growing(sizes)
    (x, y), (z, t) = (data_source(part).pair() for part in (data, test))
    n = count_examples(x)
    if wanted[-1] > n:
        found = f"{wanted[-1]} rows are requested, but the data has {n}"
        raise InputError(found, accepted="sizes up to the number of rows", fix="Pass smaller sizes or more data")
    rows = []
    for size in wanted:
        pairs = []
        for seed in range(check_integer("draws", draws)):
            index = torch.randperm(n, generator=torch.Generator().manual_seed(seed))[:size]
            a, b = take_examples(x, index), y[index]
            model = fit(a, b, seed)  # (1)
            with torch.no_grad():
                pairs.append([_error(model(a), b), _error(model(z), t)])
        rows.append(torch.tensor(pairs, dtype=torch.float64))
    return summarize_errors(wanted, rows, "number of examples")


@add_call_to_errors
def epoch_wise_double_descent(
    factory: Callable[[int], nn.Module],
    epochs: Sequence[int],
    data: Any,
    test: Any,
    *,
    optimizer: OptimizerChoice | None = None,
    batch: int = 32,
    draws: int = 3,
) -> DoubleDescent:
    """Trains new networks, measures their test error after several numbers of epochs, and looks for a peak (double
    descent).

    See equation (2) of the module docstring.

    Args:
        factory: a function from a seed to a new network.
        epochs: epochs after which errors are measured, in increasing order.
        data: training examples.
        test: test examples.
        optimizer: as `gnomon.train` takes it; by default ``Adam(1e-3)``.
        batch: examples in a batch.
        draws: number of networks.

    Errors are defined as in `sample_wise_double_descent`.

    Hypotheses: none.
    Reference: [nakkiran2020deep].
    Cost: a training run for each repetition.

    >>> x, y = torch.eye(4), torch.tensor([0, 1, 0, 1])
    >>> found = epoch_wise_double_descent(lambda seed: nn.Linear(4, 2), [1, 10, 100], (x, y), (x, y),
    ...     optimizer=Adam(0.1), batch=4)
    >>> found.test[-1], found.along
    (0.0, 'epochs')
    """
    wanted = _growing(epochs)
    (x, y), (z, t) = (data_source(part).pair() for part in (data, test))
    size = min(check_integer("batch", batch), len(y))
    each = -(-len(y) // size)
    looks = [each * e for e in wanted]
    runs = []
    for seed in range(check_integer("draws", draws)):
        net = factory(seed)
        check_module(net)
        seen: dict[int, list[float]] = {}

        def look(step: int, model: nn.Module, _loss: float, seen: dict[int, list[float]] = seen) -> float:
            seen[step] = [_error(outputs_in_eval_mode(model, a), b) for a, b in ((x, y), (z, t))]
            return seen[step][1]

        rule = Adam(1e-3) if optimizer is None else optimizer
        watch = {"error": look}
        run = train(net, (x, y), optimizer=rule, steps=looks[-1], batch=size, record=looks, watch=watch, seed=seed)
        run.raise_if_interrupted()
        if looks[-1] not in seen:
            found = f"training diverged after step {max(seen)} of {looks[-1]}"
            raise InputError(found, accepted="a run that stays finite", fix="Use a smaller learning rate")
        runs.append([seen[step] for step in looks])  # (2)
    table = torch.tensor(runs, dtype=torch.float64)
    return summarize_errors(wanted, list(table.transpose(0, 1)), "epochs")


def _growing(sizes: Sequence[int]) -> list[int]:
    wanted = [check_integer("sizes", size) for size in sizes]
    if len(wanted) < 3 or sorted(set(wanted)) != wanted:
        raise InputError(f"sizes is {list(sizes)}"[:80], accepted="three growing sizes", fix="Pass sizes in order")
    return wanted


def _error(made: Tensor, y: Tensor) -> float:
    """Returns the error rate if targets are classes, otherwise the mean squared error of the predicted numbers."""
    if are_classes(y):
        return float((made.argmax(1) != y).double().mean())
    return float((made.double().reshape(len(y), -1) - y.double().reshape(len(y), -1)).square().mean())
