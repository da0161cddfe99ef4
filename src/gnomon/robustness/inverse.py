"""Tests whether a network is invertible, by its Jacobian and by its ``inverse`` method if it has one.

    J(x) = df / dx,   lost = directions with singular value below 1e-6 of the largest,   condition = s_max / s_min  (1)
    error = max |inverse(f(x)) - x| / max |x|      for modules with ``inverse``                                     (2)

Reference: [jacobsen2018revnet], [behrmann2021understanding].
"""

from dataclasses import dataclass
from math import inf
from typing import Any

from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import decisions as kinds
from gnomon.robustness.distances import _real
from gnomon.robustness.jacobian import jacobian_spectrum

__all__ = ["InvertibilityCheck", "invertibility"]

MAX_EXAMPLES = 8
"""Examples used, at most."""
MIN_SINGULAR_VALUE_SHARE = 1e-6
"""Share of the largest singular value below which a direction is lost in the rounding of float32."""
MAX_RECONSTRUCTION_ERROR = 1e-3
"""Relative error of a reconstruction that exceeds rounding in float32."""


@dataclass(frozen=True, slots=True)
class InvertibilityCheck(Result):
    """Result of an invertibility test: the smallest rank of the input Jacobian, and its median condition number.

    The condition number is infinite if directions are lost. ``log_det`` is log sqrt(det J^T J), which is log |det J|
    for a square J, if none is lost. ``error`` is (2) if the module has an inverse.

    >>> InvertibilityCheck(4, 4, 2.0, 0.0, 1e-7).invertible
    True
    """

    inputs: int
    kept: int
    condition: float
    log_det: float | None
    error: float | None

    @property
    def invertible(self) -> bool:
        """Returns whether the network loses no input direction and its ``inverse`` method, if any, reconstructs the
        inputs.
        """
        return self.kept == self.inputs and (self.error is None or self.error < MAX_RECONSTRUCTION_ERROR)

    @property
    def verdict(self) -> str:
        """States how many input directions can be recovered from the outputs."""
        kept = f"{self.kept} of {self.inputs} input directions can be recovered from the outputs"
        number = "" if self.condition == inf else f", with condition number {self.condition:.3g}"
        back = "" if self.error is None else f"; its inverse reconstructs inputs with error {self.error:.1e}"
        return f"{kept}{number}{back}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the network's ``inverse`` method does not reconstruct the inputs."""
        if self.error is None or self.error < MAX_RECONSTRUCTION_ERROR:
            return ()

        evidence = (Value("error", self.error), Value("condition number", self.condition))
        return (Finding(kinds.INVERSE_UNSTABLE, "", {"error": self.error}, evidence, 0.0),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots how many input directions can be recovered from the outputs, and how many are lost."""
        bars = Bars("directions", ["kept", "lost"], [self.kept, self.inputs - self.kept])
        return (Plot("Input directions that survive", (bars,), Axis("directions")),)


@add_call_to_errors
def invertibility(module: nn.Module, data: Any) -> InvertibilityCheck:
    """Tests whether a network's inputs can be recovered from its outputs.

    See equations (1), (2) of the module docstring.

    Args:
        module: any network of one real tensor; one with a method ``inverse`` is also tested with it.
        data: inputs, or data, of which the first eight examples are used.

    Hypotheses: (1) is local: a network may still send two inputs far apart to one output.
    Reference: [jacobsen2018revnet], [behrmann2021understanding].
    Cost: a backward pass for each output, and the singular values of each Jacobian.

    >>> import torch
    >>> net = nn.Linear(3, 2, bias=False)
    >>> invertibility(net, torch.randn(4, 3)).kept
    2
    """
    check_weights(module)
    inputs = _real(as_input_source(data, module).first(MAX_EXAMPLES).x).detach()
    values = jacobian_spectrum(module, inputs, examples=MAX_EXAMPLES).values
    size = inputs[0].numel()
    kept = int((values > MIN_SINGULAR_VALUE_SHARE * values[:, :1]).sum(1).min())
    square = values.shape[1] == size
    whole = square and kept == size
    condition = float((values[:, 0] / values[:, -1]).median()) if whole else inf
    volume = float(values.log().sum(1).median()) if whole else None  # (1)
    error = None
    back = getattr(module, "inverse", None)
    if callable(back):
        with preserve(module, grad=False):
            error = float((back(module(inputs)) - inputs).abs().max() / inputs.abs().max().clamp(min=1e-30))  # (2)
    return InvertibilityCheck(size, kept, condition, volume, error)
