"""At a large output scale, the trained weights of a network and of its linearization stay close together.

Both start at w_0 and follow the gradient of L(w) = |alpha f - y|^2 / (2 alpha^2), one for the centered network f and
one for its tangent (w_lin). For large alpha their largest distance is a small part of the distance they move:

    sup_t |w(t) - w_lin(t)| <= 0.05 |w(T) - w_0|                                                             (1)
Reference: [chizat2019lazy].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns 0.05, the largest allowed distance between both weight paths, relative to the distance moved."""
    return 0.05


def separation(width, nets, alpha, time=2.0, step=0.01):
    """Returns the largest distance between both weight paths, divided by the distance moved, per network."""
    x, y = torch.randn(5, 3).double(), torch.randn(5, 1).double()
    w0, v0 = torch.randn(nets, width, 3).double(), torch.randn(nets, width, 1).double()
    h0 = torch.tanh(x @ w0.mT)
    gate, start, c = (1 - h0**2) * v0.mT, h0 @ v0, width**-0.5
    w, v, a, b = w0, v0, w0, v0
    far = torch.zeros(nets).double()
    for _ in range(round(time / step)):
        h = torch.tanh(x @ w.mT)
        r = (y - alpha * c * (h @ v - start)) * c / alpha
        tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).mT)).sum(-1, keepdim=True)
        s = (y - alpha * c * tangent) * c / alpha
        w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
        a, b = a + step * (s * gate).mT @ x, b + step * h0.mT @ s
        far = torch.maximum(far, torch.cat((w - a, v - b), 2).flatten(1).norm(dim=1))
    return far / torch.cat((w - w0, v - v0), 2).flatten(1).norm(dim=1)


observed = partial(separation, alpha=64.0, time=2.0, step=0.01)  # The network has the large output scale alpha = 64.
control = partial(separation, alpha=0.1, time=2.0, step=0.01)  # Control: the network has the small output scale 0.1.

CLAIM = Claim(
    id="lazy-regime-definition",
    question="When is training lazy?",
    equation=r"\sup_t \|w - \bar w\| \le 0.05 \, \|w(T) - w_0\|",
    axes=("network", "largest distance to the tangent path / distance moved"),
    source=Source("theorem", "chizat2019lazy", "Section 1"),
    premises=(Premise("the output scale is large"), Premise("the output starts at zero")),
    parameters={"width": 50, "nets": 10},
    full={"width": 500, "nets": 50},
    judge=bounded_by("above"),
    loose_because="5 % is what counts as close; the distance falls with the output scale and is 0.2 to 0.6 % here.",
)
