"""Mean-field theory of signals in a deep, wide, fully connected network at initialization.

With weights of variance weight_std^2 / fan_in and biases of variance bias_std^2, the pre-activations of a layer are
Gaussian; their variance q and the correlation c of those of two inputs pass from layer to layer by

    V(q) = weight_std^2 E[phi(u)^2] + bias_std^2,                       u ~ N(0, q)                      (1)
    C(c) = (weight_std^2 E[phi(u) phi(v)] + bias_std^2) / V(q),         u, v ~ N(0, q), correlation c    (2)

with fixed points q* and c*. Small deviations change by V'(q*) and C'(c*) at each layer, so by a factor e after

    xi_q = -1 / log |V'(q*)|,    xi_c = -1 / log C'(c*),    C'(c) = weight_std^2 E[phi'(u) phi'(v)] q / V(q)   (3)

layers. Gradients backwards, and small differences of inputs forwards, are multiplied in variance at each layer by

    chi = weight_std^2 E[phi'(u)^2],    which is C'(1) at q* = V(q*)                                     (4)

chi < 1: ordered, gradients vanish and inputs become alike. chi > 1: chaotic, gradients explode and inputs become
unlike. chi = 1: critical, signals reach any depth. Where q* is 0 or infinite the signal itself vanishes or explodes,
and for a function that is linear there (tanh at 0, relu) correlations are kept: C'(1) = 1.

Hypotheses: widths much larger than the depth; independent weights; a fully connected network without residuals.
Reference: [poole2016exponential], [schoenholz2017deep].

>>> from torch import nn
>>> round(mean_field(nn.ReLU(), weight_std=2**0.5).chi, 12)                    # weight_std^2 / 2
1.0
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

import torch
from torch import Tensor

from gnomon.core.checks import check_kind, number
from gnomon.core.errors import InputError, lesson, out_of_range
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.geometry.gaussian import expectation, product

Activation = Callable[[Tensor], Tensor]
"""An elementwise function, such as ``torch.tanh`` or ``torch.nn.ReLU()``."""

SMALLEST, LARGEST = 1e-12, 1e12
"""Variances beyond these are taken as zero and as infinite."""
CRITICAL = 1e-3
"""How near to 1 chi counts as critical: depth scales beyond a thousand layers."""


@dataclass(frozen=True, slots=True)
class MeanField(Result):
    """The fixed points of equations (1) and (2), and the factors of (3) and (4).

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

    def variance(self, q: float) -> float:
        """V(q), equation (1)."""
        return _variance(self.activation, self.weight_std, self.bias_std, q)

    def correlation(self, c: float, *, q: float | None = None) -> float:
        """C(c) at variance q, equation (2); at the fixed point where q is left out."""
        return _correlation(self.activation, self.weight_std, self.bias_std, _inside(self.q if q is None else q), c)

    @property
    def xi_q(self) -> float:
        """Layers over which a deviation of the variance changes by a factor e, equation (3)."""
        return _scale(self.variance_slope)

    @property
    def xi_c(self) -> float:
        """Layers over which the difference of two inputs changes by a factor e, equation (3)."""
        return _scale(self.correlation_slope)

    @property
    def xi_gradient(self) -> float:
        """Layers over which the variance of gradients changes by a factor e; infinite at criticality."""
        return _scale(self.chi)

    @property
    def phase(self) -> str:
        """ "ordered", "critical" or "chaotic"."""
        if abs(self.chi - 1) < CRITICAL:
            return "critical"
        return "ordered" if self.chi < 1 else "chaotic"

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.phase == "critical":
            return f"Critical (chi = {self.chi:.4g}): signals and gradients reach any depth."
        change = "vanish" if self.phase == "ordered" else "explode"
        if self.q in (0.0, inf):
            change = f"{change}, and signals {'vanish' if self.q == 0 else 'explode'}"
        elif self.xi_c < inf:
            change = f"{change}, and inputs become {'alike' if self.phase == 'ordered' else 'unlike'}"
        head = f"{self.phase.capitalize()} (chi = {self.chi:.4g}): gradients {change}"
        tail = f"by a factor e every {self.xi_gradient:.3g} layers; about {self.reach:.3g} layers can be trained"
        return f"{head}, {tail}."

    @property
    def reach(self) -> float:
        """The depth up to which networks train in experiments: six depth scales; infinite at criticality."""
        return 6 * min(self.xi_c, self.xi_gradient)

    def path(self, depth: int, *, q: float = 1.0, c: float = 0.0) -> dict[str, list[float]]:
        """Variances, correlations and, backwards, variances of gradients relative to the last layer, layer by layer."""
        variances, correlations, factors = [q], [c], []
        for _ in range(depth):
            at = _inside(variances[-1])
            correlations.append(_correlation(self.activation, self.weight_std, self.bias_std, at, correlations[-1]))
            factors.append(_chi(self.activation, self.weight_std, at, 1.0))
            variances.append(self.variance(at))
        gradients = [1.0]
        for factor in reversed(factors):
            gradients.append(gradients[-1] * factor)
        return {"variance": variances, "correlation": correlations, "gradient": gradients[::-1]}

    def plots(self) -> tuple[Plot, ...]:
        """The map of correlations through one layer, equation (2), beside the diagonal."""
        grid = [i / 40 for i in range(41)]
        marks = (
            Line("after a layer", grid, [self.correlation(c) for c in grid]),
            Line("no change", (0, 1), (0, 1), "dotted"),
        )
        axes = Axis("correlation of two inputs before a layer", limits=(0, 1)), Axis("after", limits=(0, 1.02))
        caption = "Above the dotted line inputs become more alike with depth, below it less."
        return (Plot("Correlations", marks, *axes, caption=caption),)


