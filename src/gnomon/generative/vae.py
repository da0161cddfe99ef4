"""Variational autoencoders (VAEs): a decoder of latent numbers, a learned posterior, and bounds of the log density.

    p(x) = E_{z ~ N(0, I)} p(x | z),    q(z | x) = N(m(x), diag s(x)^2)
    log p(x) >= E_q log p(x | z) - beta KL(q | N(0, I))    at beta = 1, with gap KL(q | p(z | x))          (1)
    KL(N(m, s^2) | N(0, I)) = (|m|^2 + sum s^2 - sum log s^2 - latent) / 2                                 (2)
    log p(x) >= E log (1/k) sum_j p(x, z_j) / q(z_j | x),    z_j ~ q                                       (3)

(3) is (1) for k = 1 and grows with k to log p(x). Samples of q are z = m + s e with e ~ N(0, I), so gradients pass
through them.

Hypotheses: p(x | z) > 0 wherever the data are.
References: [kingma2014auto], [rezende2014stochastic]; [higgins2017beta] for beta; [burda2016importance] for (3).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log, pi

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.generative.model import AbstractGenerative, standard_normal
from gnomon.generative.vectors import as_examples, check_vectors, finite_points

__all__ = ["VAE", "AbstractObservation", "BernoulliObservation", "GaussianObservation", "gaussian_kl"]


class AbstractObservation(ABC):
    """Interface of distributions of an example given the output of a VAE's decoder."""

    continuous: bool

    @abstractmethod
    def log_prob(self, x: Tensor, decoded: Tensor) -> Tensor:
        """Returns log p(x | z) of each entry of the examples x, given the decoder's output for z."""

    @abstractmethod
    def mean(self, decoded: Tensor) -> Tensor:
        """Returns the mean of the examples' distribution, given the decoder's output."""

    @abstractmethod
    def draw(self, decoded: Tensor, generator: torch.Generator) -> Tensor:
        """Draws an example from its distribution, given the decoder's output."""

    @abstractmethod
    def check(self, x: Tensor) -> None:
        """Raises an error for examples that this distribution cannot generate."""


@dataclass(frozen=True, slots=True)
class GaussianObservation(AbstractObservation):
    """Distribution of examples given a decoder: each entry is the decoder's output plus Gaussian noise.

    >>> round(float(GaussianObservation(1.0).log_prob(torch.zeros(1), torch.zeros(1))), 4)  # -log(2 pi) / 2
    -0.9189
    """

    std: float = 1.0
    continuous = True

    def log_prob(self, x: Tensor, decoded: Tensor) -> Tensor:  # noqa: D102
        return -((x - decoded) / self.std).square() / 2 - log(2 * pi * self.std**2) / 2

    def mean(self, decoded: Tensor) -> Tensor:  # noqa: D102
        return decoded

    def check(self, x: Tensor) -> None:  # noqa: D102
        return  # Nothing is checked, because a Gaussian can generate every number.

    def draw(self, decoded: Tensor, generator: torch.Generator) -> Tensor:  # noqa: D102
        noise = torch.randn(decoded.shape, generator=generator, dtype=torch.float64)
        return decoded + self.std * noise.to(decoded)


@dataclass(frozen=True, slots=True)
class BernoulliObservation(AbstractObservation):
    """Distribution of examples given a decoder: each entry is 0 or 1, and the decoder returns its logit.

    >>> round(float(BernoulliObservation().log_prob(torch.ones(1), torch.zeros(1))), 4)  # log 1/2
    -0.6931
    """

    continuous = False

    def log_prob(self, x: Tensor, decoded: Tensor) -> Tensor:  # noqa: D102
        return -binary_cross_entropy_with_logits(decoded, x, reduction="none")

    def mean(self, decoded: Tensor) -> Tensor:  # noqa: D102
        return decoded.sigmoid()

    def draw(self, decoded: Tensor, generator: torch.Generator) -> Tensor:  # noqa: D102
        uniform = torch.rand(decoded.shape, generator=generator, dtype=torch.float64)
        return (uniform.to(decoded) < decoded.sigmoid()).to(decoded)

    def check(self, x: Tensor) -> None:  # noqa: D102
        if not bool(((x >= 0) & (x <= 1)).all()):
            found = f"x goes from {float(x.min()):.3g} to {float(x.max()):.3g}"
            raise InputError(
                found, accepted="numbers from 0 to 1", fix="Scale x, or observe with GaussianObservation(std)"
            )


