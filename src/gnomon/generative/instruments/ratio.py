"""Computes density ratios, their calibration and a bound on the Jensen-Shannon divergence from a trained discriminator.

    D = p / (p + q)    =>    p / q = D / (1 - D),    E_q D / (1 - D) = 1                                   (1)
    JS(p, q) >= log 2 + (E_p log D + E_q log(1 - D)) / 2    for every D, equal for the D of (1)            (2)

Hypotheses: equally many examples of p and of q; for (2), examples that D was not trained on.
Reference: [goodfellow2014generative], [sugiyama2012density].
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results import Axis, Finding, Interval, Line, Plot, Result, Scatter, Value
from gnomon.findings import generative as kinds
from gnomon.generative.instruments.draws import alike
from gnomon.generative.vectors import finite_points

__all__ = ["RatioCalibration", "density_ratio", "jensen_shannon_lower_bound", "ratio_calibration"]

Logits = Callable[[Tensor], Tensor]
"""A function from examples to logits of the probability that they come from p."""
WRONG_BIN_Z = 5.0
"""Number of standard errors at which a bin of probabilities counts as wrong: one false alarm in 10^5 bins."""
HARMLESS_MISCALIBRATION = 0.05
"""Miscalibration below this is harmless."""


@add_call_to_errors
def density_ratio(discriminator: Logits, data: Any) -> Float[Tensor, " n"]:
    """Returns the density ratio p(x) / q(x) of each example, from a discriminator trained to separate p from q.

        p(x) / q(x) = D(x) / (1 - D(x)) = exp(logit)                                                       (1)

    Hypotheses: the discriminator is optimal; see `ratio_calibration`. Reference: [sugiyama2012density].
    Cost: one forward pass.

    >>> density_ratio(lambda x: torch.log(torch.tensor(3.0)) + 0 * x[:, 0], torch.zeros(1, 2)).item()
    3.0
    """
    with torch.no_grad():
        return _logits(discriminator, finite_points(data, "x")).exp()  # (1)


@add_call_to_errors
def jensen_shannon_lower_bound(discriminator: Logits, x: Tensor, y: Tensor) -> Value:
    """Returns a lower bound of the Jensen-Shannon divergence between two sets of examples in nats, with a standard
    error.

        JS(p, q) >= log 2 + (mean log D(x) + mean log(1 - D(y))) / 2                                       (1)

    Args:
        discriminator: from examples to logits; it must not be trained on these examples.
        x: examples of p.
        y: examples of q.

    Hypotheses: see the module. Reference: [goodfellow2014generative].
    Cost: one forward pass.

    >>> jensen_shannon_lower_bound(lambda x: 0 * x[:, 0], torch.zeros(4, 1), torch.zeros(4, 1)).value  # D = 1/2
    0.0
    """
    x, y = _both(x, y)
    with torch.no_grad():
        a = logsigmoid(_logits(discriminator, x).double())
        b = logsigmoid(-_logits(discriminator, y).double())
    value = log(2) + float(a.mean() + b.mean()) / 2  # (1)
    spread = 1.96 * float(a.var() / len(a) + b.var() / len(b)) ** 0.5 / 2
    return Value("JS divergence", value, Interval(value - spread, value + spread, 0.95), "lower bound", "nats")


@dataclass(frozen=True, slots=True, eq=False)
class RatioCalibration(Result):
    """Result: a discriminator's predicted probabilities in bins, and the observed fraction in each bin.

    ``error`` is the mean difference of both; ``mean_ratio`` is E_q D / (1 - D) with its standard error, and is 1 for a
    correct ratio.

    >>> RatioCalibration(torch.tensor([0.5]), torch.tensor([0.75]), torch.tensor([0.125]), 0.25, 1.0, 0.1).worst
    2.0
    """

    predicted: Float[Tensor, " b"] = field(repr=False)
    observed: Float[Tensor, " b"] = field(repr=False)
    errors: Float[Tensor, " b"] = field(repr=False)
    error: float
    mean_ratio: float
    ratio_error: float

    @property
    def worst(self) -> float:
        """Returns the largest difference between predicted and observed probability over all bins, in standard
        errors.
        """
        return float(((self.predicted - self.observed) / self.errors).abs().max())

    @property
    def verdict(self) -> str:
        """States whether the probabilities of the discriminator are calibrated."""
        detail = f"probabilities are off by {self.error:.1%} on average, and the mean ratio is {self.mean_ratio:.3g}"
        return f"The density ratio is wrong: {detail}." if self.findings else f"The density ratio is usable: {detail}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the probabilities of the discriminator are not calibrated."""
        if self.error < HARMLESS_MISCALIBRATION or self.worst < WRONG_BIN_Z:
            return ()

        evidence = (Value("mean error", self.error), Value("mean ratio", self.mean_ratio))
        return (Finding(kinds.RATIO_NOT_CALIBRATED, "", {"error": self.error}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the observed fraction in each bin against the discriminator's predicted probability."""
        marks = (Scatter("bins", self.predicted, self.observed), Line("right", (0, 1), (0, 1), "dashed"))
        axes = Axis("predicted probability", limits=(0, 1)), Axis("share of examples of p", limits=(0, 1))
        return (Plot("Calibration of the ratio", marks, *axes, caption=self.verdict),)


@add_call_to_errors
def ratio_calibration(discriminator: Logits, x: Tensor, y: Tensor, *, bins: int = 10) -> RatioCalibration:
    """Checks whether a discriminator's probabilities are calibrated, on examples it was not trained on.

        D(x) = P(example of p | x),    E_q D / (1 - D) = 1                                                 (1)

    Args:
        discriminator: from examples to logits of coming from p.
        x: examples of p.
        y: examples of q; equally many of both are used.
        bins: number of bins with equally many examples.

    Hypotheses: see the module. Reference: [sugiyama2012density].
    Cost: one forward pass and a sort.

    >>> from gnomon.data import gaussian_mixture
    >>> p, q = gaussian_mixture([[0.0]]), gaussian_mixture([[1.0]])
    >>> right = lambda x: p.log_prob(x) - q.log_prob(x)
    >>> check = lambda f: ratio_calibration(f, p.sample(2000, seed=1), q.sample(2000, seed=2)).findings
    >>> check(right), check(lambda x: 4 * right(x))[0].kind
    ((), 'ratio-not-calibrated')
    """
    x, y = _both(x, y)
    count, n = check_integer("bins", bins), min(len(x), len(y))
    if n < 10 * count:
        raise InputError(
            f"each set has {n} examples",
            accepted=f"10 in each of {count} bins",
            fix="Pass more examples, or fewer bins",
        )
    with torch.no_grad():
        logits = torch.cat([_logits(discriminator, part[:n]).double() for part in (x, y)])
    order = logits.argsort()
    chosen, real = logits.sigmoid()[order].tensor_split(count), (order < n).double().tensor_split(count)
    predicted, observed = (torch.stack([part.mean() for part in parts]) for parts in (chosen, real))
    sizes = torch.tensor([len(part) for part in chosen], dtype=torch.float64)
    errors = torch.stack([(p * (1 - p)).mean() for p in chosen]).clamp(min=1e-4).div(sizes).sqrt()
    ratio = logits[n:].exp()
    off = float(((predicted - observed).abs() * sizes).sum() / sizes.sum())
    return RatioCalibration(predicted, observed, errors, off, float(ratio.mean()), float(ratio.std()) / n**0.5)  # (1)


def _both(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    a, b = finite_points(x, "x", least=2), finite_points(y, "y", least=2)
    alike(a.flatten(1), b.flatten(1))
    return a, b


def _logits(discriminator: Logits, x: Any) -> Tensor:
    given = discriminator(x)
    if not isinstance(given, Tensor) or given.numel() != len(x):
        found = (
            f"the discriminator returned {tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__}"
        )
        raise InputError(found, accepted="one logit for each example", fix="Return a tensor of shape (n,) or (n, 1)")
    return given.reshape(len(x))
