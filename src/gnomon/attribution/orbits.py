"""Measures how straight the path of each layer's output is while the input changes gradually, such as by rotation.

    curvature = mean angle between successive steps of h(x(s))                                                  (1)
    linearity = variance in the first two principal components / all variance                                  (2)

Hypotheses: each orbit is a fine sequence of inputs under one change, such as a rotation.
Reference: [henaff2019perceptual], (1).
Cost: one forward pass, and a singular value decomposition for each orbit and layer.

>>> straight = torch.linspace(0, 1, 9)[None, :, None] * torch.ones(3)
>>> orbit_curvature(nn.Sequential(nn.Linear(3, 2)), straight).curvature[0] < 0.01
True
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import names_of_called_layers, one_tensor
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = ["OrbitCurvature", "orbit_curvature"]


@dataclass(frozen=True, slots=True)
class OrbitCurvature(Result):
    """Result: for the input and each layer, how strongly the path of outputs bends, and how well a plane fits the
    path.
    """

    layers: tuple[str, ...]
    curvature: tuple[float, ...]
    linearity: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """States in one sentence whether paths get straighter or more curved with depth."""
        a, b = self.curvature[0], self.curvature[-1]
        return (
            f"Paths {'straighten' if b < a else 'bend'} with depth: the mean angle between consecutive steps is "
            f"{a:.2f} radians at the input, {b:.2f} at the end."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how curved the paths are, and how well a plane fits them, for each layer."""
        depth = range(len(self.layers))
        lines = (
            Line("mean turn, radians", depth, self.curvature),
            Line("variance in two directions", depth, self.linearity),
        )
        return (Plot("Straightness of paths", lines, Axis("layer"), Axis("turn (radians); share of variance")),)


@add_call_to_errors
def orbit_curvature(module: nn.Module, orbits: Any) -> OrbitCurvature:
    """Measures in each layer how straight paths of gradually changing inputs are.

    See equations (1) and (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [henaff2019perceptual].
    Cost: see the module.

    >>> angles = torch.linspace(0, 1, 8)
    >>> circle = torch.stack([angles.cos(), angles.sin()], 1)[None]
    >>> round(orbit_curvature(nn.Sequential(nn.Identity()), circle).curvature[0], 3)       # equal turns of 1/7
    0.143
    """
    if not isinstance(orbits, Tensor) or orbits.dim() < 3 or orbits.shape[1] < 3:
        fix = "Pass a tensor (orbits, steps, ...) with at least three steps"
        raise InputError("the orbits have no axis of steps", accepted="paths of inputs", fix=fix)
    flat = one_tensor(orbits.flatten(0, 1), module)
    kept = {"input": flat} | outputs_of_layers(module, flat, names_of_called_layers(module, flat))
    names, turns, shares = [], [], []
    for name, h in kept.items():
        if len(h) != len(flat):
            continue
        paths = h.double().reshape(*orbits.shape[:2], -1)
        steps = paths.diff(dim=1)
        steps = steps / steps.norm(dim=2, keepdim=True).clamp(min=1e-30)
        cosine = (steps[:, 1:] * steps[:, :-1]).sum(2).clamp(-1, 1)
        sizes = torch.linalg.svdvals(paths - paths.mean(1, keepdim=True)).square()
        names.append(name)
        turns.append(float(cosine.acos().mean()))  # (1)
        shares.append(float((sizes[:, :2].sum(1) / sizes.sum(1).clamp(min=1e-30)).mean()))  # (2)
    return OrbitCurvature(tuple(names), tuple(turns), tuple(shares))
