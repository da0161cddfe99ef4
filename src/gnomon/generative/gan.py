"""Generative adversarial networks (GANs): a generator and a discriminator with opposite goals.

The discriminator returns logits c(x), D = sigmoid(c) being its probability that x is real. With fakes y = G(z):

    minimax          discriminator: -E log D(x) - E log(1 - D(y)),    generator: E log(1 - D(y))           (1)
    non-saturating   the same discriminator,                          generator: -E log D(y)               (2)
    Wasserstein      E c(y) - E c(x) + penalty E (|grad c(u)| - 1)^2,    generator: -E c(y)                (3)

with u uniform between a real and a fake example. The value of the game (1) is minus the discriminator's loss, at its
best 2 JS(p, q) - 2 log 2 for D = p / (p + q).

Hypotheses: none. References: [goodfellow2014generative] for (1) and (2), [arjovsky2017wasserstein] and
[gulrajani2017improved] for (3).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.generative.model import AbstractGenerative
from gnomon.generative.vectors import as_examples

__all__ = ["GAN", "AbstractGanLosses", "MinimaxLosses", "NonSaturatingLosses", "WassersteinLosses"]


class AbstractGanLosses(ABC):
    """Interface of the pair of GAN losses: one loss for the generator, one for the discriminator."""

    @abstractmethod
    def generator(self, fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the generator's loss for each generated example, from the discriminator's logits."""

    def discriminator(self, real: Float[Tensor, " n"], fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the discriminator's loss for each pair of a real and a generated example, from its logits."""
        return softplus(-real) + softplus(fake)  # (1)

    def penalty(self, discriminator: Callable[[Tensor], Tensor], real: Tensor, fake: Tensor) -> Tensor:
        """Returns the penalty that is added to the discriminator's loss; zero for losses without a penalty."""
        return torch.zeros((), dtype=real.dtype, device=real.device)


@dataclass(frozen=True, slots=True)
class MinimaxLosses(AbstractGanLosses):
    """Minimax GAN losses; the generator's gradient vanishes if the discriminator is certain.

    See equation (1) of the module docstring.

    >>> round(MinimaxLosses().discriminator(torch.zeros(1), torch.zeros(1)).item(), 4)  # 2 log 2
    1.3863
    """

    def generator(self, fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: D102
        return -softplus(fake)  # (1)


@dataclass(frozen=True, slots=True)
class NonSaturatingLosses(AbstractGanLosses):
    """Non-saturating GAN losses; the generator's gradient is largest if the discriminator is certain.

    See equation (2) of the module docstring.

    >>> round(NonSaturatingLosses().generator(torch.zeros(1)).item(), 4)  # log 2
    0.6931
    """

    def generator(self, fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: D102
        return softplus(-fake)  # (2)


@dataclass(frozen=True, slots=True)
class WassersteinLosses(AbstractGanLosses):
    """Wasserstein GAN losses with a gradient penalty that keeps the discriminator's slopes near 1.

    See equation (3) of the module docstring.

    >>> WassersteinLosses().discriminator(torch.ones(1), torch.zeros(1)).item()
    -1.0
    """

    weight: float = 10.0

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("weight", self.weight, above=-1e-300)

    def generator(self, fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: D102
        return -fake  # (3)

    def discriminator(self, real: Float[Tensor, " n"], fake: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: D102
        return fake - real  # (3)

    def penalty(self, discriminator: Callable[[Tensor], Tensor], real: Tensor, fake: Tensor) -> Tensor:  # noqa: D102
        place = torch.rand(len(real), *[1] * (real.dim() - 1), dtype=real.dtype, device=real.device)
        between = (place * real + (1 - place) * fake).detach().requires_grad_()
        (slope,) = torch.autograd.grad(discriminator(between).sum(), between, create_graph=True)
        return self.weight * (slope.flatten(1).norm(dim=1) - 1).square().mean()  # (3)


class GAN(AbstractGenerative):
    """A GAN from any generator that takes noise (n, latent) and any discriminator that returns logits (n,) or (n, 1).

    Train it with `train_gan`. ``losses`` are the generator's, ``discriminator_loss`` is the discriminator's. A GAN has
    no density.

    >>> gan = GAN(nn.Linear(1, 2), nn.Linear(2, 1), latent=1, shape=(2,))
    >>> gan.sample(3).shape
    torch.Size([3, 2])
    """

    likelihood = "none"
    continuous = False

    @add_call_to_errors
    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        *,
        latent: int,
        shape: tuple[int, ...],
        game: AbstractGanLosses | None = None,
    ) -> None:
        super().__init__()
        self.maker, self.judge, self.shape = generator, discriminator, tuple(shape)
        self.latent = check_integer("latent", latent)
        self.game = NonSaturatingLosses() if game is None else game

    @add_call_to_errors
    def generate(self, z: Tensor) -> Tensor:
        """Returns generated examples for given noise."""
        return as_examples(self.maker(z), len(z), self.shape, what="the generator")

    @add_call_to_errors
    def logits(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the logits of the discriminator for examples."""
        return as_examples(self.judge(x), len(x), (), what="the discriminator")

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the generator's loss for newly generated examples, as many as there are examples in x."""
        return self.game.generator(self.logits(self.generate(self._noise(x))))

    def discriminator_loss(self, x: Tensor) -> Float[Tensor, ""]:
        """Returns the discriminator's mean loss for real examples and an equal number of newly generated ones."""
        fake = self.generate(self._noise(x)).detach()
        loss = self.game.discriminator(self.logits(x), self.logits(fake)).mean()
        return loss + self.game.penalty(self.logits, x, fake)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:  # noqa: D102
        with self.at_rest():
            return self.generate(self.noise(n, (self.latent,), self.generator(seed)))

    def _noise(self, x: Tensor) -> Tensor:
        return torch.randn(len(x), self.latent, dtype=x.dtype, device=x.device)
