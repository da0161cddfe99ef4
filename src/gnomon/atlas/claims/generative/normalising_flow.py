"""A normalizing flow's density integrates to one, because the determinant accounts for the change of volume.

    log q(z_K) = log q(z_0) - sum_k log |det dz_k / dz_{k-1}|     (1)

z_0 is the base sample, z_k the value after map k, and q the density.
"""

from functools import partial

import torch

from gnomon.generative import coupling_flow
from gnomon.lab import Claim, Premise, Source, equals


def problem(seed):
    """Returns a flow of affine coupling layers with random parameters."""
    torch.manual_seed(seed)
    flow = coupling_flow(2, layers=2, hidden=16).double()
    with torch.no_grad():
        for p in flow.parameters():
            p += 0.15 * torch.randn_like(p)
    return flow


def predicted():
    """Returns 1, the integral of the density."""
    return 1.0


def integral(points, seed, sign):
    """Returns the integral of the flow's density over a wide grid; ``sign`` multiplies the log determinant.

    The scales of the flow are exponentials, so its tails are long. x = median + sinh(t) with even steps of t is fine in
    the middle and coarse far away.
    """
    flow = problem(seed)
    with torch.no_grad():
        x = flow.sample(1000)
        middle = x.median(0).values
        ends = [(10 * (end - middle)).asinh() for end in (x.amin(0), x.amax(0))]
        t = torch.stack([torch.linspace(float(a), float(b), points).double() for a, b in zip(*ends, strict=True)])
        cells = t.cosh() * (t[:, 1:2] - t[:, :1])
        z, log_det = flow.inverse(torch.cartesian_prod(*(middle[:, None] + t.sinh())))
    log = -z.square().sum(1) / 2 - torch.log(torch.tensor(2 * torch.pi)) + sign * log_det
    return float(log.exp() @ torch.cartesian_prod(*cells).prod(1))


observed = partial(integral, sign=1)  # The density includes the log determinant with the right sign.
control = partial(integral, sign=-1)  # Control: the log determinant has the wrong sign.

CLAIM = Claim(
    id="normalising-flow",
    question="Why does the density of a normalizing flow need a determinant?",
    equation=r"\log q(z_K) = \log q(z_0) - \sum_k \log\left|\det\frac{\partial z_k}{\partial z_{k-1}}\right|",
    axes=("one flow", "integral of the density"),
    source=Source("theorem", "rezende2015variational", "equation 6"),
    premises=(Premise("the logarithm of the determinant enters with its sign"), Premise("the maps are invertible")),
    parameters={"points": 400},
    full={"points": 1000},
    judge=equals(within=1e-3, because="a grid of 400 x 400 points"),
    remark="The determinant stands inside the absolute value: log |det J|, not log det |J|.",
)
