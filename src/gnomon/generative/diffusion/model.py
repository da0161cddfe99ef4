"""Diffusion models: noise is added to examples in small steps, and a network learns to remove it.

The network sees x_k = sqrt(a) x_0 + sqrt(1 - a) e and the time k / T, and predicts one of

    noise      e,       data    x_0,       velocity    sqrt(a) e - sqrt(1 - a) x_0                         (1)

from which the other two follow. An error of the noise becomes an error of x_0 that is sqrt((1 - a) / a) times as large,
2000 times at the last of 100 cosine steps: unless the network is very good, samples diverge there. The velocity, which
is the default, has no such factor. The loss is the squared error of the prediction, at a random step:

    loss = E |target - network(x_k, k / T)|^2                                                              (2)

It is a bound on the log density, with p(x_{k-1} | x_k) = N(m(x_0 predicted, x_k), v_k I):

    log p(x_0) >= E log p(x_0 | x_1) - sum_{k=2}^T KL(q(x_{k-1} | x_k, x_0) | p(x_{k-1} | x_k))
                  - KL(q(x_T | x_0) | N(0, I))                                                             (3)

Samples go from step k to any earlier step j, with s^2 = eta^2 (1 - a_j) / (1 - a_k) (1 - a_k / a_j):

    x_j = sqrt(a_j) x_0 + sqrt(1 - a_j - s^2) e + s new noise                                              (4)

eta = 1 over all steps draws from the model of (3), eta = 0 is deterministic (DDIM). With a network of velocities
eta = 0 is closer to the data, because v_k ignores the uncertainty of x_0; a network of noise needs eta = 1, which
forgets its errors.

Hypotheses: the last step is close to N(0, I). References: [sohl2015deep], [ho2020denoising] for (2) and (3),
[salimans2022progressive] for velocities, [song2021denoising] for (4).
"""

from math import log, pi

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.generative.diffusion.schedule import NoiseSchedule, cosine_schedule
from gnomon.generative.model import AbstractGenerative
from gnomon.generative.vectors import check_vectors

__all__ = ["Diffusion"]

TARGETS = ("noise", "data", "velocity")