def mean_field(activation: Activation, *, weight_std: float, bias_std: float = 0.0, q: float = 1.0) -> MeanField:
    """What mean-field theory predicts for a deep network with this activation and these scales.

        chi = weight_std^2 E[phi'(u)^2],    u ~ N(0, q*),    q* = V(q*)                                (1)

    Args:
        activation: elementwise; derivatives are taken by autograd.
        weight_std: of weights times sqrt(fan_in).
        bias_std: of biases.
        q: variance of the pre-activations of the first layer, from which the fixed point is sought.

    Hypotheses: wide layers, independent weights, no residual branches; a corner of the activation only at zero.
    Reference: [poole2016exponential], equations 3 to 8; [schoenholz2017deep], section 3.
    Cost: some hundred quadratures, 0.1 s.

    >>> theory = mean_field(torch.tanh, weight_std=0.5)                        # q* = 0: chi = weight_std^2
    >>> theory.phase, round(theory.chi, 9), round(theory.xi_gradient, 6) == round(-1 / log(0.25), 6)
    ('ordered', 0.25, True)
    """
    call = "mean_field(activation)"
    check_kind("activation", activation, Callable, call=call, cure="Pass a function such as torch.tanh or nn.ReLU()")
    weight_std, q = number("weight_std", weight_std, call=call, above=0), number("q", q, call=call, above=0)
    if number("bias_std", bias_std, call=call) < 0:
        raise InputError(out_of_range(call, "bias_std", "a number of at least 0", bias_std))
    fixed = _fixed(activation, weight_std, bias_std, q)
    at = _inside(fixed)
    chi = _chi(activation, weight_std, at, 1.0)  # (4)
    slope = _slope(activation, weight_std, at)
    shrink = at / _variance(activation, weight_std, bias_std, at)  # 1 at a fixed point
    c = _fixed_correlation(activation, weight_std, bias_std, at, chi * shrink)
    turn = _chi(activation, weight_std, at, c) * shrink  # (3)
    return MeanField(activation, weight_std, bias_std, fixed, c, chi, slope, turn)


