"""Measures whether a layer's output is invariant, stable, invertible and separates classes.

    invariance   |h(g x) - h(x)| / |h(x)|                 over transformations g that should not matter           (1)
    stability    max |h(x) - h(z)| / |x - z|              over pairs of examples: at most 1 for a contraction     (2)
    inversion    PSNR of x found back from h(x)           see `invert_layer`                                      (3)
    separation   variance between classes / within them                                                          (4)

Hypotheses: inputs are one tensor of real numbers.
Reference: [mallat2016understanding], section 2; [mahendran2015understanding] for (3); [fisher1922interpretation] for
(4).

>>> RepresentationReport("0", 0.02, 0.9, 25.0, 3.0).verdict[:33]
"The output of '0' changes by 2.0%"
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.inversion import invert_layer
from gnomon.attribution.layers import one_tensor
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import relative_change
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.results import Result

__all__ = ["RepresentationReport", "representation_report"]

MAX_COMPARED_EXAMPLES = 200
"""Maximum number of examples whose pairs are compared."""
MAX_INVERTED_EXAMPLES = 8
"""Maximum number of examples that are inverted."""


@dataclass(frozen=True, slots=True)
class RepresentationReport(Result):
    """Result: how invariant, stable and invertible a layer's output is, and how well it separates classes."""

    layer: str
    invariance: float
    stability: float
    psnr: float
    separation: float

    @property
    def verdict(self) -> str:
        """States in one sentence how invariant, stable, invertible and class-separating the layer's output is."""
        return (
            f"The output of '{self.layer}' changes by {self.invariance:.1%} under transformations that should not "
            f"matter, stretches "
            f"distances by up to {self.stability:.3g}, lets the input be reconstructed with {self.psnr:.1f} dB and "
            f"separates classes by "
            f"{self.separation:.2g}."
        )


@add_call_to_errors
def representation_report(
    module: nn.Module,
    layer: str,
    data: Any,
    *,
    transformations: Sequence[Callable[[Tensor], Tensor]],
    iterations: int = 200,
) -> RepresentationReport:
    """Measures how invariant, stable and invertible a layer's output is, and how well it separates classes.

    See equations (1) to (4) of the module docstring.

    Args:
        module: a network; runs in eval mode and is not changed.
        layer: the name of the layer.
        data: inputs, one tensor, with their classes.
        transformations: functions of inputs that should not change the answer, such as ``lambda x: x.flip(3)``.
        iterations: the number of steps of the inversion.

    Hypotheses: see the module. Reference: [mallat2016understanding].
    Cost: a forward pass for each transformation and ``iterations`` forward and backward passes of 8 examples.

    >>> x = torch.rand(20, 4)
    >>> found = representation_report(nn.Sequential(nn.Identity()), "0", (x, (x[:, 0] > 0.5).long()),
    ...                              transformations=[lambda x: x.flip(1)], iterations=150)
    >>> round(found.stability, 5), found.psnr > 25                                                  # the identity
    (1.0, True)
    """
    x, labels = data_source(data, module=module).pair()
    inputs, y = one_tensor(x, module), labels.long()
    if not transformations or len(torch.unique(y)) < 2 or len(inputs) < 3:
        found = (
            "transformations is empty" if not transformations else "there are fewer than two classes or three examples"
        )
        raise InputError(found, accepted="transformations that should not change the class, and classes",
                                fix="Pass transformations=[lambda x: x.flip(3)] and classes")  # fmt: skip
    h = _features(module, layer, inputs)
    moved = [relative_change(h, _features(module, layer, g(inputs))) for g in transformations]  # (1)
    few, flat = h[:MAX_COMPARED_EXAMPLES], inputs.flatten(1).double()[:MAX_COMPARED_EXAMPLES]
    apart = torch.pdist(flat)
    ratios = torch.pdist(few)[apart > 0] / apart[apart > 0]
    back = invert_layer(
        module, layer, inputs[:MAX_INVERTED_EXAMPLES], iterations=check_integer("iterations", iterations)
    )
    return RepresentationReport(layer, max(moved), float(ratios.max()), back.psnr, _separation(h, y))


def _features(module: nn.Module, layer: str, x: Tensor) -> Tensor:
    return outputs_of_layers(module, x, (layer,))[layer].flatten(1).double()


def _separation(h: Tensor, y: Tensor) -> float:
    """Returns how well classes separate: the variance between classes over the variance within classes.

    See equation (4) of the module docstring.
    """
    mean, between, within = h.mean(0), 0.0, 0.0
    for c in torch.unique(y):
        own = h[y == c]
        between += len(own) * float((own.mean(0) - mean).square().sum())
        within += float((own - own.mean(0)).square().sum())
    return between / within if within > 0 else float("inf")
