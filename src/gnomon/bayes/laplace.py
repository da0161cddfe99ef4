"""Laplace approximation: a Gaussian distribution around trained parameters that approximates the posterior.

    p(w | S) ~ N(w*, (G + d I)^-1),    G = sum_i J_i^T L_i J_i / s^2,    d = 1 / prior_std^2               (1)

J_i are derivatives of outputs in the parameters, L_i the second derivative of the loss in the outputs (1 for the
squared loss, diag p - p p^T for classes, p (1 - p) for one logit of two classes). With the eigenvalues g of G, the
evidence of the model is

    log Z(d) = -n L(w*) / s^2 - d |w*|^2 / 2 - 1/2 sum_j log(1 + g_j / d) + constant                       (2)

which has one unknown, d, and is maximized exactly by a search in log d. If there are fewer outputs of all examples,
m, than parameters, G = A^T A with m rows has the eigenvalues of A A^T and no others but zeros: "low rank" keeps the
largest of them, and with rank m nothing is lost.

Hypotheses: w* is a minimum of the loss with weight decay; outputs nearly linear in w over the width of the Gaussian.
Reference: [mackay1992practical]; [daxberger2021laplace].
"""

from dataclasses import dataclass, field
from math import exp, log, pi
from typing import Any

import torch
from jaxtyping import Float
from scipy.optimize import minimize_scalar
from torch import Tensor, nn

from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.gauss_newton import gauss_newton_diagonal, gauss_newton_rows
from gnomon.bayes.posterior import ModulePosterior, module_posterior
from gnomon.core.errors import BudgetError, InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.losses import CrossEntropy, Squared
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, free_bytes
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training.evaluate import Loss

__all__ = ["Laplace", "laplace"]

MAX_PARAMETERS_FULL = 20_000
"""Maximum number of parameters whose full matrix is stored: 3.2 GB."""
BATCH_SIZE = 1024
"""Number of examples in one pass."""


