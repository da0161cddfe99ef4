"""A Gaussian distribution over the weights of a module, which itself stays unchanged.

    w = m + s e,  e ~ N(0, I),    KL(Q | P) = sum_i [ln(p_i / s_i) + (s_i^2 + (m_i - a_i)^2) / (2 p_i^2) - 1/2]      (1)

for Q = N(m, diag s^2) and P = N(a, diag p^2). Only weights and biases of Linear and convolution layers are random;
everything else (embeddings, normalizations, running means) is fixed.

Hypotheses: none on the module.
Reference: [blundell2015weight] for weights drawn by (1), [dziugaite2017computing].

>>> import torch
>>> law = GaussianWeights.around(nn.Linear(3, 2), deviation=0.1)
>>> float(law.kl()), law.draw(seed=0).weight.shape
(0.0, torch.Size([2, 3]))
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.func import functional_call

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.run import call_with_inputs

__all__ = ["GaussianWeights", "gaussian_kl"]


@add_call_to_errors
def gaussian_kl(mean: Tensor, std: Tensor, prior_mean: Tensor, prior_std: Tensor) -> Tensor:
    """Returns the KL divergence between Gaussians with independent coordinates, in nats.

    Hypotheses: positive deviations.
    Reference: [dziugaite2017computing].
    Cost: one pass over the coordinates.

    >>> one = torch.ones(1)
    >>> float(gaussian_kl(one, one, 0 * one, one))                            # half the squared distance
    0.5
    """
    moved = (std.square() + (mean - prior_mean).square()) / (2 * prior_std.square())
    return ((prior_std / std).log() + moved - 0.5).sum()  # (1)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianWeights:
    """A Gaussian posterior and a Gaussian prior over the parameters of a module, with independent coordinates.

    See equation (1) of the module docstring.

    >>> law = GaussianWeights.around(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), deviation=0.5)
    >>> list(law.means), round(law.prior_stds["0.weight"], 4)                 # half of 1 / sqrt(2)
    (['0.weight', '0.bias'], 0.3536)
    """

    module: nn.Module
    means: dict[str, Tensor]
    stds: dict[str, Tensor]
    prior_means: dict[str, Tensor]
    prior_stds: dict[str, float]

    @classmethod
    @add_call_to_errors("certify(module, data)")
    def around(cls, module: nn.Module, *, deviation: float) -> "GaussianWeights":
        """Returns a distribution over weights with equal prior and posterior: a Gaussian around the module's
        weights.
        """
        prefix_of = [(name, part) for name, part in module.named_modules() if isinstance(part, AFFINE_LAYERS)]
        means, stds, scales = {}, {}, {}
        for prefix, part in prefix_of:
            own = {f"{prefix}.{name}".lstrip("."): p for name, p in part.named_parameters(recurse=False)}
            fan = max((p[0].numel() for p in own.values() if p.dim() > 1), default=1)
            for name, p in own.items():
                means[name] = p.detach().clone()
                stds[name] = torch.full_like(p, deviation / fan**0.5).detach()
                scales[name] = float(stds[name].flatten()[0])  # read back, because the weights' dtype rounds it
        if not means:
            fix = "Pass a module with nn.Linear or nn.Conv layers whose weights are plain parameters"
            raise InputError("no layer is Linear or Conv", accepted="a module with weights to randomize", fix=fix)
        return cls(copy_module(module), means, stds, means, scales)

    @property
    def parameters(self) -> int:
        """Returns the number of random weights."""
        return sum(m.numel() for m in self.means.values())

    def kl(self) -> Tensor:
        """Returns the KL divergence of the posterior from the prior, in nats.

        See equation (1) of the module docstring.
        """
        parts = []
        for name, mean in self.means.items():
            wide = torch.tensor(self.prior_stds[name], dtype=torch.float64)
            parts.append(gaussian_kl(mean.double(), self.stds[name].double(), self.prior_means[name].double(), wide))
        return torch.stack(parts).sum()

    def moved(self, means: dict[str, Tensor], stds: dict[str, Tensor]) -> "GaussianWeights":
        """Returns a copy with the same prior and another posterior over the weights."""
        return replace(self, means=means, stds=stds)

    def weights(self, generator: torch.Generator) -> dict[str, Tensor]:
        """Draws weights from the posterior by reparametrization, differentiable in means and standard deviations."""
        return {
            name: mean + self.stds[name] * torch.randn(mean.shape, generator=generator, dtype=mean.dtype)  # (1)
            for name, mean in self.means.items()
        }

    @add_call_to_errors("certify(module, data)")
    def outputs(self, x: Inputs, weights: dict[str, Tensor]) -> Tensor:
        """Returns the outputs (n, k) of the module with the given weights."""
        made = call_with_inputs(lambda *a, **k: functional_call(self.module, weights, a, k), x)
        return output_rows(made, count_examples(x))

    def log_ratio(self, weights: dict[str, Tensor]) -> float:
        """Returns log(posterior density / prior density) at given weights; its mean over the posterior is the KL
        divergence.
        """
        total = 0.0
        for name, w in weights.items():
            q = ((w - self.means[name]) / self.stds[name]).double()
            p = ((w - self.prior_means[name]) / self.prior_stds[name]).double()
            total += float(
                (p.square() - q.square()).sum() / 2 - (self.stds[name].double() / self.prior_stds[name]).log().sum()
            )
        return total

    @add_call_to_errors("certify(module, data)")
    def draw(self, *, seed: int = 0) -> nn.Module:
        """Returns a copy of the network with weights drawn from the posterior."""
        drawn = copy_module(self.module).eval()
        weights = self.weights(torch.Generator().manual_seed(seed))
        with torch.no_grad():
            for name, p in drawn.named_parameters():
                if name in weights:
                    p.copy_(weights[name])
        return drawn

    def votes(self, x: Inputs, *, draws: int = 50, seed: int = 0, size: int = 512) -> Tensor:
        """Returns for each example the fraction of random networks that choose each class, (n, k)."""
        generator, total = torch.Generator().manual_seed(seed), None
        n = count_examples(x)
        with torch.no_grad():
            for _ in range(draws):
                weights = self.weights(generator)
                parts = [self.outputs(take_examples(x, slice(i, i + size)), weights) for i in range(0, n, size)]
                made = torch.cat(parts)
                chosen = torch.nn.functional.one_hot(made.argmax(1), made.shape[1]).double()
                total = chosen if total is None else total + chosen
        return total / draws if total is not None else torch.zeros(n, 0)