class Diffusion(AbstractGenerative):
    """A diffusion model from any network that maps noised examples x and times t in (0, 1] to a tensor shaped like x.

    ``log_prob`` is the bound (3), with one draw of the noise of each step from a fixed seed. ``variance`` is the
    variance of p(x_{k-1} | x_k): either of q(x_{k-1} | x_k, x_0) ("posterior") or of a forward step ("forward").

    >>> class Zero(nn.Module):
    ...     def forward(self, x, t):
    ...         return 0 * x
    >>> model = Diffusion(Zero(), cosine_schedule(10), shape=(2,))
    >>> model.sample(3).shape, model.log_prob(torch.zeros(4, 2)).shape
    (torch.Size([3, 2]), torch.Size([4]))
    """

    likelihood = "lower bound"

    @add_call_to_errors
    def __init__(
        self,
        network: nn.Module,
        schedule: NoiseSchedule | None = None,
        *,
        shape: tuple[int, ...],
        target: str = "velocity",
        variance: str = "posterior",
    ) -> None:
        super().__init__()
        for name, value, known in (("target", target, TARGETS), ("variance", variance, ("posterior", "forward"))):
            if value not in known:
                raise out_of_range_error(name, " or ".join(f'"{one}"' for one in known), value)
        self.network, self.shape, self.target = network, tuple(shape), target
        self.schedule = cosine_schedule(100) if schedule is None else schedule
        s = self.schedule
        small = torch.cat([s.posterior_variance[1:2] if len(s) > 1 else s.betas, s.posterior_variance[1:]])
        self.variances = small if variance == "posterior" else s.betas

    def noised(self, x0: Tensor, kept: Tensor, noise: Tensor) -> Tensor:
        """Returns noised examples; ``kept`` is the fraction of the variance that still comes from the clean example."""
        a = kept.to(x0).reshape(-1, *[1] * (x0.dim() - 1))
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    @add_call_to_errors("Diffusion(network)")
    def output(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the output of the network for noised examples at times (n,), or raises an error for a wrong shape."""
        given = self.network(x, t)
        check_vectors(given, x, what="the network")
        return given

    def predict_example_and_noise(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the clean example and the noise that the network predicts from noised examples at times (n,).

        See equation (1) of the module docstring.
        """
        a = self.schedule.kept_at(t.detach().cpu()).to(x).reshape(-1, *[1] * (x.dim() - 1))
        output, left, added = self.output(x, t), a.sqrt(), (1 - a).sqrt()
        if self.target == "noise":
            return (x - added * output) / left, output
        if self.target == "data":
            return output, (x - left * output) / added
        return left * x - added * output, added * x + left * output  # (1)

    def score(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the score of noised examples: the gradient of their log density with respect to the examples."""
        a = self.schedule.kept_at(t.detach().cpu()).to(x).reshape(-1, *[1] * (x.dim() - 1))
        return -self.predict_example_and_noise(x, t)[1] / (1 - a).sqrt()

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        k = torch.randint(1, len(self.schedule) + 1, (len(x),))
        a, noise = self.schedule.kept[k], torch.randn_like(x)
        xk = self.noised(x, a, noise)
        place = a.to(x).reshape(-1, *[1] * (x.dim() - 1))
        wanted = {"noise": noise, "data": x, "velocity": place.sqrt() * noise - (1 - place).sqrt() * x}[self.target]
        return (wanted - self.output(xk, (k / len(self.schedule)).to(x))).flatten(1).square().sum(1)  # (2)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0, steps: int | None = None, eta: float = 1.0) -> Tensor:
        """Returns new examples made from noise by ``steps`` denoising steps; ``eta`` scales the fresh noise per step (0
        for none).
        """
        total = len(self.schedule)
        count = total if steps is None else min(total, check_integer("steps", steps))
        if not 0 <= check_number("eta", eta) <= 1:
            raise out_of_range_error("eta", "a number from 0 to 1", eta)
        places = torch.linspace(total, 0, count + 1).round().long().tolist()
        generator = self.generator(seed)
        with self.at_rest():
            x = self.noise(n, self.shape, generator)
            for k, j in zip(places, places[1:], strict=False):
                a, b = float(self.schedule.kept[k]), float(self.schedule.kept[j])
                x0, e = self.predict_example_and_noise(x, torch.full((n,), k / total, dtype=x.dtype, device=x.device))
                variance = eta**2 * (1 - b) / (1 - a) * (1 - a / b)
                x = b**0.5 * x0 + max(1 - b - variance, 0.0) ** 0.5 * e  # (4)
                if variance:
                    x = x + variance**0.5 * self.noise(n, self.shape, generator)
        return x

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the evidence lower bound (ELBO) on the log density of each example under the diffusion model.

        See equation (3) of the module docstring.
        """
        return -self.terms(self.points(x)).sum(0)

    def terms(self, x: Tensor, *, seed: int = 0) -> Float[Tensor, "t1 n"]:
        """Returns the terms whose sum is the negative evidence lower bound (ELBO): one per diffusion step, then the
        prior term.
        """
        s, generator, parts = self.schedule, self.generator(seed), []
        d = x[0].numel()
        for k in range(1, len(s) + 1):
            a, v = s.kept[k].expand(len(x)), float(self.variances[k - 1])
            xk = self.noised(x, a, self.noise(len(x), self.shape, generator))
            x0, _ = self.predict_example_and_noise(
                xk, torch.full((len(x),), k / len(s), dtype=x.dtype, device=x.device)
            )
            apart = (s.posterior_mean(k, x, xk) - s.posterior_mean(k, x0, xk)).flatten(1).double().square().sum(1)
            b = float(s.posterior_variance[k - 1])
            constant = log(2 * pi * v) if k == 1 else b / v - 1 - log(b / v)
            parts.append(apart / (2 * v) + d / 2 * constant)  # (3)
        end = float(s.kept[-1])
        last = end * x.flatten(1).double().square().sum(1) / 2 + d / 2 * (-end - log(1 - end))
        return torch.stack([*parts, last]).to(x)
