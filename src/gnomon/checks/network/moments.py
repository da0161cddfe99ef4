"""Measures how the mean and standard deviation of each layer's outputs change during training.

    shift = rms over units of |mean_1 - mean_0| / std_0,    ratio = mean over units of std_1 / std_0             (1)

Hypotheses: checkpoints of one architecture. Reference: [ioffe2015batch]; [santurkar2018how].

>>> ActivationMomentShift({"0": (0.0, 0.5)}, {"0": (1.0, 2.0)}).verdict[:26]
"The outputs of '0' moved m"
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.capture import capture_layer_outputs, layer_names, outputs_of_layers
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = ["ActivationMomentShift", "activation_moment_shift"]


@dataclass(frozen=True, slots=True)
class ActivationMomentShift(Result):
    """Result: for each layer and checkpoint, how far the units' means moved, and the ratio of their standard
    deviations.
    """

    means: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]

    @property
    def verdict(self) -> str:
        """Names the layer whose outputs moved most during training, with numbers."""
        name = max(self.means, key=lambda n: self.means[n][-1])
        return (
            f"The outputs of '{name}' moved most: their means by {self.means[name][-1]:.2g} standard deviations; the "
            f"standard deviations changed by the factor {self.deviations[name][-1]:.2g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots for each layer how far the means of its units moved, over the checkpoints of the run."""
        lines = tuple(Line(name, range(len(row)), row) for name, row in self.means.items())
        return (Plot("Shift of layers", lines, Axis("checkpoint"), Axis("shift in standard deviations"), self.verdict),)


@add_call_to_errors
def activation_moment_shift(checkpoints: Sequence[nn.Module], data: Any) -> ActivationMomentShift:
    """Measures how the mean and standard deviation of each layer's units change over checkpoints of a run.

    See equation (1) of the module docstring.
    Hypotheses: one architecture; the first checkpoint is the start. Reference: [santurkar2018how].
    Cost: a forward pass of each checkpoint, and the outputs of all layers in memory.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(1, 1))
    >>> activation_moment_shift([net, net], torch.randn(8, 1)).means
    {'0': (0.0, 0.0)}
    """
    if len(checkpoints) < 2:
        raise InputError(
            f"there are {len(checkpoints)} checkpoints", accepted="at least two", fix="Pass more checkpoints of the run"
        )
    for one in checkpoints:
        check_weights(one)
    inputs = all_inputs(data, checkpoints[0])
    first = checkpoints[0]
    names = [name for name in layer_names(first) if any(True for _ in first.get_submodule(name).parameters())]
    with preserve(first, grad=False), capture_layer_outputs(first, names) as kept:
        run_module(first, take_examples(inputs, slice(0, 1)))
        # Leaves out layers that were never called. Attention reads its output layer's weights without calling the
        # layer.
        names = [name for name in names if name in kept]
    if not names:
        raise InputError(
            "no layer has parameters",
            accepted="layers with outputs to follow",
            fix="Pass a network with layers that have parameters",
        )
    rows = [{name: _moments(h) for name, h in outputs_of_layers(m, inputs, names).items()} for m in checkpoints]
    means, deviations = {}, {}
    for name in names:
        mean, std = rows[0][name]
        means[name] = tuple(float(((r[name][0] - mean) / std.clamp_min(1e-30)).square().mean().sqrt()) for r in rows)
        deviations[name] = tuple(float((r[name][1] / std.clamp_min(1e-30)).mean()) for r in rows)  # (1)
    return ActivationMomentShift(means, deviations)


def _moments(h: Tensor) -> tuple[Tensor, Tensor]:
    units = h.double().movedim(1, 0).flatten(1) if h.dim() > 1 else h.double()[None]
    return units.mean(1), units.std(1)
