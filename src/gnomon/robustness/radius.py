"""Computes robust radii: lower bounds by proofs and upper bounds by attacks.

>>> import torch
>>> net = nn.Linear(2, 2, bias=False)
>>> with torch.no_grad():
...     _ = net.weight.copy_(torch.eye(2))
>>> data = torch.tensor([[0.8, 0.2]]), torch.tensor([0])
>>> radii = robust_radius(net, data, norm="inf", bounds=(0, 1))
>>> round(float(radii.below[0]), 3), round(float(radii.above[0]), 3)              # exact for a linear model
(0.3, 0.3)
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import UnsupportedModuleError, add_call_to_errors
from gnomon.core.machine.budget import limit_time
from gnomon.core.modules.preserve import preserve
from gnomon.robustness.attacks.base import AbstractAttack
from gnomon.robustness.attacks.run import examples_to_attack, minimal_distance
from gnomon.robustness.certificates.proofs import AbstractProof, CrownProof, LipschitzProof
from gnomon.robustness.radii import RobustRadii

__all__ = ["robust_radius"]


@add_call_to_errors
@limit_time
def robust_radius(
    module: nn.Module,
    data: Any,
    *,
    norm: str = "inf",
    bounds: tuple[float, float] = (0, 1),
    proofs: Sequence[AbstractProof] = (CrownProof(), LipschitzProof()),
    method: AbstractAttack | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> RobustRadii:
    """Returns for each example a proven radius and a radius at which an attack succeeded; the true radius is between.

    Args:
        module: a classifier of one input tensor, in eval mode; if no proof method supports it, nothing is proven.
        data: a pair (inputs, classes), a ``Dataset``, a ``DataLoader``, ...
        norm: "inf" or "2".
        bounds: the smallest and the largest value that an input may have.
        proofs: proof methods to try; the largest radius counts.
        method: the attack, by default a minimum-norm attack.
        seed: random seed for random starts.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: proofs hold in exact arithmetic, with a margin above rounding.
    Reference: [zhang2018efficient].
    Cost: 10 bounds of the network for each example and the attack; linear bounds pass backwards once for each unit
    whose sign is undecided, seconds for a small convolutional network and an example, and fall back to intervals in
    layers of more than 4,096 such units.

    >>> net, data = nn.Linear(2, 2), (torch.full((3, 2), 0.5), torch.tensor([0, 0, 1]))
    >>> robust_radius(net, data).contradictions
    0
    """
    broken = minimal_distance(module, data, norm=norm, bounds=bounds, method=method, seed=seed)
    x, y = examples_to_attack(module, data)
    below, names = torch.zeros_like(broken.above), []
    with preserve(module):
        for proof in proofs:
            try:
                ends = (float(bounds[0]), float(bounds[1]))
                below = torch.maximum(below, proof.radii(module, x, y, norm, ends, broken.above))
                names.append(proof.name)
            except UnsupportedModuleError:
                continue
    below = torch.where(broken.clean, below.detach(), 0.0)
    return RobustRadii(below, broken.above, broken.clean, norm, ", ".join(names) or "none", broken.attack)
