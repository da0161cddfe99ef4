"""An autoregressive flow's log determinant is the sum of its log scales, because its Jacobian is triangular.

    x_i = m_i(z_<i) + exp(s_i(z_<i)) z_i    =>    log |det dx/dz| = sum_i s_i     (1)

m_i and s_i are shift and log scale of coordinate i, which depend on earlier coordinates z_<i only.
"""

from functools import partial

import torch

from gnomon.generative.flows.autoregressive import Autoregressive, MaskedNetwork
from gnomon.generative.flows.base import InverseTransform
from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed, masked):
    """Returns a random inverse autoregressive map and points; ``masked`` keeps the autoregressive order."""
    torch.manual_seed(seed)
    network = MaskedNetwork(d, 2, hidden=16).double()
    with torch.no_grad():
        for p in network.parameters():
            p += 0.3 * torch.randn_like(p)
        for name, mask in network.named_buffers():
            if not masked and name.startswith("mask"):
                mask.fill_(1.0)
    return InverseTransform(Autoregressive(network)), torch.randn(4, d, dtype=torch.float64)


def predicted(d, seed):
    """Returns the sums of the log scales that the flow itself computes, for each point."""
    layer, z = problem(d, seed, True)
    return layer(z)[1].detach()


def determinants(d, seed, masked):
    """Returns the log determinants of Jacobians by automatic differentiation, for each point."""
    layer, z = problem(d, seed, masked)
    slopes = [torch.autograd.functional.jacobian(lambda p: layer(p[None])[0][0], point) for point in z]
    return torch.linalg.slogdet(torch.stack(slopes))[1]


observed = partial(determinants, masked=True)  # With masks.
control = partial(determinants, masked=False)  # Control: without masks, each scale depends on all coordinates.

CLAIM = Claim(
    id="inverse-autoregressive-flow",
    question="Why is the determinant of an autoregressive flow cheap?",
    equation=r"\log\left|\det\frac{\partial x}{\partial z}\right| = \sum_i \log\sigma_i",
    axes=("point", "log determinant"),
    source=Source("theorem", "kingma2016improved", "equation 10"),
    premises=(Premise("each scale depends on earlier coordinates only"),),
    parameters={"d": 4},
    full={"d": 30},
    judge=equals(rounding=1e4),
)
