"""Measures gradients through random samples: for a GAN's generator, and for expectations.

    d/da log(1 - sigmoid(a)) = -D,    d/da -log sigmoid(a) = -(1 - D)                                      (1)

in the logit a of a fake: if the discriminator is certain (D near 0), the first vanishes and the second does not. For an
expectation over z = m + s e, e ~ N(0, 1), the gradient in m is the mean of either of

    f'(m + s e)    (reparametrized),        f(m + s e) e / s    (score function)                           (2)

both are unbiased; the second has far more variance.

Hypotheses: f is differentiable for the first of (2).
References: [goodfellow2014generative] for (1), [kingma2014auto], [williams1992simple] for (2).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed, check_type
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.gan import GAN, AbstractGanLosses, MinimaxLosses, NonSaturatingLosses
from gnomon.generative.vectors import check_vectors

__all__ = ["GeneratorGradients", "GradientEstimators", "generator_gradient_health", "gradient_estimators"]

MIN_GRADIENT_SHARE = 0.01
"""Share of its full size below which the generator's gradient counts as vanished."""


@dataclass(frozen=True, slots=True)
class GeneratorGradients(Result):
    """Result: the size of the gradient that a GAN's generator receives from the discriminator, for two usual losses.

    See equation (1) of the module docstring.
    ``in_use`` is the value for the model's own loss.

    >>> GeneratorGradients(0.001, 0.999, 0.001, 0.999).findings
    ()
    """

    minimax: float
    non_saturating: float
    mean_probability: float
    in_use: float

    @property
    def verdict(self) -> str:
        """States whether the generator of a GAN still receives a gradient from the discriminator."""
        sizes = f"{self.minimax:.2g} with the minimax loss, {self.non_saturating:.2g} with the non-saturating one"
        return (
            f"The discriminator gives generated samples a probability of {self.mean_probability:.2g} of being "
            f"real; the generator's gradient is {sizes}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the generator's gradient has vanished."""
        if self.in_use >= MIN_GRADIENT_SHARE:
            return ()
        return (Finding(kinds.GENERATOR_SILENCED, "", {"gradient": self.in_use}, (Value("gradient", self.in_use),)),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the size of the generator's gradient under the minimax and the non-saturating loss."""
        bars = Bars("gradient", ("minimax", "non-saturating"), (self.minimax, self.non_saturating))
        return (Plot("The generator's gradient", (bars,), Axis("mean size"), caption=self.verdict),)


@add_call_to_errors
def generator_gradient_health(gan: GAN, *, draws: int = 256, seed: int = 0) -> GeneratorGradients:
    """Measures whether a generator still receives a gradient from its discriminator, under both usual losses.

        |d log(1 - D) / d logit| = D,    |d log D / d logit| = 1 - D                                       (1)

    Hypotheses: none. Reference: [goodfellow2014generative].
    Cost: one pass of fakes through the discriminator.

    >>> from torch import nn
    >>> gan = GAN(nn.Linear(1, 1), nn.Linear(1, 1), latent=1, shape=(1,), game=MinimaxLosses())
    >>> gan.judge.weight.data.zero_(), gan.judge.bias.data.fill_(-9.0)
    (tensor([[0.]]), tensor([-9.]))
    >>> generator_gradient_health(gan).findings[0].kind
    'generator-silenced'
    """
    check_type("gan", gan, GAN, fix="Pass a generative.GAN")
    fakes = gan.sample(check_integer("draws", draws), seed=seed)
    with gan.at_rest():
        logits = gan.logits(fakes).detach()

    def pull(game: AbstractGanLosses) -> float:
        a = logits.clone().requires_grad_()
        (slope,) = torch.autograd.grad(game.generator(a).sum(), a)
        return float(slope.abs().mean())  # (1)

    return GeneratorGradients(
        pull(MinimaxLosses()), pull(NonSaturatingLosses()), float(logits.sigmoid().mean()), pull(gan.game)
    )


@dataclass(frozen=True, slots=True)
class GradientEstimators(Result):
    """Result: means and variances of two gradient estimators for expectations: reparametrized and score-function.

    See equation (2) of the module docstring.

    >>> GradientEstimators(2.0, 2.0, 4.0, 60.0, 1000).ratio
    15.0
    """

    reparametrized: float
    score_function: float
    reparametrized_variance: float
    score_function_variance: float
    draws: int

    @property
    def ratio(self) -> float:
        """Returns how many times more draws the score-function estimator needs for the same error."""
        least = torch.finfo(torch.float64).tiny
        return self.score_function_variance / max(self.reparametrized_variance, least)

    @property
    def verdict(self) -> str:
        """Compares the variances of the reparametrized and the score-function gradient estimators in one sentence."""
        return (
            f"The score-function estimator (REINFORCE) needs {self.ratio:.3g} times as many draws as the "
            "reparametrized gradient for the same variance."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the variances of the reparametrized and the score-function gradient estimators."""
        bars = Bars("variance", ("reparametrized", "score function"),
                    (self.reparametrized_variance, self.score_function_variance))  # fmt: skip
        return (Plot("Variance of one draw", (bars,), Axis("variance"), caption=self.verdict),)


@add_call_to_errors
def gradient_estimators(
    function: Callable[[Tensor], Tensor], mean: float, std: float, *, draws: int = 10_000, seed: int = 0
) -> GradientEstimators:
    """Estimates the derivative of an expectation with respect to the mean of a Gaussian by two methods, with variances.

        d/dm E f(m + s e) = E f'(m + s e) = E f(m + s e) e / s                                             (1)

    Args:
        function: f, elementwise.
        mean: m.
        std: s.
        draws: number of draws of e.
        seed: random seed of the draws.

    Hypotheses: f is differentiable. References: [kingma2014auto], [williams1992simple].
    Cost: f and its derivative at all draws.

    >>> result = gradient_estimators(lambda z: z**2, 1.0, 0.5)                                          # 2 m = 2
    >>> abs(result.reparametrized - 2) < 0.05, result.ratio > 5
    (True, True)
    """
    m, s = check_number("mean", mean), check_number("std", std, above=0)
    generator = torch.Generator().manual_seed(check_seed(seed))
    e = torch.randn(check_integer("draws", draws, least=2), generator=generator, dtype=torch.float64)
    z = (m + s * e).requires_grad_()
    values = function(z)
    check_vectors(values, z, what="the function")
    (slopes,) = torch.autograd.grad(values.sum(), z)
    other = values.detach() * e / s  # (1)
    return GradientEstimators(
        float(slopes.mean()), float(other.mean()), float(slopes.var()), float(other.var()), len(e)
    )
