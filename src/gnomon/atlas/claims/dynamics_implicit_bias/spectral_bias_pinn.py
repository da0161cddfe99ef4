"""A network trained to solve u'' = f misses the solution's high frequency; Fourier features let it find it.

The solution is u = sin(2 pi x) + sin(16 pi x) / 10 on [0, 1] with u = 0 at both ends. The network minimizes the mean
square of u'' - f and of u at the ends. After the same number of steps the relative errors of the component at k = 8 are

    error (Fourier features) < 0.05,   error (plain) > 0.95                                                    (1)

although this component is six times as large in u'' as the low one. It is read from u'', because training leaves smooth
errors in u that would hide it. Reference: [wang2021eigenvector].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of networks and fixed levels, from the smallest error to the largest."""
    return ("Fourier features", "0.05", "0.95", "plain")


def component_errors(scale, nets, width, n, steps):
    """Returns the relative errors of the parts sin(16 pi x) and sin(2 pi x) in u'' after training, for each start."""
    pi, x = torch.pi, torch.linspace(0, 1, n, dtype=torch.float64)[:, None]
    if scale:
        r = 2 * pi * scale * torch.randn(nets, 1, width // 2, dtype=torch.float64)
        s, c = (x * r).sin(), (x * r).cos()
        start = [torch.cat(p, 2) for p in ((s, c), (r * c, -r * s), (-r * r * s, -r * r * c))]
    else:
        start = [part.expand(nets, n, 1) for part in (2 * x - 1, torch.full_like(x, 2.0), torch.zeros_like(x))]
    sizes = (start[0].shape[2], width, width, 1)
    weights = [torch.randn(nets, a, b, dtype=torch.float64) / a**0.5 for a, b in zip(sizes, sizes[1:], strict=False)]
    biases = [torch.zeros(nets, 1, b, dtype=torch.float64) for b in sizes[1:]]
    waves = (2 * pi * x).sin(), 0.1 * (16 * pi * x).sin()
    target = -((2 * pi) ** 2) * waves[0] - (16 * pi) ** 2 * waves[1]
    optimizer = torch.optim.Adam([p.requires_grad_() for p in (*weights, *biases)], lr=0.005)
    for _ in range(steps):
        u, du, ddu = start
        for k, (w, bias) in enumerate(zip(weights, biases, strict=True)):
            u, du, ddu = u @ w + bias, du @ w, ddu @ w
            if k < 2:
                u = u.tanh()
                slope = 1 - u * u
                du, ddu = slope * du, slope * ddu - 2 * u * slope * du * du
        ends = (u[:, 0] ** 2 + u[:, -1] ** 2).sum()
        loss = ((ddu - target) ** 2).mean((1, 2)).sum() / (16 * pi) ** 2 + 10 * ends
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rest = (ddu - target).detach()
    parts = (16 * pi) ** 2 * waves[1], (2 * pi) ** 2 * waves[0]
    return [((rest * part).sum((1, 2)).abs() / (part**2).sum()).tolist() for part in parts]


def errors(scales, nets, width, n, steps):
    """Returns the high frequency's error for a plain and a Fourier-feature network, and two fixed levels."""
    plain, features = (component_errors(scale, nets, width, n, steps)[0] for scale in scales)
    return {"plain": plain, "0.05": [0.05] * nets, "0.95": [0.95] * nets, "Fourier features": features}


observed = partial(errors, scales=(0.0, 4.0))  # A plain network is compared with a network of Fourier features.
control = partial(errors, scales=(0.0, 0.0))  # Two plain networks.

CLAIM = Claim(
    id="spectral-bias-pinn",
    question="Why do physics-informed networks miss high frequencies?",
    equation=r"e_{k=8}^{Fourier} < 0.05, \quad e_{k=8}^{plain} > 0.95",
    axes=("network, and the two limits", "relative error at frequency 8"),
    source=Source("observed", "wang2021eigenvector"),
    premises=(Premise("the second network gets cosines and sines of random frequencies"), Premise("training is short")),
    parameters={"nets": 20, "width": 24, "n": 40, "steps": 120},
    full={"nets": 20, "width": 32, "n": 64, "steps": 300},
    judge=in_order(),
)