@dataclass(frozen=True, slots=True, eq=False)
class Laplace(Result):
    """Result: the Gaussian around trained parameters that approximates the posterior, and the log evidence.

    See equation (1) of the module docstring.
    With low rank, only the largest eigenvalues are stored, and the others count as zero.

    >>> half = Laplace(torch.zeros(2), torch.tensor([1.0, 0.0]), None, 1.0, 0.0, 10, 0.0)
    >>> half.effective_parameters, half.variance().tolist()
    (0.5, [0.5, 1.0])
    """

    center: Float[Tensor, " p"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    eigenvalues: Float[Tensor, " r"] = field(repr=False)
    vectors: Float[Tensor, "p r"] | None = field(repr=False, metadata=HIDDEN_IN_JSON)
    prior_precision: float
    log_evidence: float
    examples: int
    fit: float = field(repr=False)

    @property
    def effective_parameters(self) -> float:
        """Returns the effective number of parameters: those that the data determine rather than the prior."""
        return float((self.eigenvalues / (self.eigenvalues + self.prior_precision)).sum())

    @property
    def verdict(self) -> str:
        """States how many parameters the data determine, and the log evidence."""
        return (
            f"The data determine {self.effective_parameters:.3g} of {len(self.center)} parameters; the log evidence is "
            f"{self.log_evidence:.4g} at the prior precision {self.prior_precision:.3g}."
        )

    @add_call_to_errors
    def evidence(self, prior_precision: float) -> float:
        """Returns the log evidence (log marginal likelihood) for another prior precision.

        See equation (2) of the module docstring.
        """
        d = check_number("prior_precision", prior_precision, above=0)
        spread = float(torch.log1p(self.eigenvalues / d).sum())
        return self.fit - d / 2 * float(self.center.square().sum()) - spread / 2  # (2)

    def variance(self) -> Float[Tensor, " p"]:
        """Returns the approximate posterior variance of each parameter."""
        inverse = 1 / (self.eigenvalues + self.prior_precision)
        if self.vectors is None:
            return inverse
        seen = (self.vectors.square() * inverse).sum(1)
        unseen = (1 - self.vectors.square().sum(1)).clamp(min=0) / self.prior_precision
        return seen if len(inverse) == len(self.center) else seen + unseen

    @add_call_to_errors
    def sample(self, draws: int = 100, *, seed: int = 0) -> PosteriorDraws:
        """Returns independent draws of the parameters from the approximate posterior, a Gaussian.

        They belong to the network linearized at ``center``; in the network itself they predict far worse.
        """
        draws = check_integer("draws", draws)
        needed = 3 * 8 * draws * len(self.center)
        if needed > SHARE_OF_FREE_MEMORY * free_bytes():
            what = f"{draws} draws of {len(self.center):,} parameters need {needed / 1e9:.1f} GB"
            raise BudgetError(f"{what}. Ask for fewer at a time, with another seed each time")
        generator = torch.Generator().manual_seed(check_seed(seed))
        z = torch.randn(draws, len(self.center), generator=generator, dtype=torch.float64)
        narrow = 1 / (self.eigenvalues + self.prior_precision).sqrt()
        if self.vectors is None:
            moved = z * narrow
        else:  # The standard deviation is the posterior's along the eigenvectors, the prior's in other directions.
            along = z @ self.vectors
            across = (z - along @ self.vectors.T) / self.prior_precision**0.5
            moved = (along * narrow) @ self.vectors.T + (across if len(narrow) < len(self.center) else 0)
        return PosteriorDraws((self.center + moved)[None], "Laplace", 1.0, 0, 0, 0, center=self.center)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the log evidence over the precision (inverse variance) of the prior."""
        grid = [self.prior_precision * 10 ** (k / 8) for k in range(-24, 25)]
        curve = Line("log evidence", grid, [self.evidence(d) for d in grid])
        marks = (curve, Reference("chosen", self.prior_precision, vertical=True))
        axes = Axis("precision of the prior", log=True), Axis("log evidence")
        return (Plot("Evidence of the prior", marks, *axes, caption=self.verdict),)


@add_call_to_errors
def laplace(
    module: nn.Module,
    data: Any,
    *,
    prior_precision: float | None = None,
    noise: float = 1.0,
    loss: Loss | None = None,
    parameters: str | None = None,
    structure: str = "full",
    rank: int | None = None,
) -> Laplace:
    """Computes the Laplace approximation of a trained module's posterior: a Gaussian around the parameters.

        p(w | S) ~ N(w*, (G + d I)^-1)                                                                     (1)

    Args:
        module: a trained network; runs in eval mode and is not changed.
        data: the training data: a pair, a ``Dataset``, a ``DataLoader``, batches.
        prior_precision: the precision d of the prior; by default the one with the largest evidence.
        noise: standard deviation of real targets around the outputs.
        loss: `Squared()`, `CrossEntropy()`, or for one logit `Logistic()` or ``nn.BCEWithLogitsLoss()``;
            by default the one that fits the targets.
        parameters: a pattern of names, such as "4.*" for the last layer; by default all that are trained.
        structure: "full", or for more than 20,000 parameters "low rank" or "diagonal".
        rank: eigenvalues that "low rank" keeps; by default all that are not zero, one for each output of each example.

    Hypotheses: the module is at a minimum of its loss. Reference: [daxberger2021laplace].
    Cost: the derivatives of all outputs, then p^2 n k multiplications and an eigendecomposition p^3 ("full"), or
    p (n k)^2 and (n k)^3 ("low rank", and "full" where n k < p; they hold p n k numbers); "diagonal" costs k gradients
    of all examples for linear layers, and the derivatives of all outputs of each example for others.

    >>> x = torch.tensor([[1.0], [2.0]])
    >>> result = laplace(nn.Linear(1, 1, bias=False), (x, x[:, 0]), prior_precision=1.0)
    >>> result.eigenvalues.tolist(), round(float(result.variance()), 4)                    # 1^2 + 2^2, 1 / (5 + 1)
    ([5.0], 0.1667)
    """
    if structure not in ("full", "diagonal", "low rank"):
        raise out_of_range_error("structure", '"full", "low rank" or "diagonal"', structure)
    posterior = module_posterior(module, data, noise=noise, loss=loss, parameters=parameters)
    known = isinstance(posterior.objective.loss, Squared | CrossEntropy | AbstractLossWithAxes)
    if not known and not posterior.binary:
        accepted = "Squared(), CrossEntropy(), or for one output Logistic() or BCEWithLogitsLoss() without weights"
        raise InputError(f"the loss must be {accepted}, but it is {posterior.objective.name}")
    center = posterior.start
    _check_size(posterior, center, structure)
    values, vectors = _spectrum(posterior, center, structure, rank)
    fit = -posterior.observations * _mean_loss(posterior, center) / noise**2
    if isinstance(posterior.objective.loss, Squared):
        fit -= len(posterior) * posterior.width * log(2 * pi * noise**2) / 2
    raw = Laplace(center, values.clamp(min=0), vectors, 1.0, 0.0, len(posterior), fit)
    chosen = _best(raw) if prior_precision is None else check_number("prior_precision", prior_precision, above=0)
    return Laplace(center, raw.eigenvalues, vectors, chosen, raw.evidence(chosen), len(posterior), fit)


def _best(raw: Laplace) -> float:
    """Returns the prior precision (inverse variance) with the largest evidence.

    See equation (2) of the module docstring.
    """
    search = minimize_scalar(
        lambda t: -raw.evidence(exp(t)), bounds=(-30, 30), method="bounded", options={"xatol": 1e-8}
    )
    return exp(float(search.x))


def _mean_loss(posterior: ModulePosterior, center: Tensor) -> float:
    parts = torch.arange(len(posterior)).split(BATCH_SIZE)
    with torch.no_grad():
        return sum(len(part) * float(posterior.mean_loss(center, part)) for part in parts) / len(posterior)


def _spectrum(
    posterior: ModulePosterior, center: Tensor, structure: str, rank: int | None
) -> tuple[Tensor, Tensor | None]:
    """Returns the eigenvalues and eigenvectors of the Gauss-Newton matrix, or its diagonal and None."""
    p = len(center)
    if structure == "diagonal":
        return gauss_newton_diagonal(posterior, center), None
    if structure == "full" and len(posterior) * posterior.width >= p:
        total = torch.zeros(p, p, dtype=torch.float64)
        for batch in gauss_newton_rows(posterior, center):
            total += batch.T @ batch  # (1)
        return torch.linalg.eigh(total)
    every = torch.cat(list(gauss_newton_rows(posterior, center)))
    most = min(every.shape) if rank is None else min(check_integer("rank", rank), *every.shape)
    values, inner = torch.linalg.eigh(every @ every.T)
    values, inner = values[-most:], inner[:, -most:]
    kept = values > values[-1] * max(every.shape) * torch.finfo(torch.float64).eps
    return values[kept], every.T @ inner[:, kept] / values[kept].sqrt()


def _check_size(posterior: ModulePosterior, center: Tensor, structure: str) -> None:
    """Raises an error if the chosen structure of the Gauss-Newton matrix does not fit into memory."""
    p, n = len(center), len(posterior)
    if structure == "full" and p > MAX_PARAMETERS_FULL:
        fix = "Pass structure='low rank' or 'diagonal', or the last layer alone with parameters='<name>.*'"
        raise BudgetError(f"{p:,} parameters need {8e-9 * p**2:.1f} GB. {fix}")
    k = posterior.width
    needed = 2 * 8 * p * n * k  # memory in bytes of the rows of A and of the eigenvectors computed from them
    if structure == "low rank" and needed > SHARE_OF_FREE_MEMORY * free_bytes():
        what = f"{n * k:,} rows of {p:,} parameters need {needed / 1e9:.1f} GB"
        raise BudgetError(f"{what}. Pass structure='diagonal', or fewer examples, or parameters='<name>.*'")
