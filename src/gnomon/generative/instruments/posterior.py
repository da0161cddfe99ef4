"""Measures how far a VAE's ELBO is below the log density, and finds latent coordinates that carry no information.

    gap = log p(x) - ELBO(x) = KL(q(z | x) | p(z | x)) >= IWAE_k(x) - ELBO(x)                              (1)
    a coordinate is in use if E_x KL(q(z_j | x) | N(0, 1)) is above 0.01 nats                              (2)

Hypotheses: (1) is an estimate from below, tight for large k. References: [burda2016importance], [bowman2016generating].
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_type
from gnomon.core.results import Axis, Bars, Finding, Interval, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import generative as kinds
from gnomon.generative.vae import VAE, gaussian_kl

__all__ = ["ElboGap", "elbo_gap"]

MIN_NATS_IN_USE = 0.01
"""Nats above which a latent coordinate counts as used, similar to [burda2016importance]."""


@dataclass(frozen=True, slots=True, eq=False)
class ElboGap(Result):
    """Result: the gap between log p(x) and a VAE's ELBO, and the information in each latent coordinate.

    ``mean_off`` and ``covariance_off`` are the distances of the latents' mean from 0 and of their covariance from I.

    >>> ElboGap(Value("gap", 0.1), -1.0, torch.tensor([1.5, 0.0]), 0.0, 0.0).informative_coordinates
    1
    """

    gap: Value
    elbo: float
    nats: Float[Tensor, " m"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    mean_off: float
    covariance_off: float

    @property
    def informative_coordinates(self) -> int:
        """Returns the number of latent coordinates of the VAE that carry more than 0.01 nats of information.

        See equation (2) of the module docstring.
        """
        return int((self.nats > MIN_NATS_IN_USE).sum())

    @property
    def verdict(self) -> str:
        """Says how far the ELBO is below log p(x), and how many latent coordinates carry information."""
        nats = f"{float(self.nats.sum()):.3g} nats in all"
        use = f"{self.informative_coordinates} of {len(self.nats)} latent coordinates carry information, {nats}"
        return f"The evidence lower bound (ELBO) is at least {float(self.gap.value):.3g} nats below log p(x); {use}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if no latent coordinate of the VAE carries information."""
        if self.informative_coordinates:
            return ()
        return (
            Finding(
                kinds.POSTERIOR_COLLAPSED, "", {"limit": MIN_NATS_IN_USE}, (Value("nats", float(self.nats.sum())),)
            ),
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the information in each latent coordinate of the VAE, in nats."""
        bars = Bars("nats", [f"z[{i}]" for i in range(len(self.nats))], self.nats)
        return (Plot("What each latent coordinate carries", (bars,), Axis("nats"), caption=self.verdict),)


@add_call_to_errors
def elbo_gap(vae: VAE, data: Any, *, draws: int = 64, seed: int = 0) -> ElboGap:
    """Measures how far a VAE's ELBO is below the log density, and which latent coordinates carry information.

        gap >= mean IWAE_k(x) - ELBO(x)                                                                    (1)

    Args:
        vae: a `VAE`; it is not changed.
        data: examples, preferably held out.
        draws: number k of draws for each example.
        seed: random seed of the draws.

    Hypotheses: see the module. Reference: [burda2016importance].
    Cost: 2 k passes through the decoder.

    >>> from torch import nn
    >>> encoder, decoder = nn.Linear(2, 2), nn.Linear(1, 2)
    >>> for layer in (encoder, decoder):
    ...     _ = [nn.init.zeros_(p) for p in layer.parameters()]
    >>> elbo_gap(VAE(encoder, decoder, latent=1, shape=(2,)), torch.randn(50, 2)).findings[0].kind
    'posterior-collapsed'
    """
    check_type("vae", vae, VAE, fix="Pass a generative.VAE")
    points = vae.points(data, least=2)
    k = check_integer("draws", draws, least=2)
    with vae.at_rest():
        mean, log_variance = vae.posterior(points)
        nats = gaussian_kl(mean, log_variance).mean(0).double()
        elbo = vae.elbo(points, k, seed=seed).double()
        gaps = vae.bound(points, k, seed=seed).double() - elbo  # (1)
    spread = 1.96 * float(gaps.std()) / len(gaps) ** 0.5
    value = float(gaps.mean())
    gap = Value("gap", value, Interval(value - spread, value + spread, 0.95), "lower bound", "nats")
    m = mean.double()
    covariance = torch.cov(m.T).reshape(vae.latent, vae.latent) + log_variance.double().exp().mean(0).diag()
    off = float((covariance - torch.eye(vae.latent, dtype=torch.float64)).norm())
    return ElboGap(gap, float(elbo.mean()), nats, float(m.mean(0).norm()), off)
