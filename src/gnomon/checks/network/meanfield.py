"""Predicts how signals and gradients change with depth in a wide random fully connected network (mean-field theory).

With weights of variance weight_std^2 / fan_in and biases of variance bias_std^2, the pre-activations of a layer are
Gaussian; their variance q and the correlation c for two inputs pass from layer to layer by

    V(q) = weight_std^2 E[phi(u)^2] + bias_std^2,                       u ~ N(0, q)                      (1)
    C(c) = (weight_std^2 E[phi(u) phi(v)] + bias_std^2) / V(q),         u, v ~ N(0, q), correlation c    (2)

with fixed points q* and c*. Small deviations change by V'(q*) and C'(c*) at each layer, so by a factor e after

    xi_q = -1 / log |V'(q*)|,    xi_c = -1 / log C'(c*),    C'(c) = weight_std^2 E[phi'(u) phi'(v)] q / V(q)   (3)

layers. Gradients backwards, and small differences of inputs forwards, are multiplied in variance at each layer by

    chi = weight_std^2 E[phi'(u)^2],    which is C'(1) at q* = V(q*)                                     (4)

chi < 1: ordered, gradients vanish and inputs become similar. chi > 1: chaotic, gradients explode and inputs become
unlike. chi = 1: critical, signals reach any depth. Where q* is 0 or infinite the signal itself vanishes or explodes,
and for a function that is linear there (tanh at 0, relu) correlations are kept: C'(1) = 1.

Hypotheses: widths much larger than the depth; independent weights; a fully connected network without residuals.
Reference: [poole2016exponential], [schoenholz2017deep].

>>> from torch import nn
>>> round(mean_field(nn.ReLU(), weight_std=2**0.5).chi, 12)                    # weight_std^2 / 2
1.0
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, inf, log

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_number, check_type
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.expectations import Moments

__all__ = ["MeanField", "critical_weight_std", "mean_field"]

Activation = Callable[[Tensor], Tensor]
"""An elementwise function, such as ``torch.tanh`` or ``torch.nn.ReLU()``."""

ZERO_VARIANCE = 1e-12
"""Variances below this count as zero."""
INFINITE_VARIANCE = 1e12
"""Variances above this count as infinite."""
CRITICAL_TOLERANCE = 1e-3
"""Distance of chi from 1 that counts as critical: depth scales above a thousand layers."""


@dataclass(frozen=True, slots=True)
class MeanField(Result):
    """Result of mean-field theory: the signal variance and correlation that deep layers approach, and how gradients
    change.

    See equations (1), (2) and (3) and (4) of the module docstring.
    ``q`` is the fixed point that the variance of the inputs tends to, which may be 0 or infinity.
    """

    activation: Activation
    weight_std: float
    bias_std: float
    q: float
    c: float
    chi: float
    variance_slope: float
    correlation_slope: float
    _moments: Moments = field(repr=False, compare=False)

    def variance(self, q: float) -> float:
        """Returns the variance of a signal after one layer, given the variance q before the layer.

        See equation (1) of the module docstring.
        """
        return _variance(self._moments, self.weight_std, self.bias_std, q)

    def correlation(self, c: float, *, q: float | None = None) -> float:
        """Returns the correlation of two signals after one layer, given their correlation c and variance q before the
        layer.

        See equation (2) of the module docstring.
        """
        return _correlation(self._moments, self.weight_std, self.bias_std, _inside(self.q if q is None else q), c)

    @property
    def xi_q(self) -> float:
        """Returns the number of layers over which the signal variance gets closer to its limit by a factor e.

        See equation (3) of the module docstring.
        """
        return _scale(self.variance_slope)

    @property
    def xi_c(self) -> float:
        """Returns the number of layers over which the correlation of signals gets closer to its limit by a factor e.

        See equation (3) of the module docstring.
        """
        return _scale(self.correlation_slope)

    @property
    def xi_gradient(self) -> float:
        """Returns the number of layers over which the variance of gradients changes by a factor e."""
        return _scale(self.chi)

    @property
    def phase(self) -> str:
        """Says whether gradients vanish with depth ("ordered"), keep their size ("critical") or explode ("chaotic")."""
        if abs(self.chi - 1) < CRITICAL_TOLERANCE:
            return "critical"
        return "ordered" if self.chi < 1 else "chaotic"

    @property
    def verdict(self) -> str:
        """Says in one sentence how deep signals and gradients reach in this network."""
        if self.phase == "critical":
            return f"Critical (chi = {self.chi:.4g}): signals and gradients reach any depth."
        change = "vanish" if self.phase == "ordered" else "explode"
        if self.q in (0.0, inf):
            change = f"{change}, and signals {'vanish' if self.q == 0 else 'explode'}"
        elif self.xi_c < inf:
            change = f"{change}, and inputs become {'similar' if self.phase == 'ordered' else 'unlike'}"
        head = f"{self.phase.capitalize()} (chi = {self.chi:.4g}): gradients {change}"
        tail = f"by a factor e every {self.xi_gradient:.3g} layers; about {self.reach:.3g} layers can be trained"
        return f"{head}, {tail}."

    @property
    def reach(self) -> float:
        """Returns the largest trainable depth: six times the number of layers over which signals or gradients change by
        a factor e.
        """
        return 6 * min(self.xi_c, self.xi_gradient)

    def path(self, depth: int, *, q: float = 1.0, c: float = 0.0) -> dict[str, list[float]]:
        """Predicts variance and correlation of signals and the relative variance of gradients at each layer."""
        variances, correlations, factors = [q], [c], []
        for _ in range(depth):
            at = _inside(variances[-1])
            correlations.append(_correlation(self._moments, self.weight_std, self.bias_std, at, correlations[-1]))
            factors.append(_chi(self._moments, self.weight_std, at, 1.0))
            variances.append(self.variance(at))
        gradients = [1.0]
        for factor in reversed(factors):
            gradients.append(gradients[-1] * factor)
        return {"variance": variances, "correlation": correlations, "gradient": gradients[::-1]}

    def plots(self) -> tuple[Plot, ...]:
        """Plots the correlation of two signals after one layer over their correlation before it, with the diagonal.

        See equation (2) of the module docstring.
        """
        grid = [i / 40 for i in range(41)]
        marks = (
            Line("after a layer", grid, [self.correlation(c) for c in grid]),
            Line("no change", (0, 1), (0, 1), "dotted"),
        )
        axes = Axis("correlation of two inputs before a layer", limits=(0, 1)), Axis("after", limits=(0, 1.02))
        caption = (
            "Above the dotted line, two inputs become more similar from layer to layer; below the line, less similar."
        )
        return (Plot("Correlations", marks, *axes, caption=caption),)


@add_call_to_errors
def mean_field(activation: Activation, *, weight_std: float, bias_std: float = 0.0, q: float = 1.0) -> MeanField:
    """Predicts how signals and gradients change with depth in a wide random network, from its activation, weights and
    biases.

        chi = weight_std^2 E[phi'(u)^2],    u ~ N(0, q*),    q* = V(q*)                                (1)

    Args:
        activation: elementwise; derivatives are taken by autograd.
        weight_std: of weights times sqrt(fan_in).
        bias_std: of biases.
        q: variance of the pre-activations of the first layer, from which the fixed point is sought.

    Hypotheses: wide layers, independent weights, no residual branches; a piecewise analytic activation.
    Reference: [poole2016exponential], equations 3 to 8; [schoenholz2017deep], section 3.
    Cost: some fifty quadratures, 0.2 s.

    >>> theory = mean_field(torch.tanh, weight_std=0.5)                        # q* = 0: chi = weight_std^2
    >>> theory.phase, round(theory.chi, 9), round(theory.xi_gradient, 6) == round(-1 / log(0.25), 6)
    ('ordered', 0.25, True)
    """
    check_type("activation", activation, Callable, fix="Pass a function such as torch.tanh or nn.ReLU()")
    weight_std, q = check_number("weight_std", weight_std, above=0), check_number("q", q, above=0)
    if check_number("bias_std", bias_std) < 0:
        raise out_of_range_error("bias_std", "a number of at least 0", bias_std)
    phi = Moments(activation)
    fixed = _fixed_point(phi, weight_std, bias_std, q)
    at = _inside(fixed)
    chi = _chi(phi, weight_std, at, 1.0)  # (4)
    slope = weight_std**2 * float(phi.square_slope(_number(at)).detach())
    # Corrects the slopes if the variance was clipped to the allowed range. At a fixed point this factor is 1.
    shrink = at / _variance(phi, weight_std, bias_std, at)
    c = _fixed_correlation(phi, weight_std, bias_std, at, chi * shrink)
    turn = _chi(phi, weight_std, at, c) * shrink  # (3)
    return MeanField(activation, weight_std, bias_std, fixed, c, chi, slope, turn, phi)


@add_call_to_errors
def critical_weight_std(activation: Activation, *, bias_std: float = 0.0) -> float:
    """Returns the standard deviation of initial weights at which gradients neither vanish nor explode with depth.

    Hypotheses: chi grows with weight_std, as it does for the usual activations.
    Reference: [schoenholz2017deep], figure 1.
    Cost: about ten times `mean_field`'s fixed point, 0.5 s.

    >>> from torch import nn
    >>> round(critical_weight_std(nn.ReLU()), 9) == round(2**0.5, 9)
    True
    """
    low, high = log(1e-2), log(1e2)
    phi = Moments(activation)

    def excess(at: float) -> float:
        fixed = _fixed_point(phi, exp(at), bias_std, 1.0)
        return _chi(phi, exp(at), _inside(fixed), 1.0) - 1

    ends = excess(low), excess(high)
    if ends[0] > 0 or ends[1] < 0:
        what = f"chi - 1 is {ends[0]:.2g} at weight_std 0.01 and {ends[1]:.2g} at 100"
        fix = "This activation has no critical weight_std; use normalization or residual branches"
        raise InputError(what, accepted="a chi that crosses 1", fix=fix)
    return exp(_root(excess, low, high))


def _variance(phi: Moments, w: float, b: float, q: float) -> float:
    return w * w * float(phi.square(_number(q)).detach()) + b * b  # (1)


def _correlation(phi: Moments, w: float, b: float, q: float, c: float) -> float:
    at = _number(q)
    c = (w * w * float(phi.product(at, at, c * at).detach()) + b * b) / _variance(phi, w, b, q)  # (2)
    return min(1.0, max(-1.0, c))


def _chi(phi: Moments, w: float, q: float, c: float) -> float:
    at = _number(q)
    return w * w * float(phi.slope_product(at, at, c * at).detach())


def _fixed_point(phi: Moments, w: float, b: float, q: float) -> float:
    """Returns the signal variance that deep layers approach, starting from variance q; 0 or infinity if it vanishes or
    explodes.
    """

    def grows(at: float) -> float:
        return _variance(phi, w, b, at) / at - 1

    start = grows(q)
    if abs(start) < 1e-10:  # The start is a fixed point, as every variance is in a critical ReLU network.
        return q
    factor, near = 2.0 if start > 0 else 0.5, q
    while ZERO_VARIANCE < near < INFINITE_VARIANCE and grows(factor * near) * start > 0:
        near *= factor
    if ZERO_VARIANCE < near < INFINITE_VARIANCE:
        return exp(_root(lambda at: grows(exp(at)), log(near), log(factor * near)))
    return inf if start > 0 else 0.0


def _fixed_correlation(phi: Moments, w: float, b: float, q: float, slope: float) -> float:
    """Returns the correlation of two inputs that deep layers approach: 1, or a smaller value if similar inputs become
    different.
    """
    if slope <= 1 + 1e-9:
        return 1.0
    return _root(lambda c: _correlation(phi, w, b, q, c) - c, -1.0, 1.0 - 1e-6)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Finds a root of a function on [low, high] by Brent's method; returns the better end if the sign does not
    change.
    """
    from scipy.optimize import brentq  # imported here, because scipy is slow to import and rarely needed

    at_low, at_high = function(low), function(high)
    if at_low * at_high > 0:
        return low if abs(at_low) < abs(at_high) else high
    return float(brentq(function, low, high, xtol=1e-15, rtol=1e-15))


def _number(q: float) -> Tensor:
    return torch.tensor(q, dtype=torch.float64)


def _inside(q: float) -> float:
    return min(max(q, ZERO_VARIANCE), INFINITE_VARIANCE)


def _scale(factor: float) -> float:
    if factor == 0:
        return 0.0
    rate = abs(log(abs(factor)))
    return inf if rate < 1e-9 else 1 / rate
