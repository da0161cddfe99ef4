"""Reconstructs inputs from the output of a layer, to show what the layer keeps of an image.

    x* = argmin_x |h(x) - h(x_0)|^2 / |h(x_0)|^2 + tv mean |grad x|^2                                            (1)
    PSNR = -10 log10 mean (x* - x_0)^2 / range^2                                                                 (2)

Hypotheses: the layer is differentiable. The optimum may be local, so PSNR is a lower bound on what the layer keeps.
Reference: [mahendran2015understanding].
Cost: ``iterations`` forward and backward passes.

>>> net = nn.Sequential(nn.Linear(4, 4))
>>> invert_layer(net, "0", torch.rand(2, 4), iterations=400).error < 0.01
True
"""

from dataclasses import dataclass, field
from math import log10
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.capture import capture_layer_outputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["LayerInversion", "invert_layer"]


@dataclass(frozen=True, slots=True, eq=False)
class LayerInversion(Result):
    """Result: inputs reconstructed from a layer's output, and how accurate the reconstruction is."""

    reconstruction: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    error: float
    psnr: float

    @property
    def verdict(self) -> str:
        """States in one sentence how accurately the inputs were reconstructed from the layer's output."""
        return (
            f"The input can be reconstructed from this layer with a signal-to-noise ratio of {self.psnr:.1f} dB "
            f"(error of the matched representation: "
            f"{self.error:.2%})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the first inputs that were reconstructed from the layer's output."""
        if self.reconstruction.dim() != 4:
            return Result.plots(self)
        shown = self.reconstruction.mean(1)[:4]
        return tuple(
            Plot(f"Reconstruction {i}", (Image("input", v),), Axis("pixels across"), Axis("pixels down"))
            for i, v in enumerate(shown)
        )


@add_call_to_errors
@limit_time
def invert_layer(
    module: nn.Module, layer: str, data: Any, *, iterations: int = 300,
    total_variation_weight: float = 0.0, lr: float = 0.05, budget: float | None = None,
) -> LayerInversion:  # fmt: skip
    """Reconstructs inputs from the output of a layer, starting from a gray image.

    See equation (1) of the module docstring.

    ``budget`` is the number of seconds after which the call ends with an error that says how long it would take.

    Hypotheses: see the module.
    Reference: [mahendran2015understanding].
    Cost: ``iterations`` forward and backward passes.

    >>> invert_layer(nn.Sequential(nn.Identity()), "0", torch.rand(2, 3), iterations=200).psnr > 30
    True
    """
    inputs = one_tensor(data, module)
    smooth = check_number("total_variation_weight", total_variation_weight, above=-1e-300)
    z = torch.full_like(inputs, float(inputs.mean())).requires_grad_()
    total = check_integer("iterations", iterations)
    optimizer = torch.optim.Adam([z], check_number("lr", lr, above=0))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
    with preserve(module), capture_layer_outputs(module, (layer,)) as kept:
        with torch.no_grad():
            run_module(module, inputs)
            goal = kept[layer].detach().clone()
        size = goal.square().sum().clamp(min=1e-30)
        for _ in with_progress_bar(range(total), "iterations"):
            run_module(module, z)
            apart = (kept[layer] - goal).square().sum() / size
            rough = sum(z.diff(dim=a).square().mean() for a in range(2, z.dim())) if z.dim() == 4 else 0.0
            (z.grad,) = torch.autograd.grad(apart + smooth * rough, z)  # (1)
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            run_module(module, z)
            error = float(((kept[layer] - goal).square().sum() / size).sqrt())
    wide = float(inputs.max() - inputs.min()) or 1.0
    mean = float((z.detach() - inputs).square().mean()) / wide**2
    return LayerInversion(z.detach(), error, -10 * log10(max(mean, 1e-16)))  # (2)
