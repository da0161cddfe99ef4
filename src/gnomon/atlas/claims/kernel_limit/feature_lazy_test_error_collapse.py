"""If alpha sqrt(width) is fixed (output scale alpha), the test error does not depend on the width.

F = alpha (f - f_0) with f = sum_i v_i tanh(w_i x) / sqrt m learns a product of two inputs. Whether it learns features
depends only on alpha sqrt(m), and so does the test error, up to fluctuations of order 1/m:

    test error(alpha, m) = e(alpha sqrt m)                                                                   (1)
Reference: [geiger2020disentangling], Section 3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 0, the exponent of the width in the test error at fixed alpha sqrt(width)."""
    return 0.0


def errors(nets, widths, scale, n=70, d=9, time=30.0, step=0.5):
    """Returns the test error after training, for each network and width."""
    x = torch.randint(0, 2, (n + 100, d)) * 2.0 - 1
    y, found = (x[:, 0] * x[:, 1])[:, None], []
    x[:, -1] = 1  # The last input is the constant 1, which replaces biases.
    for m in widths:
        w, v, alpha, c = torch.randn(nets, m, d), torch.randn(nets, m, 1), scale(m), m**-0.5
        start = torch.tanh(x @ w.mT) @ v
        for _ in range(round(time / step)):
            h = torch.tanh(x[:n] @ w.mT)
            r = (y[:n] - alpha * c * (h @ v - start[:, :n])) * c / (alpha * n)
            w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x[:n], v + step * h.mT @ r
        out = alpha * c * (torch.tanh(x[n:] @ w.mT) @ v - start[:, n:])
        found.append(((out - y[n:]) ** 2).mean((1, 2)))
    return widths, torch.stack(found, 1)


observed = partial(errors, scale=lambda m: m**-0.5, n=70, d=9, time=30.0, step=0.5)  # scale alpha is 1 / sqrt(width)


def control(nets, widths):
    """Returns test errors if alpha sqrt(width) grows with the width, from feature learning to lazy training."""
    return errors(nets, widths, lambda m: m**-0.5 * (m / widths[0]) ** 1.2)


CLAIM = Claim(
    id="feature-lazy-test-error-collapse",
    question="On what does the test error depend if width and output scale change?",
    equation=r"\epsilon(\alpha, m) = e(\alpha \sqrt{m})",
    axes=("width m", "test error"),
    source=Source("observed", "geiger2020disentangling", "Section 3"),
    premises=(Premise("the output scale is proportional to width^-1/2"), Premise("the network is wide")),
    parameters={"nets": 24, "widths": (64, 192, 512)},
    full={"nets": 24, "widths": (100, 200, 400, 800)},
    judge=rate_is(confidence=0.999, label="width"),
)
