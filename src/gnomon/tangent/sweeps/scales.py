"""Trains a network with outputs multiplied by a number alpha: small alphas learn features, large ones train lazily.

    F(w, x) = alpha (f(w, x) - f(w0, x)),    loss l(F, y) / alpha^2                                             (1)

As alpha grows the network stays at its start (kernel and signs of units do not change) and becomes its linearization.
Hypotheses: steps lr / alpha^2 of the plain loss, so that all scales share one time. Reference: [chizat2019lazy].

>>> ScaleSweep((1.0, 100.0), (0.9, 0.8), (0.5, 0.01), (0.2, 0.0), True).verdict[:28]
'From alpha = 1 to 100 the ke'
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import accuracy, explained_variance, relative_change
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.tangent.drift import hidden_layers, unit_changes
from gnomon.tangent.empirical import ntk
from gnomon.tangent.linear import scale_output
from gnomon.training import SGD, train
from gnomon.training.evaluate import Objective

__all__ = ["ScaleSweep", "scale_sweep"]

MAX_EXAMPLES = 64
"""Examples on which kernels are compared, at most."""


@dataclass(frozen=True, slots=True)
class ScaleSweep(Result):
    """For each output scale alpha: test score, change of the tangent kernel, and share of units with flipped sign.

    ``flips`` is empty for a network without hidden linear or convolutional layers.
    """

    alphas: tuple[float, ...]
    scores: tuple[float, ...]
    drift: tuple[float, ...]
    flips: tuple[float, ...]
    classes: bool

    @property
    def verdict(self) -> str:
        """A sentence that says how the change of the tangent kernel and the test score depend on the output scale."""
        what = "accuracy" if self.classes else "explained variance"
        return (
            f"From alpha = {self.alphas[0]:g} to {self.alphas[-1]:g} the kernel's change falls from "
            f"{self.drift[0]:.1%} to {self.drift[-1]:.1%} and the test {what} goes from {self.scores[0]:.3f} to "
            f"{self.scores[-1]:.3f}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots test score, change of the tangent kernel and flipped units over the output scale."""
        curves = {"test score": self.scores, "change of the kernel": self.drift, "flipped units": self.flips}
        marks = tuple(Line(name, self.alphas, values) for name, values in curves.items() if values)
        return (
            Plot(
                "Scale of the outputs",
                marks,
                Axis("scale alpha of the outputs", log=True),
                Axis("score; relative change; share"),
                self.verdict,
            ),
        )


@add_call_to_errors
def scale_sweep(
    module: nn.Module,
    data: Any,
    test: Any,
    *,
    alphas: Sequence[float] = (1.0, 10.0, 100.0),
    lr: float,
    steps: int = 300,
) -> ScaleSweep:
    """Trains a network at several scales of its outputs and measures test score, kernel change and flipped units.

    See equation (1) of the module docstring.

    Args:
        module: at its start; copies are trained.
        data: (inputs, targets) or other data; targets are numbers, or classes for the default loss.
        test: further examples for the scores.
        alphas: rising.
        lr: learning rate at alpha = 1; at alpha it is lr / alpha^2 of the plain loss.
        steps: number of steps of full-batch descent.

    Hypotheses: see the module. Reference: [chizat2019lazy], section 3.
    Cost: a training run and two kernels of at most 64 examples for each alpha.

    >>> import torch
    >>> net, x = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)), torch.linspace(-1, 1, 6)[:, None]
    >>> result = scale_sweep(net, (x, x[:, 0]), (x, x[:, 0]), alphas=(1.0, 50.0), lr=0.1, steps=50)
    >>> result.drift[1] < result.drift[0]
    True
    """
    check_module_is_callable(module)
    chosen = tuple(check_number("alphas", alpha, above=0) for alpha in alphas)
    rate = check_number("lr", lr, above=0)
    x, y = data_source(data, module=module).pair()
    goal = Objective.of(test, module, None)
    few = data_source(data, module=module).probe(MAX_EXAMPLES).x
    first = ntk(module, few)
    scores, drift, flips, classes = [], [], [], False
    for alpha in chosen:
        run = train(scale_output(module, alpha), (x, y), optimizer=SGD(rate / alpha**2), steps=steps, record=[steps],
                    mode="eval")  # fmt: skip
        end: Any = run.raise_if_interrupted().model
        batch = goal.data.whole()
        f, target = outputs_in_eval_mode(end, batch.x), goal.of_batch(batch)[1]
        score = accuracy(f, target)
        classes = score is not None
        scores.append(float(explained_variance(f, target.to(f)) if score is None else score))
        drift.append(relative_change(first, ntk(end.module, few)))
        if hidden_layers(module):
            flips.append(max(unit_changes(module, end.module, few).flips.values()))
    return ScaleSweep(chosen, tuple(scores), tuple(drift), tuple(flips), classes)
