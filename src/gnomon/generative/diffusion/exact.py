"""The optimal network of a diffusion model for a mixture of Gaussians, in closed form."""

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.data import GaussianMixture
from gnomon.generative.diffusion.schedule import NoiseSchedule

__all__ = ["ExactDenoiser"]


class ExactDenoiser(nn.Module):
    """The optimal output of a diffusion network for a mixture of Gaussians, given a noised example.

        E[x_0 | x] = (x + (1 - a) grad log q(x)) / sqrt(a),    E[e | x] = -sqrt(1 - a) grad log q(x)       (1)

    with the score of the noised mixture in closed form. It has the smallest loss of any network with this target.

    Hypotheses: the examples are drawn from the mixture. Reference: [efron2011tweedie].

    >>> from gnomon.data import gaussian_mixture
    >>> from gnomon.generative.diffusion.schedule import cosine_schedule
    >>> network = ExactDenoiser(gaussian_mixture([[0.0, 0.0]]), cosine_schedule(10), "data")  # N(0, I) stays N(0, I)
    >>> a = cosine_schedule(10).kept[5]
    >>> torch.allclose(network(torch.ones(1, 2), torch.tensor([0.5])), a.sqrt().float() * torch.ones(1, 2))
    True
    """

    @add_call_to_errors
    def __init__(self, mixture: GaussianMixture, schedule: NoiseSchedule, target: str = "velocity") -> None:
        super().__init__()
        if target not in ("noise", "data", "velocity"):
            raise out_of_range_error("target", '"noise", "data" or "velocity"', target)
        self.mixture, self.schedule, self.target = mixture, schedule, target

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the optimal output (noise, clean example or velocity) for each noised example at its time."""
        times, which = t.unique(return_inverse=True)
        parts = [self._at(x if len(times) == 1 else x[which == i], float(time)) for i, time in enumerate(times)]
        if len(parts) == 1:
            return parts[0]
        result = torch.empty_like(x)
        for i, part in enumerate(parts):
            result[which == i] = part
        return result

    def score(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the score (gradient of the log density) of noised examples, all at the same time, which may be 0."""
        a = float(self.schedule.kept_at(float(t[0])))
        return self.mixture.noised(a**0.5, (1 - a) ** 0.5).score(x).to(x.dtype)

    def _at(self, x: Tensor, t: float) -> Tensor:
        a = float(self.schedule.kept_at(t))
        slope = (1 - a) * self.mixture.noised(a**0.5, (1 - a) ** 0.5).score(x)
        data, noise = (x.double() + slope) / a**0.5, -slope / (1 - a) ** 0.5  # (1)
        both = {"noise": noise, "data": data, "velocity": a**0.5 * noise - (1 - a) ** 0.5 * data}
        return both[self.target].to(x.dtype)