@add_call_to_errors
def gaussian_kl(mean: Float[Tensor, "n m"], log_variance: Float[Tensor, "n m"]) -> Float[Tensor, "n m"]:
    """Returns the KL divergence of each coordinate of a diagonal Gaussian from the standard normal, in nats.

        KL(N(m, s^2) | N(0, 1)) = (m^2 + s^2 - log s^2 - 1) / 2                                            (2)

    Hypotheses: none. Reference: [kingma2014auto], Appendix B.
    Cost: elementwise.

    >>> gaussian_kl(torch.tensor([[2.0]]), torch.zeros(1, 1)).item()                                  # 2^2 / 2
    2.0
    """
    mean, log_variance = finite_points(mean, "mean"), finite_points(log_variance, "log_variance")
    check_vectors(log_variance, mean, what="the encoder")
    return divergence(mean, log_variance)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Returns the KL divergence of each Gaussian coordinate from the standard normal, without checking the inputs."""
    return (mean.square() + log_variance.exp() - log_variance - 1) / 2  # (2)


class VAE(AbstractGenerative):
    """A VAE from any decoder, and any encoder that returns means and log variances of the latent coordinates.

    See equations (1) to (3) of the module docstring.
    ``log_prob`` is the bound (3) with ``importance`` draws of a fixed seed; ``losses`` is minus (1) with one draw.

    >>> vae = VAE(nn.Linear(3, 2), nn.Linear(1, 3), latent=1, shape=(3,), observation=GaussianObservation(0.5))
    >>> x = torch.randn(200, 3)
    >>> bool(vae.bound(x, 64).mean() > vae.bound(x, 1).mean())                              # more draws, tighter
    True
    """

    likelihood = "lower bound"

    @add_call_to_errors
    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        latent: int,
        shape: tuple[int, ...],
        observation: AbstractObservation | None = None,
        beta: float = 1.0,
        importance: int = 32,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.shape = encoder, decoder, tuple(shape)
        self.latent = check_integer("latent", latent)
        self.importance = check_integer("importance", importance)
        self.observation = GaussianObservation() if observation is None else observation
        self.beta = check_number("beta", beta, above=-1e-300)
        self.continuous = self.observation.continuous

    @add_call_to_errors
    def posterior(self, x: Tensor) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m"]]:
        """Returns means and log variances of the approximate posterior q(z | x) over latent coordinates z."""
        both = self.encoder(x)
        if both.dim() != 2 or both.shape[1] != 2 * self.latent:
            found = f"the encoder returned {tuple(both.shape)} for {len(x)} examples and {self.latent} latent numbers"
            fix = f"Let it return ({len(x)}, {2 * self.latent}): means and log variances"
            raise InputError(found, accepted="a Gaussian for each example", fix=fix)
        mean, log_variance = both.chunk(2, 1)
        return mean, log_variance

    def decode(self, z: Float[Tensor, "n m"]) -> Tensor:
        """Returns the mean example for given latent coordinates."""
        return self.observation.mean(self.decode_to_shape(z))

    @add_call_to_errors
    def decode_to_shape(self, z: Float[Tensor, "n m"]) -> Tensor:
        """Returns the output of the decoder in the shape of examples."""
        return as_examples(self.decoder(z), len(z), self.shape, what="the decoder")

    @add_call_to_errors
    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        self.observation.check(x)
        mean, log_variance = self.posterior(x)
        z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        fit = self.observation.log_prob(x, self.decode_to_shape(z)).flatten(1).sum(1)
        return self.beta * divergence(mean, log_variance).sum(1) - fit  # (1)

    @add_call_to_errors
    def elbo(self, x: Tensor, draws: int = 1, *, seed: int = 0) -> Float[Tensor, " n"]:
        """Returns the evidence lower bound (ELBO) of each example, with the KL divergence in closed form.

        See equations (1) and (2) of the module docstring.
        """
        self.observation.check(x)
        mean, log_variance = self.posterior(x)
        generator, total = self.generator(seed), torch.zeros(len(x)).to(mean)
        for _ in range(check_integer("draws", draws)):
            z = mean + (log_variance / 2).exp() * self.noise(len(x), (self.latent,), generator)
            total = total + self.observation.log_prob(x, self.decode_to_shape(z)).flatten(1).sum(1)
        return total / draws - divergence(mean, log_variance).sum(1)  # (1)

    @add_call_to_errors
    def bound(self, x: Tensor, draws: int, *, seed: int = 0) -> Float[Tensor, " n"]:
        """Returns the importance-weighted lower bound on log p(x) for each example, with ``draws`` draws of z.

        See equation (3) of the module docstring.
        """
        self.observation.check(x)
        mean, log_variance = self.posterior(x)
        generator, weights = self.generator(seed), []
        for _ in range(check_integer("draws", draws)):
            e = self.noise(len(x), (self.latent,), generator)
            z = mean + (log_variance / 2).exp() * e
            fit = self.observation.log_prob(x, self.decode_to_shape(z)).flatten(1).sum(1)
            weights.append(fit + standard_normal(z) - standard_normal(e) + log_variance.sum(1) / 2)
        return torch.stack(weights).logsumexp(0) - log(draws)  # (3)

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns a lower bound on log p(x) of each example (importance-weighted ELBO).

        See equation (3) of the module docstring.
        """
        return self.bound(self.points(x), self.importance)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:
        """Draws new examples: latent coordinates z from N(0, I), then examples x from p(x | z)."""
        with self.at_rest():
            generator = self.generator(seed)
            return self.observation.draw(self.decode_to_shape(self.noise(n, (self.latent,), generator)), generator)
