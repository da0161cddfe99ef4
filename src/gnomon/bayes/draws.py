"""Defines draws of several Markov chains: means with standard errors, diagnostics, findings and plots."""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.diagnostics import MIN_DRAWS_PER_CHAIN, burn_in, effective_sample_size, r_hat
from gnomon.core.results import Axis, Finding, Histogram, Interval, Line, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import most_serious_first
from gnomon.findings import theory as kinds

__all__ = ["PosteriorDraws"]

MAX_R_HAT = 1.01
"""Largest R-hat at which chains count as one distribution, as [vehtari2021rank] recommend."""
MIN_EFFECTIVE_DRAWS = 400
"""Number of effective draws over all chains that makes R-hat and standard errors reliable [vehtari2021rank]."""
SHOWN_COORDINATES = 4
"""Number of coordinates in the plot: the ones that mix worst."""


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorDraws(Result):
    """Result: draws of Markov chains (chains, draws, coordinates) after warm-up, the sampler's settings, and the cost.

    ``accepted`` is the mean probability of acceptance (1 for samplers without rejection), ``divergences`` counts paths
    whose energy ran away, ``gradients`` evaluations of the log density over all chains, warm-up included. ``stopped``
    is "finished" or "interrupted". ``center`` is the point at which the module is linearized before it takes the draws;
    only draws of a Laplace approximation have one.

    >>> draws = PosteriorDraws(torch.randn(4, 500, 2, generator=torch.Generator().manual_seed(0)), "exact", 1.0, 0, 0,
    ...     0)
    >>> draws.converged, bool((draws.mean.abs() < 4 * draws.error).all())
    (True, True)
    """

    values: Float[Tensor, "c n d"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    method: str
    accepted: float
    divergences: int
    gradients: int
    warmup: int
    names: tuple[str, ...] = ()
    stopped: str = "finished"
    center: Float[Tensor, " d"] | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def mean(self) -> Float[Tensor, " d"]:
        """Returns the mean of each coordinate over all draws of the chains."""
        return self.values.flatten(0, 1).mean(0)

    @property
    def std(self) -> Float[Tensor, " d"]:
        """Returns the standard deviation of each coordinate over all draws of the chains."""
        return self.values.flatten(0, 1).std(0)

    @property
    def r_hat(self) -> Float[Tensor, " d"]:
        """Returns the R-hat diagnostic of each coordinate, which is near 1 if the chains agree."""
        return r_hat(self.values)

    @property
    def effective(self) -> Float[Tensor, " d"]:
        """Returns the effective sample size of each coordinate: the number of independent draws with the same
        precision.
        """
        return effective_sample_size(self.values)

    @property
    def error(self) -> Float[Tensor, " d"]:
        """Returns the standard error of each coordinate's mean, from standard deviation and effective sample size."""
        return self.std / self.effective.clamp(min=torch.finfo(torch.float64).tiny).sqrt()

    @property
    def burn_in(self) -> int:
        """Returns the number of initial draws that do not follow the final distribution yet and should be discarded."""
        return burn_in(self.values)

    def interval(self, confidence: float = 0.95) -> tuple[Interval, ...]:
        """Returns for each coordinate the central interval that contains the given fraction of the draws."""
        ends = torch.tensor([(1 - confidence) / 2, (1 + confidence) / 2], dtype=self.values.dtype)
        low, high = self.values.flatten(0, 1).quantile(ends, 0)
        return tuple(Interval(float(a), float(b), confidence) for a, b in zip(low, high, strict=True))

    @property
    def converged(self) -> bool:
        """Returns whether all Markov chains agree (R-hat near 1) and have enough effective draws."""
        if self.values.shape[1] < MIN_DRAWS_PER_CHAIN:
            return False
        return float(self.r_hat.max()) <= MAX_R_HAT and float(self.effective.min()) >= MIN_EFFECTIVE_DRAWS

    @property
    def verdict(self) -> str:
        """States whether the Markov chains are reliable, judged by their worst coordinate."""
        chains, n, d = self.values.shape
        early = "Interrupted. " if self.stopped == "interrupted" else ""
        if n < MIN_DRAWS_PER_CHAIN:
            return f"{early}{n} draws per chain are too few to decide whether the chains agree."
        worst, least = float(self.r_hat.max()), float(self.effective.min())
        numbers = f"R-hat at most {worst:.3f}, at least {least:.0f} effective draws of {chains * n}"
        if self.converged:
            return f"{early}{chains} chains agree on all {d} coordinates ({numbers})."
        return f"{early}The chains are not reliable yet ({numbers})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about chains that disagree, chains that mix slowly, and trajectories that diverged."""
        listed = []
        if self.values.shape[1] >= MIN_DRAWS_PER_CHAIN and not self.converged:
            worst = int(self.r_hat.nan_to_num(nan=torch.inf).argmax())
            largest, fewest = float(self.r_hat[worst]), float(self.effective.min())
            evidence = Value("largest R-hat", largest), Value("fewest effective draws", fewest)
            listed.append(Finding(kinds.CHAINS_NOT_CONVERGED, self._name(worst), {"r_hat": largest}, evidence))
        if self.divergences:
            share = self.divergences / (self.values.shape[0] * self.values.shape[1])
            row = kinds.DIVERGENT_PATHS if share < 0.01 else kinds.MANY_DIVERGENT_PATHS
            values = {"divergences": self.divergences, "share": share}
            listed.append(Finding(row, values=values, evidence=(Value("share", share),)))
        return most_serious_first(listed)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the chains' draws of the worst coordinate over time, and the distribution of these draws."""
        n = self.values.shape[1]
        worst = int(self.r_hat.nan_to_num(nan=torch.inf).argmax()) if n >= MIN_DRAWS_PER_CHAIN else 0
        stride = max(1, n // 400)
        paths = tuple(
            Line(f"chain {c + 1}", range(0, n, stride), chain[::stride, worst])
            for c, chain in enumerate(self.values[:SHOWN_COORDINATES])
        )
        name = self._name(worst)
        bars = Histogram.of("draws", self.values[..., worst].flatten())
        return (
            Plot(f"Paths of {name}", paths, Axis("draw"), Axis(name), caption=self.verdict),
            Plot(f"Draws of {name}", (bars,), Axis(name), Axis("draws")),
        )

    def to_arviz(self) -> dict[str, dict[str, Any]]:
        """Returns the draws as arrays for ``arviz.from_dict``."""
        values = self.values.cpu().numpy()
        if not self.names:
            return {"posterior": {"x": values}}
        return {"posterior": {name: values[..., i] for i, name in enumerate(self.names)}}

    def _name(self, i: int) -> str:
        return self.names[i] if self.names else f"x[{i}]"