def critical_weight_std(activation: Activation, *, bias_std: float = 0.0) -> float:
    """The weight_std at which chi = 1: gradients neither vanish nor explode.

    Hypotheses: chi grows with weight_std, as it does for the usual activations.
    Reference: [schoenholz2017deep], figure 1.
    Cost: about forty times `mean_field`'s fixed point, 1 s.

    >>> from torch import nn
    >>> round(critical_weight_std(nn.ReLU()), 9) == round(2**0.5, 9)
    True
    """
    low, high = log(1e-2), log(1e2)

    def excess(at: float) -> float:
        fixed = _fixed(activation, exp(at), bias_std, 1.0)
        return _chi(activation, exp(at), _inside(fixed), 1.0) - 1

    if excess(low) > 0 or excess(high) < 0:
        what = f"chi - 1 is {excess(low):.2g} at weight_std 0.01 and {excess(high):.2g} at 100"
        cure = "There is no critical weight_std for this activation; use normalization or residual branches"
        raise InputError(lesson("critical_weight_std(activation)", what, "a chi that crosses 1", cure))
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return exp((low + high) / 2)


def _variance(phi: Activation, w: float, b: float, q: float) -> float:
    return w * w * float(expectation(lambda u: phi(u) ** 2, q)) + b * b  # (1)


def _correlation(phi: Activation, w: float, b: float, q: float, c: float) -> float:
    c = (w * w * float(product(phi, phi, q, c)) + b * b) / _variance(phi, w, b, q)  # (2)
    return min(1.0, max(-1.0, c))


def _chi(phi: Activation, w: float, q: float, c: float) -> float:
    def slope(u: Tensor) -> Tensor:
        with torch.enable_grad():
            u = u.detach().requires_grad_()
            return torch.autograd.grad(phi(u).sum(), u)[0]

    return w * w * float(product(slope, slope, q, c))


def _slope(phi: Activation, w: float, q: float) -> float:
    """V'(q) = weight_std^2 E[phi phi' u] / q, which needs no second derivative."""

    def moment(u: Tensor) -> Tensor:
        with torch.enable_grad():
            v = u.detach().requires_grad_()
            value = phi(v)
            (slope,) = torch.autograd.grad(value.sum(), v)
        return value.detach() * slope * u / q

    return w * w * float(expectation(moment, q))


def _fixed(phi: Activation, w: float, b: float, q: float) -> float:
    """The fixed point of V that q tends to: 0 or infinity where it leaves the range."""

    def grows(at: float) -> float:
        return _variance(phi, w, b, at) / at - 1

    start = grows(q)
    if abs(start) < 1e-10:  # every variance is kept
        return q
    factor, near = (2.0, q) if start > 0 else (0.5, q)
    while SMALLEST < near < LARGEST:
        far = near * factor
        if grows(far) * start <= 0:
            low, high = sorted((near, far))
            while high / low - 1 > 1e-14:
                middle = (low * high) ** 0.5
                if middle in (low, high):
                    break
                low, high = (middle, high) if grows(middle) > 0 else (low, middle)
            return (low * high) ** 0.5
        near = far
    return inf if start > 0 else 0.0


def _fixed_correlation(phi: Activation, w: float, b: float, q: float, slope: float) -> float:
    """1 where it is stable, else the fixed point of C below it."""
    if slope <= 1 + 1e-9:
        return 1.0
    low, high = -1.0, 1.0 - 1e-6
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (middle, high) if _correlation(phi, w, b, q, middle) > middle else (low, middle)
    return (low + high) / 2


def _inside(q: float) -> float:
    return min(max(q, SMALLEST), LARGEST)


def _scale(factor: float) -> float:
    if factor == 0:
        return 0.0
    rate = abs(log(abs(factor)))
    return inf if rate < 1e-9 else 1 / rate
