"""Finds the points of a cloud, or the members of a set, that a network uses.

    i is critical  <=>  f(cloud without i) != f(cloud)                                                          (1)

A network that takes maxima over points has at most one critical point for each feature.
Reference: [qi2017pointnet], Theorem 2.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve

__all__ = ["critical_points"]

RELATIVE_ROUNDING = 1e-6
"""Relative change of the output that counts as zero in float32."""


@add_call_to_errors
def critical_points(module: nn.Module, cloud: Float[Tensor, "points d"]) -> tuple[int, ...]:
    """Returns the indices of the points whose removal changes the output, in increasing order.

    Args:
        module: called with one cloud, (1, points, features).
        cloud: the points of the cloud.

    Hypotheses: the module accepts any number of points.
    Reference: [qi2017pointnet].
    Cost: a forward pass for each point.

    >>> class Largest(nn.Module):
    ...     def forward(self, x):
    ...         return x.amax(1)
    >>> critical_points(Largest(), torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.5, 0.5]]))
    (0, 1)
    """
    check_module(module)
    if len(cloud) < 2:
        raise InputError(f"the cloud has {len(cloud)} point", accepted="at least 2 points", fix="Pass a larger cloud")
    everyone = torch.arange(len(cloud))
    with preserve(module, grad=False):
        whole = output_tensor(module(cloud[None]))
        limit = RELATIVE_ROUNDING * float(whole.abs().max().clamp_min(1e-30))
        changes = [(output_tensor(module(cloud[everyone != i][None])) - whole).abs().max() for i in everyone]
    return tuple(i for i, change in enumerate(changes) if float(change) > limit)  # (1)
