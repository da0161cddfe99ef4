"""Measures how closely a residual network follows the differential equation that its blocks approximate.

    h_{t+1} = h_t + f_t(h_t),  t < L:    Euler steps of  dh/ds = f(s, h),  f(t, .) = f_t, straight lines between   (1)
    gap = |h_L - h(L)| / |h_L - h_0|,    h(L) by ``refine`` steps of fourth order in each block                     (2)

A small gap says that blocks change little from one to the next, and that depth could be refined or thinned; near one,
the network uses its blocks as separate layers. Reference: [chen2018neural], [sander2022residual].
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = ["ResidualNetworkOdeGap", "residual_network_ode_gap"]

MAX_EXAMPLES = 64
"""Examples used, at most."""


@dataclass(frozen=True, slots=True)
class ResidualNetworkOdeGap(Result):
    """Result: how far a residual network is from the differential equation that its blocks approximate, and the change
    by each block.

    See equation (2) of the module docstring.

    >>> ResidualNetworkOdeGap(("0", "1"), 0.01, (0.1, 0.1), (0.02,)).verdict
    'The 2 blocks agree up to 1.0% with the differential equation that they discretize; one block changes the state by
    up to 10% of the state.'
    """

    layers: tuple[str, ...]
    gap: float
    steps: tuple[float, ...]
    changes: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Says in one sentence how far the residual network is from its differential equation."""
        return (
            f"The {len(self.layers)} blocks agree up to {self.gap:.1%} with the differential equation that they "
            f"discretize; one block changes the state by up to {max(self.steps):.0%} of the state."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how much each residual block changes the state, and how much consecutive blocks differ."""
        lines = (
            Line("step", list(range(len(self.steps))), list(self.steps)),
            Line("change of the map", list(range(len(self.changes))), list(self.changes)),
        )
        return (Plot("Depth as time", lines, Axis("block"), Axis("relative size")),)


@add_call_to_errors
def residual_network_ode_gap(module: nn.Module, data: Any, *, refine: int = 4) -> ResidualNetworkOdeGap:
    """Measures how far a residual network is from the differential equation that its blocks approximate.

    See equation (2) of the module docstring.
    Blocks are the longest chain of parts that are called one after the other, each on what the last has returned, with
    outputs of the shape of inputs; f_t(h) = block_t(h) - h.
    Args:
        module: with at least two such blocks.
        data: inputs, or data, of which the first 64 examples are used.
        refine: steps of fourth order in the place of each block.

    Hypotheses: blocks are functions of one tensor.
    Reference: [chen2018neural], [sander2022residual].
    Cost: one forward pass, and 8 x refine evaluations of each block.

    >>> import torch
    >>> class Step(nn.Module):
    ...     def forward(self, h):
    ...         return h + 0.5 * h
    >>> net = nn.Sequential(Step(), Step())                          # (1.5^2 - e) / (1.5^2 - 1)
    >>> round(residual_network_ode_gap(net, torch.ones(1, 2, dtype=torch.float64)).gap, 3)
    0.375
    """
    check_weights(module)
    fine = check_integer("refine", refine)
    inputs = as_input_source(data, module).first(MAX_EXAMPLES).x
    with preserve(module, grad=False):
        names, start = _chain(module, inputs)
        blocks = [module.get_submodule(name) for name in names]
        states, fields = [start], []
        for block in blocks:
            after = block(states[-1])
            fields.append(after - states[-1])
            states.append(after)
        refined = _flow(blocks, start, fine)
        gap = float((states[-1] - refined).norm() / (states[-1] - start).norm().clamp(min=1e-30))  # (2)
        steps = tuple(float(f.norm() / h.norm().clamp(min=1e-30)) for f, h in zip(fields, states[:-1], strict=True))
        changes = tuple(
            float((blocks[t + 1](h) - h - fields[t]).norm() / fields[t].norm().clamp(min=1e-30))
            for t, h in enumerate(states[: len(blocks) - 1])
        )
    return ResidualNetworkOdeGap(tuple(names), gap, steps, changes)


def _flow(blocks: list[nn.Module], h: Tensor, fine: int) -> Tensor:
    """Solves the differential equation that the residual blocks approximate, by the fourth-order Runge-Kutta method."""

    def field(s: float, state: Tensor) -> Tensor:
        t = min(int(s), len(blocks) - 1)
        now = blocks[t](state) - state
        if t + 1 == len(blocks) or s == t:
            return now
        return now + (s - t) * (blocks[t + 1](state) - state - now)  # linear interpolation

    dt, s = 1.0 / fine, 0.0
    for i in range(len(blocks) * fine):
        s = i * dt
        k1 = field(s, h)
        k2 = field(s + dt / 2, h + dt / 2 * k1)
        k3 = field(s + dt / 2, h + dt / 2 * k2)
        k4 = field(s + dt, h + dt * k3)
        h = h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return h


def _chain(module: nn.Module, x: Any) -> tuple[list[str], Tensor]:
    """Finds the longest chain of residual blocks; returns their names and the input of the first one."""
    calls: list[tuple[str, Tensor, Tensor]] = []
    hooks = [m.register_forward_hook(_note(name, calls)) for name, m in module.named_modules() if name]
    try:
        run_module(module, x)
    finally:
        for hook in hooks:
            hook.remove()
    best: list[int] = []
    for first in range(len(calls)):
        chain = [first]
        for i in range(first + 1, len(calls)):
            if calls[i][1] is calls[chain[-1]][2] and calls[i][0].count(".") == calls[first][0].count("."):
                chain.append(i)
        best = chain if len(chain) > len(best) else best
    if len(best) < 2:
        found = "no two consecutive blocks keep the shape"
        raise InputError(
            found, accepted="residual blocks of one width", fix="Pass the submodule that contains the residual blocks"
        )
    return [calls[i][0] for i in best], calls[best[0]][1]


def _note(name: str, calls: list[tuple[str, Tensor, Tensor]]) -> Any:
    def hook(m: nn.Module, args: tuple[Any, ...], out: Any) -> None:
        if len(args) == 1 and isinstance(args[0], Tensor) and isinstance(out, Tensor) and out.shape == args[0].shape:
            calls.append((name, args[0], out))

    return hook
