"""PAC-Bayes certificates: bounds on the test error of a network with random weights, and of votes of such networks.

    stochastic   new weights for each example:          R        <= seeger(r)                                  (1)
    majority     the class that most draws choose:      R_vote   <= 2 seeger(r)                                (2)
    average      the largest mean probability:          R_mean   <= 2 seeger(l),  l = mean of 1 - p(label)     (3)
    single       one network drawn once:                kl(r_w | R_w) <= (ln dQ/dP(w) + ln(2 sqrt(n) / delta)) / n   (4)

A majority or an average is wrong only if at least half of the draws, or of the probability, is wrong: hence factor 2.

Hypotheses: as for `gnomon.bounds.seeger_bound`; (4) holds with probability 1 - delta over examples and the draw.
Reference: [langford2003pac] for (2), [rivasplata2020pac] for (4).
"""

from dataclasses import dataclass, field

from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.bounds.pacbayes.posterior import GaussianWeights
from gnomon.core.results import Axis, Bars, Plot, Reference, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["ErrorCertificate"]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCertificate(Result):
    """Result: bounds on the test error for networks with random weights, for their vote, their average, and one draw.

    See equations (1) to (4) of the module docstring.
    ``posterior`` draws networks and their votes, ``others`` are the weaker inequalities for the same network,
    ``counted`` is the number of examples in the bounds, ``prior`` describes the prior.

    >>> import torch, gnomon
    >>> g = torch.Generator().manual_seed(0)
    >>> x = torch.randn(400, 2, generator=g)
    >>> net = torch.nn.Linear(2, 2)
    >>> certificate = gnomon.certify(net, (x, (x[:, 0] > 0).long()), epochs=2, draws=400)
    >>> certificate.stochastic.vacuous, certificate.majority.value == 2 * certificate.stochastic.value
    (False, True)
    """

    stochastic: GeneralizationErrorBound
    majority: GeneralizationErrorBound
    average: GeneralizationErrorBound
    single: GeneralizationErrorBound
    others: tuple[Value, ...]
    counted: int
    prior: str
    posterior: GaussianWeights = field(repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def bounds(self) -> tuple[GeneralizationErrorBound, ...]:
        """Returns the bounds for four predictors: random weights, their majority vote, their average, and one draw of
        weights.
        """
        return self.stochastic, self.majority, self.average, self.single

    @property
    def verdict(self) -> str:
        """States the bounds on the test error with random weights and with their majority vote."""
        bound = self.stochastic
        seen = bound.measured
        measured = "" if seen is None else f" (measured on test examples: {float(seen.value):.2%})"
        sure = f"With confidence {1 - bound.delta:.3g} over the draw of {self.counted} examples"
        if bound.vacuous:
            return f"Nothing is certified: the bound is {bound.value:.3g}{measured}. More examples would help."
        return (
            f"{sure}, a network drawn from the posterior errs on at most {bound.value:.2%} of new examples{measured}; "
            f"one fixed draw on at most {min(1.0, self.single.value):.2%}, the majority of draws on at most "
            f"{min(1.0, self.majority.value):.2%}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the bounds on the test error of four predictors, and the measured error with random weights."""
        named = [(bound.name, bound.value) for bound in self.bounds]
        bars = Bars("bound", [name for name, _ in named], [value for _, value in named])
        seen = self.stochastic.measured
        marks = (bars,) if seen is None else (bars, Reference("measured", float(seen.value), vertical=True))
        return (Plot("Certified error on new examples", marks, Axis("error rate"), caption=self.verdict),)
