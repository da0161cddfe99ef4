"""The modes of a kernel: what is learned first, what is learned slowly, and what never.

With K / n = sum_i l_i q_i q_i^T and a penalty alpha, the error of training along q_i is

    q_i^T (f(t) - y) = e_i(t) q_i^T (f(0) - y),    e_i(t) = (alpha + l_i p_t(l_i + alpha)) / (l_i + alpha)     (1)

with the remainder p_t of the way of training, exp(-(l_i + alpha) t) for the flow. Its transient falls to a fraction
delta in the time

    t_i = log(1 / delta) / decay(l_i + alpha)                                                                  (2)

exactly for flow and descent, in the long run for momentum. The l_i are the nonzero eigenvalues of the Hessian of the
loss, so the largest stable learning rate is 2 / (l_1 + alpha).

An eigenvalue within n eps l_1 of zero cannot be told from zero: it is set to zero, and its mode is never learned.

Hypotheses: squared loss, (1 / 2n) sum |f - y|^2 + (alpha / 2) |theta - theta_0|^2; a constant positive semidefinite K.
Reference: [jacot2018neural], section 5.

>>> import torch
>>> found = modes(torch.diag(torch.tensor([8.0, 2.0])), torch.tensor([1.0, 1.0]))
>>> found.rates, found.time(1 / torch.e)                                     # l = (8, 2) / n; 1 / l
(tensor([4., 1.], dtype=torch.float64), tensor([0.2500, 1.0000], dtype=torch.float64))
"""

from dataclasses import dataclass
from math import inf, log

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.errors import InputError, lesson
from gnomon.core.record import Record
from gnomon.dynamics.gram import Problem, instants, problem, weight
from gnomon.dynamics.optimizers import AbstractOptimizer, Flow


@dataclass(frozen=True, slots=True, eq=False)
class Modes(Record):
    """The eigenvectors of a kernel with their rates, descending, and the initial error y - f(0) along each.

    ``rates`` are the eigenvalues of K / n, without the penalty; ``vectors`` has the q_i in columns.

    >>> found = modes(torch.eye(2, dtype=torch.float64), torch.tensor([3.0, 4.0]))
    >>> float(found.power.sum())                                             # shares of |y - f(0)|^2
    1.0
    """

    rates: Float[Tensor, " r"]
    vectors: Float[Tensor, "r r"]
    coefficients: Float[Tensor, "r q"]
    optimizer: AbstractOptimizer
    penalty: float

    @property
    def power(self) -> Float[Tensor, " r"]:
        """The share of each mode in the squared initial error; zero everywhere where there is no error."""
        squares = self.coefficients.square().sum(1)
        return squares / squares.sum() if float(squares.sum()) > 0 else squares

    @property
    def rank(self) -> int:
        """The number of modes that are learned at all."""
        return int((self.rates > 0).sum())

    @property
    def largest_lr(self) -> float:
        """The largest stable learning rate: beyond it the first mode diverges."""
        return self.optimizer.largest_lr(float(self.rates[0]) + self.penalty)

    def error(self, times: "Array | list[float] | tuple[float, ...]") -> Float[Tensor, "t r"]:
        """The error of each mode as a multiple of its initial error, equation (1)."""
        total = self.rates + self.penalty
        left = self.optimizer.remainder(total, instants(times, "dynamics.modes(...).error(times)"))
        left = torch.where(self.rates > 0, left, 1.0)  # a mode without rate keeps its error, whatever the penalty
        floor = torch.where(self.rates > 0, self.penalty / total, 1.0)
        return floor + (1 - floor) * left  # (1)

    def time(self, fraction: float = 0.01) -> Float[Tensor, " r"]:
        """The time each mode needs until its transient has fallen to a fraction, equation (2); infinite if never."""
        if not 0 < fraction < 1:
            cure = "Pass the part of the error that may be left, such as 0.01"
            raise InputError(lesson("dynamics.modes(...).time", f"fraction is {fraction}", "0 < fraction < 1", cure))
        decay = self.optimizer.decay(self.rates + self.penalty)
        return torch.where((self.rates > 0) & (decay > 0), log(1 / fraction) / decay, inf)  # (2)


def modes(
    ntk: Array, y: Array, *, f0: Array | None = None, optimizer: AbstractOptimizer | None = None, penalty: float = 0.0
) -> Modes:
    """The modes in which a kernel learns targets: their rates, their share of the error, the time each needs.

    Args:
        ntk: the kernel of the n training points, (n, n), or (n, n, k, k) where it couples outputs.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), taken as one-hot rows.
        f0: outputs before training; zero where left out.
        optimizer: ``Flow()`` by default, ``Descent(lr)`` or ``Momentum(lr, beta=...)``.
        penalty: alpha.

    Cost: one eigendecomposition, about 9 n^3 operations and 3 n^2 numbers.

    >>> from gnomon.dynamics import Descent
    >>> K = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> modes(K, torch.ones(2), optimizer=Descent(0.5)).error([1.0])[0]      # (1 - 0.5 x 2 / 2)^2
    tensor([0.2500, 0.2500], dtype=torch.float64)
    """
    call = "dynamics.modes(ntk, y)"
    given = problem(call, ntk, y, None, f0, None)
    rates, vectors = spectrum(given, call)
    residual = vectors.T @ given.rows(given.y - given.f0)
    return Modes(rates, vectors, residual, optimizer or Flow(), weight(penalty, call))


def spectrum(given: Problem, call: str) -> tuple[Tensor, Tensor]:
    """Eigenvalues of K / n, descending, with those below rounding set to zero, and eigenvectors in columns."""
    gram, n = given.gram, len(given.y)
    values, vectors = torch.linalg.eigh(gram / n)
    values, vectors = values.flip(0), vectors.flip(1)
    rounding = len(gram) * given.eps * float(values.abs().max())
    if float(values[-1]) < -rounding:
        what = f"the smallest eigenvalue of the kernel is {float(values[-1]) * n:.2e}, below rounding"
        cure = "Along it the error would grow without end: compute the kernel in float64, and read linalg.diagnose(K)"
        raise InputError(lesson(call, what, "a positive semidefinite kernel", cure))
    return torch.where(values > rounding, values, 0.0), vectors
