"""Computes how an activation function scales a Gaussian signal, and the weight gain that preserves the signal's size.

For z ~ N(0, 1):

    E[phi(z)^2]    the mean square it passes on,       E[phi'(z)^2]    the factor of gradients    (1)
    gain = 1 / sqrt(E[phi(z)^2])                       so that E[(gain phi(z))^2] = 1                    (2)

>>> import torch
>>> print(activation_gain(torch.nn.ReLU()))
Multiplying the weights by 1.414 keeps the mean square of signals and keeps the mean square of gradients.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from gnomon.checks.network.meanfield import Activation
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_type
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.expectations import Moments

__all__ = ["ActivationGain", "activation_gain"]


@dataclass(frozen=True, slots=True, eq=False)
class ActivationGain(Result):
    """Result: factors by which an activation function scales signals and gradients, and the weight gain that preserves
    signals.
    """

    square: float
    slope_square: float
    gain: float

    @property
    def verdict(self) -> str:
        """Says in one sentence which weight gain preserves signals, and what this gain does to gradients."""
        backward = self.gain**2 * self.slope_square
        fate = "keeps" if abs(backward - 1) < 1e-3 else "shrinks" if backward < 1 else "increases"
        return (
            f"Multiplying the weights by {self.gain:.4g} keeps the mean square of signals and {fate} the mean "
            f"square of gradients."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how much an activation function scales signals and gradients, with and without the gain."""
        names = ("signal", "gradient", "signal with gain", "gradient with gain")
        factor = self.gain**2
        sizes = (self.square, self.slope_square, factor * self.square, factor * self.slope_square)
        return (Plot("Mean squares passed on", (Bars("mean square", names, sizes),), Axis("mean square")),)


@add_call_to_errors
def activation_gain(activation: Activation) -> ActivationGain:
    """Computes how much an activation function scales signals and gradients, and the weight gain that preserves
    signals.

        gain = 1 / sqrt(E[phi(z)^2]), z ~ N(0, 1)                                                      (1)

    Args:
        activation: an elementwise function or module; its slope is taken by autograd.

    Hypotheses: piecewise analytic.
    Reference: [he2015delving], for the ReLU.
    Cost: some 0.1 s.

    >>> round(activation_gain(torch.nn.Softplus(5.0)).gain, 4)
    1.4044
    """
    check_type("activation", activation, Callable, fix="Pass a function such as torch.tanh or nn.ReLU()")
    phi, one = Moments(activation), torch.ones((), dtype=torch.float64)
    square, slope_square = float(phi.square(one).detach()), float(phi.slope_square(one).detach())
    if not square > 0:
        found = f"the activation has E[phi(z)^2] = {square:.3g} for Gaussian z"
        fix = "Pass an activation that is not zero everywhere"
        raise InputError(found, accepted="an activation with a finite positive mean square", fix=fix)
    return ActivationGain(square, slope_square, square**-0.5)
