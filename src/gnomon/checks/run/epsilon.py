"""Checks whether Adam's eps, the constant in the denominator, is far larger than the gradient, so that steps are tiny.

    step = lr m / (sqrt(v) + eps),    ratio = eps / root mean square of the gradient                            (1)

With a ratio far above one, steps are lr m / eps: the learning rate is effectively divided by the ratio.

Hypotheses: the gradient at initialization is typical of the run.
Reference: [kingma2015adam].

>>> epsilon_findings("Adam", 10.0, rms=0.01)[0].kind, epsilon_findings("Adam", 1e-8, rms=0.01)
('large-epsilon', ())
"""

from collections.abc import Mapping

from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds
from gnomon.training import Adam
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = ["epsilon_findings", "epsilon_of", "optimizer_epsilon_findings"]

MAX_RATIO = 30.0
"""Ratio (1) from which the steps are a problem."""
MIN_EPSILON = 1e-3
"""Values of eps below this one are usual; gradients that are smaller have findings of their own."""


def epsilon_findings(optimizer: str, epsilon: float, *, rms: float) -> tuple[Finding, ...]:
    """Reports a problem if Adam's eps is far larger than the root mean square of the gradient.

    >>> epsilon_findings("RMSprop", 1.0, rms=0.001)[0].values["ratio"]
    1000.0
    """
    ratio = epsilon / max(rms, 1e-30)
    if epsilon < MIN_EPSILON or ratio < MAX_RATIO:
        return ()
    values = {"optimizer": optimizer, "epsilon": epsilon, "ratio": ratio}
    return (Finding(kinds.LARGE_EPSILON, "optimizer", values, (Value("eps over the gradient", ratio),), 0.0),)


def epsilon_of(optimizer: AbstractOptimizer) -> float:
    """Returns the option eps of an optimizer; 0 if it has none.

    >>> epsilon_of(Adam())
    1e-08
    """
    if isinstance(optimizer, Adam):
        return optimizer.eps
    if isinstance(optimizer, TorchOptimizer) and optimizer.groups:
        return float(dict(optimizer.groups[0]).get("eps", 0.0) or 0.0)
    return 0.0


def optimizer_epsilon_findings(
    optimizer: AbstractOptimizer | None, gradients: Mapping[str, Tensor | None]
) -> tuple[Finding, ...]:
    """Reports a problem if an optimizer's eps is far larger than the gradients of the loss, given by parameter name.

    >>> optimizer_epsilon_findings(None, {})
    ()
    """
    known = [g.detach().double() for g in gradients.values() if g is not None]
    if optimizer is None or not known:
        return ()
    squares, numbers = sum(float(g.square().sum()) for g in known), sum(g.numel() for g in known)
    return epsilon_findings(optimizer.name, epsilon_of(optimizer), rms=(squares / max(1, numbers)) ** 0.5)
