"""Computes how fast training learns along each eigenvector of a kernel matrix, and what it never learns.

With K / n = sum_i l_i q_i q_i^T and a penalty alpha, the error of training along q_i is

    q_i^T (f(t) - y) = e_i(t) q_i^T (f(0) - y),    e_i(t) = (alpha + l_i p_t(l_i + alpha)) / (l_i + alpha)     (1)

with the remainder p_t of the optimizer, exp(-(l_i + alpha) t) for the flow. Its transient falls to a fraction delta in
the time

    t_i = log(1 / delta) / decay(l_i + alpha)                                                                  (2)

exactly for flow and descent, asymptotically for momentum. The l_i are the nonzero eigenvalues of the Hessian of the
loss, so the largest stable learning rate is 2 / (l_1 + alpha).

An eigenvalue within n eps l_1 of zero is indistinguishable from zero: it is set to zero, and its mode is never learned.

Hypotheses: squared loss, (1 / 2n) sum |f - y|^2 + (alpha / 2) |theta - theta_0|^2; a constant positive semidefinite K.
Reference: [jacot2018neural], section 5.

>>> import torch
>>> result = training_modes(torch.diag(torch.tensor([8.0, 2.0])), torch.tensor([1.0, 1.0]))
>>> result.rates, result.time(1 / torch.e)                                   # l = (8, 2) / n; 1 / l
(tensor([4., 1.], dtype=torch.float64), tensor([0.2500, 1.0000], dtype=torch.float64))
>>> print(result)
2 of 2 modes (patterns over the examples) are learned; the fastest is 99 % learned by time 1.15, the slowest by time
4.61.
"""

from dataclasses import dataclass, field
from math import inf, log

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_number
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.dynamics.error_decay import AbstractErrorDecay, GradientFlow, error_decay
from gnomon.dynamics.problem import KernelProblem, kernel_problem, penalty_weight, time_grid
from gnomon.findings import theory as kinds
from gnomon.training import SGD

__all__ = ["TrainingModes", "training_modes"]

