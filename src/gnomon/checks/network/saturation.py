"""Finds sigmoid and tanh layers that are saturated: their outputs are near the ends of the range, so gradients are
tiny.

A unit is saturated at an example if its slope is below 2 % of the largest: |tanh| > 0.99, or a sigmoid beyond 0.005
of either end. With inputs of size one and usual weights this is rare; a layer in which most units stand there hardly
learns. The states of RNN and GRU are values of tanh, or between such values, and are judged in the same way.

Reference: [glorot2010understanding].

>>> import torch
>>> net = nn.Sequential(nn.Linear(4, 50), nn.Tanh(), nn.Linear(50, 2))
>>> saturation_findings(net, torch.randn(20, 4)), saturation_findings(net, 1e4 * torch.randn(20, 4))[0].kind
((), 'saturated-units')
"""

from functools import partial
from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import network as kinds

__all__ = ["saturation_findings"]

MAX_SATURATED_SHARE = 0.5
"""Share of saturated numbers above which a layer hardly learns: three such layers pass less than an eighth of the
gradient."""
ENDS = {nn.Tanh: (-1.0, 1.0), nn.Sigmoid: (0.0, 1.0), nn.Softsign: (-1.0, 1.0), nn.RNN: (-1.0, 1.0),
        nn.GRU: (-1.0, 1.0)}  # fmt: skip
END_OF_RANGE_SHARE = 0.005
"""Share of the range that counts as its end."""


def saturation_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports the first sigmoid or tanh layer whose outputs are mostly near the ends of their range.

    Functions in ``forward`` are not seen. The last layer of the module is not judged: there an end may be meant.

    Reference: [glorot2010understanding].
    Cost: one forward pass.

    >>> import torch
    >>> saturation_findings(nn.Linear(2, 2), torch.randn(5, 2))
    ()
    """
    shares: dict[str, float] = {}

    def look(name: str, ends: tuple[float, float], part: nn.Module, args: Any, out: Any) -> None:
        low, high = ends
        out = next(
            iter(input_tensors(out))
        )  # A recurrent layer returns (all states, last state); this takes all states.
        edge = END_OF_RANGE_SHARE * (high - low)
        at_end = (out.detach() < low + edge) | (out.detach() > high - edge)
        shares.setdefault(name, float(at_end.double().mean()))

    named = [
        (name, part)
        for name, part in module.named_modules()
        if type(part) in ENDS and getattr(part, "nonlinearity", "tanh") == "tanh" and not getattr(part, "proj_size", 0)
    ]
    with preserve(module, grad=False):
        handles = [part.register_forward_hook(partial(look, name, ENDS[type(part)])) for name, part in named]
        try:
            outputs = run_module(module, x)
        finally:
            for handle in handles:
                handle.remove()
    if shares and isinstance(outputs, Tensor) and named[-1][1] is _last(module):
        shares.pop(named[-1][0], None)
    name = next((name for name, share in shares.items() if share > MAX_SATURATED_SHARE), None)
    if name is None:
        return ()
    evidence = (Value("share at the end of the range", shares[name]), Value("accepted share", MAX_SATURATED_SHARE))
    return (Finding(kinds.SATURATED_UNITS, name, {"share": shares[name]}, evidence),)


def _last(module: nn.Module) -> nn.Module:
    return [part for part in module.modules() if not list(part.children())][-1]
