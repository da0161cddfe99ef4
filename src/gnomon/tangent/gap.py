"""Compares a trained network with its linearization on test examples.

    f_lin(x) = f_0(x) + k(x) (K + ridge n)^-1 (y - f_0),    gap = accuracy(trained) - accuracy(f_lin)           (1)

K is the tangent kernel at the start. A gap above zero is what learning features brought; near zero, the network did
no more than a kernel machine. f_0(x), often left out of (1), belongs to it.
Hypotheses: squared loss for the linearization, whose targets are one-hot rows for classes.
Reference: [jacot2018neural]; [lee2019wide], equation 10.

>>> TangentGap(0.9, 0.7, 100, True).gap
0.2...
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.classes import are_classes, targets_as_numbers
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import accuracy, binomial_interval, explained_variance
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.tangent.empirical import ntk
from gnomon.training import train
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["TangentGap", "tangent_gap"]

RELATIVE_RIDGE = 1e-6
"""Ridge relative to the mean diagonal of the kernel, so that its inverse exists in floating point."""


@dataclass(frozen=True, slots=True)
class TangentGap(Result):
    """Test scores of a trained network and of its linearization: accuracy for classes, otherwise explained variance."""

    trained: float
    tangent: float
    examples: int
    classes: bool

    @property
    def gap(self) -> float:
        """The test score of the trained network minus the test score of its linearization."""
        return self.trained - self.tangent  # (1)

    @property
    def verdict(self) -> str:
        """A sentence that says whether feature learning helped: whether the network beats its linearization
        significantly.
        """
        what = "accuracy" if self.classes else "explained variance"
        scores = f"The trained network has {what} {self.trained:.3f}, its linearization {self.tangent:.3f}"
        if self.classes:
            near = binomial_interval(round(self.tangent * self.examples), self.examples)
            if self.trained in near:
                return f"{scores}: no significant difference on {self.examples} test examples."
        return f"{scores}: {'learning features helped' if self.gap > 0 else 'the linearization is the better model'}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the test scores of the network and of its linearization."""
        bars = Bars("score", ("trained network", "its linearization"), (self.trained, self.tangent))
        return (Plot("Network and linearization", (bars,), Axis("score on test examples"), caption=self.verdict),)


@add_call_to_errors
def tangent_gap(
    module: nn.Module,
    data: Any,
    test: Any,
    *,
    optimizer: OptimizerChoice | None = None,
    steps: int = 500,
    ridge: float = RELATIVE_RIDGE,
    seed: int = 0,
) -> TangentGap:
    """Trains a copy of a network and compares its test score with kernel regression by the network's tangent kernel.

    See equation (1) of the module docstring.

    Args:
        module: the network at its start; it is left as it was.
        data: (inputs, targets) or other data to train on; at most a few thousand, for the kernel.
        test: test examples.
        optimizer: as in `gnomon.train`, as are the steps and the seed.
        steps: number of steps of training.
        ridge: on the kernel, in units of the mean of its diagonal.
        seed: random seed for training.

    Hypotheses: a deterministic network in eval mode. Reference: [lee2019wide].
    Cost: a training run, the kernel of n and m examples, O(n^3).

    >>> net, x = nn.Linear(1, 1), torch.linspace(-1, 1, 8)[:, None]
    >>> result = tangent_gap(net, (x, 2 * x[:, 0]), (x, 2 * x[:, 0]), steps=400)        # linear: both fit
    >>> result.tangent > 0.999
    True
    """
    check_module_is_callable(module)
    penalty = check_number("ridge", ridge, above=0)
    (x, y), (x_test, y_test) = (data_source(part, module=module).pair() for part in (data, test))
    start, start_test = (outputs_in_eval_mode(module, part).double() for part in (x, x_test))
    known = are_classes(y)
    if known and start.shape[1] == 1:
        fix = "Give each class an output, or pass targets +1.0 and -1.0"
        raise InputError(
            "the targets are classes and the network has a single output", accepted="an output for each class", fix=fix
        )
    target, target_test = (
        targets_as_numbers(t, outputs=start.shape[1]).double().reshape(len(t), -1) for t in (y, y_test)
    )
    k, across = ntk(module, x).double(), ntk(module, x_test, x).double()
    damped = k + penalty * float(k.diagonal().mean()) * torch.eye(len(k), dtype=k.dtype, device=k.device)
    line = start_test + across @ torch.linalg.solve(damped, target - start)
    run = train(module, (x, y), optimizer=optimizer, steps=steps, seed=seed, record=[steps])
    final = outputs_in_eval_mode(run.raise_if_interrupted().model, x_test).double()
    by_class = accuracy(final, target_test) is not None
    scores = [accuracy(f, target_test) if by_class else explained_variance(f, target_test) for f in (final, line)]
    return TangentGap(float(scores[0] or 0.0), float(scores[1] or 0.0), len(final), by_class)