UNLEARNED_SHARE_WARNING = 0.1
"""Share of the initial error in never-learned modes that causes a warning."""
UNLEARNED_SHARE_NOTE = 0.01
"""Share of the initial error in never-learned modes that causes a note."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingModes(Result):
    """The eigenvectors of a kernel with their learning rates, in descending order, and the initial error along each.

    ``rates`` are the eigenvalues of K / n, without the penalty; ``vectors`` has the q_i in columns.

    >>> result = training_modes(torch.eye(2, dtype=torch.float64), torch.tensor([3.0, 4.0]))
    >>> float(result.power.sum())                                            # shares of |y - f(0)|^2
    1.0
    """

    rates: Float[Tensor, " r"]
    vectors: Float[Tensor, "r r"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    coefficients: Float[Tensor, "r q"]
    optimizer: GradientFlow | SGD
    penalty: float

    @property
    def decay(self) -> AbstractErrorDecay:
        """Returns an object that computes how the error along an eigenvector decays, from its curvature and time."""
        return error_decay(self.optimizer)

    @property
    def power(self) -> Float[Tensor, " r"]:
        """Returns for each eigenvector its fraction of the squared initial error; zeros if the error is zero."""
        squares = self.coefficients.square().sum(1)
        return squares / squares.sum() if float(squares.sum()) > 0 else squares

    @property
    def rank(self) -> int:
        """Returns the number of eigenvectors along which the kernel can learn (those with a learning rate
        above zero).
        """
        return int((self.rates > 0).sum())

    @property
    def largest_lr(self) -> float:
        """Returns the largest stable learning rate; above it, the error along the kernel's first eigenvector
        diverges.
        """
        return self.decay.largest_lr(float(self.rates[0]) + self.penalty)

    @add_call_to_errors
    def error(self, times: "Array | list[float] | tuple[float, ...]") -> Float[Tensor, "t r"]:
        """Returns the error that remains along each eigenvector of the kernel at given times, relative to the start.

        See equation (1) of the module docstring.
        """
        total = self.rates + self.penalty
        left = self.decay.remainder(total, time_grid(times))
        # Along eigenvectors of the kernel with rate zero, the error never changes, whatever the penalty.
        left = torch.where(self.rates > 0, left, 1.0)
        floor = torch.where(self.rates > 0, self.penalty / total, 1.0)
        return floor + (1 - floor) * left  # (1)

    @add_call_to_errors
    def time(self, fraction: float = 0.01) -> Float[Tensor, " r"]:
        """Returns the time until the error along each eigenvector falls to a given fraction; infinite if it never does.

        See equation (2) of the module docstring.
        """
        fraction = check_number("fraction", fraction, above=0, below=1)
        decay = self.decay.decay(self.rates + self.penalty)
        return torch.where((self.rates > 0) & (decay > 0), log(1 / fraction) / decay, inf)  # (2)

    @property
    def verdict(self) -> str:
        """States how much of the error is learned, and how long learning takes."""
        if self.rank == 0:
            return "The kernel is zero, so nothing is learned."
        needed = self.time(0.01)[: self.rank]
        head = f"{self.rank} of {len(self.rates)} modes (patterns over the examples) are learned"
        if bool(needed.isinf().any()):
            return f"{head}, but the learning rate is too large for some modes, so training diverges."
        fastest, slowest = float(needed.min()), float(needed.max())
        return f"{head}; the fastest is 99 % learned by time {fastest:.3g}, the slowest by time {slowest:.3g}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding about the fraction of the error that is never learned; empty if the fraction is small."""
        share = float(self.power[self.rates == 0].sum())
        if share < UNLEARNED_SHARE_NOTE:
            return ()
        evidence = (Value("share of the error that is never learned", share),)
        row = kinds.MUCH_NEVER_LEARNED if share > UNLEARNED_SHARE_WARNING else kinds.NEVER_LEARNED
        return (Finding(row, "labels", {"share": share}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the learning rate along each eigenvector of the kernel, and the learned fraction of the error over
        time.
        """
        rates = self.rates[: self.rank]
        needed, order = self.time(0.01)[: self.rank].sort()
        learned = Line("learned", needed, self.power[: self.rank][order].cumsum(0))
        time = Axis("time until 1 % of the error along a mode is left", log=True)
        unit = Axis("share of the initial error", limits=(0.0, 1.02))
        line = Line("rate", range(1, self.rank + 1), rates)
        return (
            Plot("Rates of the modes", (line,), Axis("mode"), Axis("rate", log=True)),
            Plot("Error that is learned", (learned,), time, unit, self.verdict),
        )


@add_call_to_errors
def training_modes(
    ntk: Array,
    y: Array,
    *,
    f0: Array | None = None,
    optimizer: GradientFlow | SGD | None = None,
    penalty: float = 0.0,
) -> TrainingModes:
    """Decomposes kernel training into eigenvectors: learning rate, fraction of the error and learning time along each.

    Args:
        ntk: the kernel of the n training points, (n, n), or (n, n, k, k) if it couples outputs.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        f0: outputs before training; zero by default.
        optimizer: ``GradientFlow()`` by default, or ``SGD(lr, momentum=...)``.
        penalty: alpha.

    Cost: one eigendecomposition, about 9 n^3 operations and 3 n^2 numbers.

    >>> from gnomon.training import SGD
    >>> K = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> training_modes(K, torch.ones(2), optimizer=SGD(0.5)).error([1.0])[0]      # (1 - 0.5 x 2 / 2)^2
    tensor([0.2500, 0.2500], dtype=torch.float64)
    """
    problem = kernel_problem(ntk, y, None, f0, None)
    return modes_of(problem, optimizer or GradientFlow(), penalty_weight(penalty))


def modes_of(problem: KernelProblem, optimizer: GradientFlow | SGD, penalty: float) -> TrainingModes:
    """Returns the eigenvectors of a kernel matrix and their learning rates, for inputs that are already checked."""
    error_decay(optimizer)  # Called for its check: it raises an error if the optimizer is not supported.
    gram, n = problem.gram, len(problem.y)
    values, vectors = torch.linalg.eigh(gram / n)
    values, vectors = values.flip(0), vectors.flip(1)
    rounding = len(gram) * problem.eps * float(values.abs().max())
    if float(values[-1]) < -rounding:
        what = f"the smallest eigenvalue of the kernel is {float(values[-1]) * n:.2e}, below rounding"
        fix = "Compute the kernel in float64 and see linalg.diagnose_matrix(K); the error of this mode would grow"
        raise InputError(what, accepted="a positive semidefinite kernel", fix=fix)
    rates = torch.where(values > rounding, values, 0.0)
    return TrainingModes(rates, vectors, vectors.T @ problem.rows(problem.y - problem.f0), optimizer, penalty)
