"""Gradient flow on the exponential loss has, at time t, a margin within about ln n / ln t of the largest.

From w(0) = 0 with n examples |x_i| <= 1 and the summed loss L: the smoothed margin satisfies g~ >= g* - ln n / |w|, the
norm |w| >= ln(n / L), and the loss L <= ln^2(2 t n e g*^2) / (2 t g*^2), so with g* the largest margin

    g~(t) >= g* - ln n / (ln t + ln(2 n g*^2) - 2 ln ln(2 t n e g*^2))                                         (1)
Reference: [ji2021characterizing] for the first of these.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, seed):
    """Returns examples times labels in the unit disk, the largest margin, and the log times 12 to 20."""
    rng = np.random.default_rng(seed)
    best, a, b = rng.uniform(0.15, 0.3), rng.uniform(0.5, 0.9), rng.uniform(0.2, 0.4)
    ends, rest = n // 4, n - 2 * (n // 4)
    others = np.stack([rng.uniform(best, 0.6, rest), rng.uniform(-0.7, 0.7, rest)], 1)
    return np.vstack([[[best, a]] * ends, [[best, -b]] * ends, others]), best, np.linspace(12, 20, 10)


def predicted(n, seed):
    """Returns the bounds on the gap to the largest margin, and on the gap times |w|, at times e^12 to e^20."""
    _, best, logs = problem(n, seed)
    inner = np.log(2 * n * best**2) + logs
    return np.stack([np.log(n) / (inner - 2 * np.log(1 + inner)), np.full(len(logs), np.log(n))])


def gaps(n, step, seed, start):
    """Returns the gap to the largest margin, and the gap times |w|, at times e^12 to e^20 of the gradient flow."""
    z, best, logs = problem(n, seed)
    w, log_time, seen = np.array([0.0, start]), -np.inf, []
    while len(seen) < len(logs):
        m = z @ w
        log_loss = np.logaddexp.reduce(-m)
        if log_time >= logs[len(seen)]:
            norm = np.linalg.norm(w)
            seen.append([best + log_loss / norm, best * norm + log_loss])
        w = w + step * np.exp(-m - log_loss) @ z
        log_time = np.logaddexp(log_time, np.log(step) - log_loss)
    return np.transpose(seen)


observed = partial(gaps, start=0.0)  # From zero.
control = partial(gaps, start=500.0)  # Control: large wrong initial weights, not forgotten by time e^20.

CLAIM = Claim(
    id="max-margin-rate-ln",
    question="How fast does gradient flow reach the largest margin?",
    equation=r"\tilde\gamma \ge \gamma^* - \ln n / (\ln t + \ln(2 n \gamma^{*2}) - 2 \ln\ln(2 t n e \gamma^{*2}))",
    axes=("time e^12 to e^20 (gap, then gap x norm)", "gap to the largest margin; gap x |w|"),
    source=Source("theorem", "ji2021characterizing"),
    premises=(
        Premise("the flow starts at zero"),
        Premise("all inputs are in the unit ball, and a plane separates the classes"),
    ),
    parameters={"n": 20, "step": 0.05},
    full={"n": 100, "step": 0.005},
    judge=bounded_by("above"),
    remark="Often printed with ln ln once instead of twice: the square in the bound of the loss gives the factor 2.",
)
