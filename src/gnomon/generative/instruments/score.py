"""Checks whether a learned score (gradient of the log density) is correct, and whether it is a gradient at all.

    error = E |s(x) - grad log p(x)|^2 / E |grad log p(x)|^2                                               (1)
    curl = E |J - J^T|_F^2 / (4 E |J|_F^2),    J = ds/dx                                                   (2)

(2) is 0 for every gradient field, for any density, and 1 for a purely rotating field. It needs no exact score.

Hypotheses: s is differentiable. Reference: [hyvarinen2005estimation]; [salimans2021should] for (2).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.vectors import check_vectors, finite_points

__all__ = ["ScoreError", "score_curl", "score_error"]

Score = Callable[[Tensor], Tensor]
"""A function from points to gradients of a log density."""
MAX_SCORE_ERROR = 0.5
"""Relative squared error above which a score is wrong."""
MAX_CURL_SHARE = 0.1
"""Share of rotation above which a field is not a gradient in practice."""


@dataclass(frozen=True, slots=True)
class ScoreError(Result):
    """Result: the relative squared error of a learned score, and the fraction of its Jacobian that is antisymmetric.

    See equations (1) and (2) of the module docstring.

    >>> ScoreError(0.02, 0.0, 100).verdict
    'The score is off by 2.0% of its mean square, and 0.0% of its Jacobian is antisymmetric (0 for ...).'
    """

    error: float
    curl: float
    points: int

    @property
    def verdict(self) -> str:
        """States the error of the learned score, and the fraction of its Jacobian that is antisymmetric."""
        return (
            f"The score is off by {self.error:.1%} of its mean square, and {self.curl:.1%} of its Jacobian is "
            "antisymmetric (0 for the gradient of a density)."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings if the learned score is wrong, or if it is not the gradient of any function."""
        listed = []
        if self.error > MAX_SCORE_ERROR:
            listed.append(Finding(kinds.SCORE_WRONG, "", {"error": self.error}, (Value("error", self.error),)))
        if self.curl > MAX_CURL_SHARE:
            listed.append(Finding(kinds.SCORE_TURNS, "", {"curl": self.curl}, (Value("curl", self.curl),)))
        return tuple(listed)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the error of the learned score and the antisymmetric fraction of its Jacobian."""
        return (
            Plot(
                "Score",
                (Bars("share", ("error", "curl"), (self.error, self.curl)),),
                Axis("share of the score"),
                caption=self.verdict,
            ),
        )


@add_call_to_errors
def score_error(score: Score, exact: Score, x: Tensor) -> ScoreError:
    """Measures the difference between a learned score (gradient of the log density) and the exact score.

        error = E |s(x) - grad log p(x)|^2 / E |grad log p(x)|^2                                           (1)

    Hypotheses: points are drawn from the density for which the score is used. Reference: [hyvarinen2005estimation].
    Cost: both scores, and d derivatives of the first.

    >>> from gnomon.data import gaussian_mixture
    >>> p = gaussian_mixture([[0.0, 0.0]])
    >>> result = score_error(lambda x: 0.9 * p.score(x), p.score, p.sample(10))
    >>> round(result.error, 6), round(result.curl, 6)                                                      # 0.1^2
    (0.01, 0.0)
    """
    x = finite_points(x, "x")
    with torch.no_grad():
        s, right = score(x), exact(x)
    check_vectors(s, x, what="the score")
    check_vectors(right, x, what="the exact score")
    s, right = s.double(), right.double()
    return ScoreError(float((s - right).square().sum() / right.square().sum()), score_curl(score, x), len(x))  # (1)


@add_call_to_errors
def score_curl(score: Score, x: Tensor) -> float:
    """Returns the antisymmetric fraction of a vector field's Jacobian: 0 for any gradient, 1 for a pure rotation.

        curl = E |J - J^T|_F^2 / (4 E |J|_F^2),    J = ds/dx                                               (1)

    Hypotheses: s is differentiable. Reference: [salimans2021should].
    Cost: d derivatives at each point.

    >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    >>> score_curl(lambda x: x @ turn, torch.randn(5, 2)), score_curl(lambda x: -x, torch.randn(5, 2))
    (1.0, 0.0)
    """
    x = finite_points(x, "x")
    with torch.no_grad():
        check_vectors(score(x[:1]), x[:1], what="the score")
    jacobians = vmap(jacrev(lambda point: score(point[None])[0].flatten()))(x.detach()).flatten(2)
    whole = float(jacobians.square().sum())
    return float((jacobians - jacobians.mT).square().sum()) / (4 * whole) if whole else 0.0  # (1)
