"""Splits a network's test error into variance (from the choice of the training set) and bias (everything else).

    mean_k (f_k(x) - y)^2 = (mean_k f_k(x) - y)^2 + mean_k (f_k(x) - mean f(x))^2                               (1)

f_k is trained on the k-th bootstrap sample of the training set. The first part is squared bias plus label noise; the
second is the variance. The identity is exact for every set of predictions.

Hypotheses: squared error; bootstrap samples stand for new training sets.
Reference: [hastie2009elements], 7.3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.checks import check_integer, check_module, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.training import Adam, train

__all__ = ["BiasVariance", "bias_variance"]


@dataclass(frozen=True, slots=True)
class BiasVariance(Result):
    """Result: squared bias and variance of the predictions, averaged over test examples; ``bias`` includes label noise.

    >>> BiasVariance(bias=0.5, variance=0.25, draws=10).error
    0.75
    """

    bias: float
    variance: float
    draws: int

    @property
    def error(self) -> float:
        """Returns the mean squared error on the test examples."""
        return self.bias + self.variance

    @property
    def verdict(self) -> str:
        """States whether bias or variance is the larger part of the test error, and what reduces it."""
        share = self.variance / max(self.error, 1e-300)
        fix = (
            "More data or stronger regularization would reduce the test error."
            if share > 0.5
            else "A larger model or longer training would reduce the test error."
        )
        return f"{share:.0%} of the test error is variance between {self.draws} training samples. {fix}"

    def plots(self) -> tuple[Plot, ...]:
        """Plots the bias and the variance part of the test error as bars."""
        bars = Bars("mean squared error", ["bias and noise", "variance"], [self.bias, self.variance])
        return (Plot("Parts of the test error", (bars,), Axis("mean squared error")),)


@add_call_to_errors
def bias_variance(
    factory: Callable[[int], nn.Module],
    data: Any,
    test: Any,
    *,
    draws: int = 10,
    steps: int = 300,
    lr: float = 1e-2,
    seed: int = 0,
) -> BiasVariance:
    """Trains networks on bootstrap samples and splits their test error into bias and variance.

    See equation (1) of the module docstring.

    Args:
        factory: a function from a seed to a new network.
        data: training examples with numbers as targets.
        test: test examples.
        draws: number of bootstrap samples, at least 2.
        steps: training steps of each network, with Adam on the whole sample.
        lr: learning rate.
        seed: random seed of the samples and the networks.

    Cost: ``draws`` training runs.

    >>> x = torch.linspace(-1, 1, 20)[:, None]
    >>> found = bias_variance(lambda seed: nn.Linear(1, 1), (x, 2 * x), (x, 2 * x), draws=3, steps=200, lr=0.1)
    >>> found.error < 1e-2
    True
    """
    seed, draws, steps = check_seed(seed), check_integer("draws", draws), check_integer("steps", steps)
    if draws < 2:
        raise InputError(f"draws is {draws}", accepted="at least 2 draws", fix="Pass draws=2 or more")
    x, y = _numbers(data)
    z, t = _numbers(test)
    made = []
    for k in range(draws):
        net = factory(seed + k)
        check_module(net)
        rows = torch.randint(len(y), (len(y),), generator=torch.Generator().manual_seed(seed + k))
        run = train(net, (take_examples(x, rows), y[rows]), optimizer=Adam(lr), steps=steps, seed=seed + k)
        made.append(outputs_in_eval_mode(run.raise_if_interrupted().model, z).double().reshape(len(t), -1))
    return split_error(torch.stack(made), t)


def split_error(predictions: Tensor, targets: Tensor) -> BiasVariance:
    """Splits the squared error of predictions (draws, examples, outputs) into squared bias and variance.

    See equation (1) of the module docstring.

    >>> found = split_error(torch.tensor([[[0.0]], [[2.0]]]), torch.tensor([[2.0]]))
    >>> found.bias, found.variance
    (1.0, 1.0)
    """
    middle = predictions.mean(0)
    bias = (middle - targets).square().mean()
    variance = (predictions - middle).square().mean()
    return BiasVariance(float(bias), float(variance), len(predictions))  # (1)


def _numbers(data: Any) -> tuple[Any, Tensor]:
    x, y = data_source(data).pair()
    if not y.is_floating_point():
        raise InputError(f"the targets are {y.dtype}", accepted="numbers", fix="Pass floating-point targets")
    return x, y.reshape(len(y), -1)
