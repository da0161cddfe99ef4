"""Double descent: test error over the size of a model, the number of examples, or training time.

For minimum-norm least squares on n Gaussian rows with p isotropic features, noise s^2 and signal |w|^2 = r^2:

    p < n - 1:  risk = s^2 p / (n - p - 1)                                                                        (1)
    p > n + 1:  risk = r^2 (1 - n / p) + s^2 n / (p - n - 1)                                                      (2)

both beyond the noise of the labels themselves, infinite at p = n. For any covariance, ridge and target of a linear or
random-feature model, in the limit,

    n = sum_i l_i / (l_i + k) + R / k,   risk = n / (n - D2) (sum_i (k v_i / (l_i + k))^2 + s^2) - s^2             (3)

with eigenvalues l, coefficients v of the target in units of the eigenfunctions, and D2 = sum_i (l_i / (l_i + k))^2.

Hypotheses: for (1) and (2) Gaussian rows; for (3) rows that behave like Gaussian ones.
Reference: [belkin2019reconciling] for the phenomenon, [hastie2022surprises] for (1) to (3), [nakkiran2020deep].

>>> isotropic_risk(100, 50, noise=1.0, signal=1.0) == 50 / 49
True
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Band, Line, Plot, Reference, Result
from gnomon.core.results.plot import PlotMark

__all__ = [
    "DoubleDescent",
    "summarize_errors",
    "double_descent",
    "isotropic_risk",
    "ridge_risk_from_spectrum",
]

MIN_PEAK_RATIO = 1.2
"""Ratio of the peak to the smallest error before it at which there is a peak."""


@add_call_to_errors
def isotropic_risk(n: int, p: int, *, noise: float, signal: float) -> float:
    """Returns the exact expected test error of minimum-norm least squares on Gaussian inputs, without noise of test
    labels.

    See equations (1) and (2) of the module docstring.
    Hypotheses: Gaussian rows with independent features of variance one; ``noise`` and ``signal`` are s^2 and r^2.
    Reference: [hastie2022surprises].

    >>> isotropic_risk(100, 200, noise=0.0, signal=1.0)                    # half of the target is not seen
    0.5
    """
    n, p = check_integer("n", n), check_integer("p", p)
    if abs(p - n) <= 1:
        return inf if noise > 0 else (0.0 if p <= n else signal * (1 - n / p))
    if p < n:
        return noise * p / (n - p - 1)  # (1)
    return signal * (1 - n / p) + noise * n / (p - n - 1)  # (2)


@add_call_to_errors
def ridge_risk_from_spectrum(
    eigenvalues: Float[Tensor, " p"],
    coefficients: Float[Tensor, " p"],
    n: int,
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
) -> float:
    """Returns the theoretical test error of ridge regression for any input spectrum and target, without noise of test
    labels.

    See equation (3) of the module docstring.

    Args:
        eigenvalues: eigenvalues of the kernel operator, or of the covariance of the features.
        coefficients: coefficients of the target in the eigenfunctions (of variance one).
        n: number of rows.
        ridge: R, added to the diagonal of the kernel matrix (or of X^T X for features).
        noise: variance of the labels.

    Hypotheses: rows as random as Gaussian ones; infinite if n is the number of features and the ridge is zero.
    Reference: [simon2023eigenlearning], [hastie2022surprises].
    Cost: a bisection, each step a pass over the spectrum.

    >>> ones = torch.ones(400).double()
    >>> round(ridge_risk_from_spectrum(ones, ones / 20, 200, noise=0.1), 6) == round(0.5 + 0.1 * 200 / 200, 6)
    True
    """
    n, values, target = check_integer("n", n), eigenvalues.double(), coefficients.double()
    if not ridge >= 0 or not noise >= 0 or bool((values < 0).any()):
        raise out_of_range_error("ridge, noise and eigenvalues", "at least 0", (ridge, noise))
    live = int((values > 0).sum())
    if ridge == 0 and n >= live:
        k = 0.0
    else:
        low, high = 0.0, float(values.sum()) / n + ridge / n + 1e-300
        for _ in range(200):
            k = (low + high) / 2
            low, high = (k, high) if float((values / (values + k)).sum()) + ridge / k > n else (low, k)
    share = torch.where(values > 0, values / (values + k), torch.zeros_like(values))
    left = n - float(share.square().sum())
    lost = float(((1 - share) * target).square().sum())
    return n / left * (lost + noise) - noise if left > 1e-9 * n else (inf if noise + lost > 0 else 0.0)  # (3)


@dataclass(frozen=True, slots=True)
class DoubleDescent(Result):
    """Result: mean training and test error at each size, with standard errors; ``along`` names what the size counts.

    ``lowest`` are the smallest test errors of any repetition, ``threshold`` is the interpolation threshold, or None.
    """

    sizes: tuple[float, ...]
    test: tuple[float, ...]
    deviation: tuple[float, ...]
    train: tuple[float, ...]
    along: str
    repetitions: int
    lowest: tuple[float, ...] = ()

    @property
    def threshold(self) -> float | None:
        """Returns the interpolation threshold: the smallest size at which training fits (almost) all examples.

        Along examples, it is the last size at which the training data are fitted.
        """
        top = max(self.train)
        fitted = [e <= 0.01 * top for e in self.train]
        if not any(fitted) or all(fitted):
            return None
        return self.sizes[fitted.index(False) - 1 if fitted[0] else fitted.index(True)]

    @property
    def peak(self) -> float | None:
        """Returns the size at which the test error has a significant peak; None without a significant peak.

        Significant means by two standard errors or in every repetition, because errors at the threshold have heavy
        tails.
        """
        best = None
        for i in range(1, len(self.sizes) - 1):
            before, after = min(self.test[:i]), min(self.test[i + 1 :])
            sure = max(self.test[i] - 2 * self.deviation[i], self.lowest[i] if self.lowest else -inf)
            if sure > MIN_PEAK_RATIO * before and sure > after:
                best = i if best is None or self.test[i] > self.test[best] else best
        return None if best is None else self.sizes[best]

    @property
    def verdict(self) -> str:
        """States whether there is a peak of the test error, and at which size."""
        best = min(range(len(self.sizes)), key=lambda i: self.test[i])
        where = f"the smallest test error, {self.test[best]:.3g}, is at {self.sizes[best]:g}"
        if self.peak is None:
            return f"Along {self.along} the error has no second descent; {where}."
        fits = "" if self.threshold is None else f", near the interpolation threshold ({self.threshold:g})"
        return f"Along {self.along} the test error peaks at {self.peak:g}{fits} and falls again; {where}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots training and test error over size, with the interpolation threshold."""
        low = [t - 2 * d for t, d in zip(self.test, self.deviation, strict=True)]
        high = [t + 2 * d for t, d in zip(self.test, self.deviation, strict=True)]
        marks: list[PlotMark] = [
            Line("test", self.sizes, self.test),
            Line("training", self.sizes, self.train, "dashed"),
        ]
        marks += [Band("two standard errors", self.sizes, low, high)]
        if self.threshold is not None:
            marks += [Reference("training data are fitted", self.threshold, vertical=True)]
        return (
            Plot("Double descent", tuple(marks), Axis(self.along, log=True), Axis("error", log=True), self.verdict),
        )


