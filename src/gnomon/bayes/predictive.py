"""Averages predictions over posterior draws, and splits their uncertainty by source (parameters or noise).

    f(x) = mean_i f(w_i; x),    var y = var_i f(w_i; x)  +  s^2                                            (1)
                                        epistemic          aleatoric

For classes: probabilities p = mean_i p_i (a single logit gives two columns), and with entropies H

    H(p) = (H(p) - mean_i H(p_i))  +  mean_i H(p_i)                                                        (2)
           epistemic                  aleatoric

Draws from the posterior have equal weights; weighting them by their density, as sometimes printed, counts it twice.
Draws of a Laplace approximation belong to the network linearized at the trained parameters w*, so there

    f(w; x) = f(w*; x) + J(w*; x) (w - w*)                                                                 (3)

Hypotheses: draws of the posterior. Reference: [depeweg2018decomposition]; [immer2021improving] for (3).
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.linearized import linearized_outputs
from gnomon.bayes.posterior import ModulePosterior
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_type
from gnomon.core.inputs.source import all_inputs
from gnomon.core.losses import CrossEntropy
from gnomon.core.results import Axis, Plot, Result, Scatter

__all__ = ["PosteriorPrediction", "posterior_predictive"]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorPrediction(Result):
    """Result: mean predictions, and each example's uncertainty from the parameters (epistemic) and from noise
    (aleatoric).

    >>> print(PosteriorPrediction(torch.zeros(2, 1), torch.tensor([1.0, 5.0]), torch.tensor([1.0, 1.0]), False))
    75% of the uncertainty comes from not knowing the parameters: more data would reduce it.
    """

    mean: Float[Tensor, "n k"] = field(repr=False)
    epistemic: Float[Tensor, " n"] = field(repr=False)
    aleatoric: Float[Tensor, " n"] = field(repr=False)
    classes: bool

    @property
    def verdict(self) -> str:
        """States which share of the uncertainty comes from the parameters (epistemic), which more data would reduce."""
        share = float(self.epistemic.mean() / (self.epistemic + self.aleatoric).mean().clamp(min=1e-300))
        fix = "more data would reduce it" if share > 0.5 else "more data would hardly reduce it"
        return f"{share:.0%} of the uncertainty comes from not knowing the parameters: {fix}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the uncertainty from the parameters (epistemic) over the uncertainty from noise (aleatoric) of each
        example.
        """
        unit = "nats" if self.classes else "variance"
        points = Scatter("examples", self.aleatoric, self.epistemic)
        axes = Axis(f"noise of the targets ({unit})"), Axis(f"not knowing the parameters ({unit})")
        return (Plot("Uncertainty of each prediction", (points,), *axes, caption=self.verdict),)


@add_call_to_errors
def posterior_predictive(
    posterior: ModulePosterior, draws: PosteriorDraws, data: Any, *, most: int = 200
) -> PosteriorPrediction:
    """Returns the mean prediction over posterior draws of a module's parameters, with uncertainty split by source.

        f(x) = mean_i f(w_i; x)                                                                            (1)

    For draws of `gnomon.bayes.laplace`, f(w; x) is linearized at the trained parameters.

    Args:
        posterior: the posterior that was sampled.
        draws: the result of `gnomon.bayes.sample_posterior` or `gnomon.bayes.Laplace.sample`.
        data: inputs as the module takes them.
        most: maximum number of draws used, evenly spaced over the chains.

    Hypotheses: draws of the posterior. Reference: [depeweg2018decomposition]; [immer2021improving] for Laplace.
    Cost: one forward pass for each draw used; one backward pass for draws of a Laplace approximation.

    >>> from torch import nn
    >>> from gnomon.bayes import laplace, module_posterior
    >>> net, x = nn.Linear(1, 1, bias=False).double(), torch.ones(20, 1).double()
    >>> posterior = module_posterior(net, (x, x[:, 0]), noise=0.5)
    >>> draws = laplace(net, (x, x[:, 0]), noise=0.5, prior_precision=1.0).sample(500)
    >>> result = posterior_predictive(posterior, draws, x[:1], most=500)
    >>> exact = 1 / (20 / 0.25 + 1)                                           # the variance of the Gaussian posterior
    >>> bool(abs(float(result.epistemic) / exact - 1) < 0.3), float(result.aleatoric)
    (True, 0.25)
    """
    check_type("posterior", posterior, ModulePosterior, fix="Pass what module_posterior(module, data) returns")
    check_type("draws", draws, PosteriorDraws, fix="Pass what sample(posterior, start) returns")
    inputs = all_inputs(data, posterior.module)
    vectors, wanted = draws.values.flatten(0, 1), len(posterior.start)
    if vectors.shape[1] != wanted or len(vectors) < 2:
        found = f"there are {len(vectors)} draws of {vectors.shape[1]} numbers; the module has {wanted} parameters"
        fix = "Pass what sample(posterior, posterior.start) returns"
        raise InputError(found, accepted="at least two draws of all parameters", fix=fix)
    vectors = vectors[:: -(-len(vectors) // check_integer("most", most))]
    if draws.center is not None:
        outputs = linearized_outputs(posterior, draws.center, vectors, inputs)  # (3)
    else:
        with torch.no_grad():
            outputs = torch.stack([posterior.outputs(w, inputs) for w in vectors]).double()
    classes = posterior.binary or isinstance(posterior.objective.loss, CrossEntropy)
    return prediction_from_outputs(outputs, posterior.noise, classes)


def prediction_from_outputs(outputs: Float[Tensor, "m n k"], noise: float, classes: bool) -> PosteriorPrediction:
    """Computes the mean prediction and its uncertainty, split by source, from the outputs of several networks."""
    if not classes:
        epistemic = outputs.var(0).sum(1)
        aleatoric = torch.full_like(epistemic, noise**2 * outputs.shape[2])
        return PosteriorPrediction(outputs.mean(0), epistemic, aleatoric, False)  # (1)
    p = outputs.softmax(2) if outputs.shape[2] > 1 else torch.cat([1 - outputs.sigmoid(), outputs.sigmoid()], 2)
    inside = torch.special.entr(p).sum(2).mean(0)
    return PosteriorPrediction(p.mean(0), torch.special.entr(p.mean(0)).sum(1) - inside, inside, True)  # (2)