Fit = Callable[..., Callable[[Any], Tensor]]


@add_call_to_errors
@limit_time
def double_descent(
    fit: Fit,
    sizes: Sequence[int],
    data: Any,
    test: Any,
    *,
    along: str = "size of the model",
    draws: int = 3,
    loss: Callable[[Tensor, Tensor], Tensor] = nn.functional.mse_loss,
    budget: float | None = None,
) -> DoubleDescent:
    """Fits models of increasing size and looks for a peak of the test error at the interpolation threshold.

    ``fit(size, x, y, seed)`` returns a trained module or function from inputs to outputs. The size is the width of a
    model, or another size that ``fit`` understands; for more examples or longer training see `sample_wise`,
    `epoch_wise`.

    Args:
        fit: the function that trains a model.
        sizes: sizes in increasing order.
        data: training examples (inputs, targets).
        test: test examples.
        along: what the size is, for the text of the result.
        draws: number of seeds at each size.
        loss: function of outputs and targets that returns a mean loss.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: none.
    Reference: [belkin2019reconciling], [nakkiran2020deep].
    Cost: one fit for each size and draw.

    >>> g = torch.Generator().manual_seed(0)
    >>> x, noise = torch.randn(40, 80, generator=g), torch.randn(40, generator=g)
    >>> def least_norm(size, x, y, seed):
    ...     w = torch.linalg.lstsq(x[:, :size], y, driver="gelsd").solution
    ...     return lambda z: z[:, :size] @ w
    >>> double_descent(least_norm, [5, 20, 40, 80], (x, noise), (torch.randn(500, 80, generator=g), torch.zeros(500)),
    ...                draws=1).peak
    40
    """
    chosen = [check_number("sizes", float(size), above=0) for size in sizes]
    if len(chosen) < 3 or sorted(chosen) != chosen:
        raise InputError(f"sizes is {list(sizes)}"[:80], accepted="three growing sizes", fix="Pass sizes in order")
    draws = check_integer("draws", draws)
    (x, y), (z, t) = (data_source(part).pair() for part in (data, test))
    pairs = []
    for size, seed in with_progress_bar([(size, seed) for size in sizes for seed in range(draws)], "fits"):
        model = fit(size, x, y, seed)
        with torch.no_grad():
            pairs.append([float(loss(model(inputs), targets)) for inputs, targets in ((x, y), (z, t))])
    rows = torch.tensor(pairs, dtype=torch.float64).split(draws)
    return summarize_errors(list(sizes), rows, along)


def summarize_errors(sizes: Sequence[float], rows: Sequence[Tensor], along: str) -> DoubleDescent:
    """Converts training and test errors of several runs at each size to means and standard errors.

    >>> summarize_errors([1, 2, 3], [torch.tensor([[1.0, 2.0]])] * 3, "width").test
    (2.0, 2.0, 2.0)
    """
    train = tuple(float(row[:, 0].mean()) for row in rows)
    tested = tuple(float(row[:, 1].mean()) for row in rows)
    spread = tuple(float(row[:, 1].std() / len(row) ** 0.5) if len(row) > 1 else 0.0 for row in rows)
    lowest = tuple(float(row[:, 1].min()) for row in rows)
    return DoubleDescent(tuple(sizes), tested, spread, train, along, len(rows[0]), lowest)
