"""Measures how open the gates of an LSTM or GRU are, and for how many steps each unit keeps its content.

    LSTM: c_t = f c_{t-1} + i g,   GRU: h_t = z h_{t-1} + (1 - z) n;      kept share k = f or z            (1)
    time scale of a unit = -1 / mean over time of log k                                                    (2)

After this number of steps a unit holds 1/e of its content. Reference: [hochreiter1997long].
"""

from dataclasses import dataclass
from math import exp, inf
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds

__all__ = ["GateStatistics", "gate_statistics"]

MAX_EXAMPLES = 64
"""Maximum number of sequences used."""
MIN_KEPT_SHARE = 1e-3
"""If no unit keeps more than this share of its content over the lag, the lag is out of reach, as in `memory_length`."""


@dataclass(frozen=True, slots=True)
class GateStatistics(Result):
    """Result: the mean gate values of each LSTM or GRU layer, and for how many steps its units keep their content.

    See equation (2) of the module docstring.
    ``gates`` has the mean of each gate by name for each layer: input, forget and output of an LSTM; reset and update
    of a GRU. ``asked`` is the lag that the task needs, if given.

    >>> round(GateStatistics(("rnn.l0",), ({"forget": 0.5},), ((1.4, 9.5),)).longest, 3)
    9.5
    """

    layers: tuple[str, ...]
    gates: tuple[dict[str, float], ...]
    scales: tuple[tuple[float, ...], ...]
    asked: int | None = None

    @property
    def longest(self) -> float:
        """Returns the largest number of steps for which any unit keeps its content."""
        return max(max(row) for row in self.scales)

    @property
    def verdict(self) -> str:
        """Says for how many steps the LSTM's or GRU's units keep their content."""
        flat = sorted(s for row in self.scales for s in row)
        middle = flat[len(flat) // 2]
        kept = f"for {middle:.3g} steps, the best unit for {flat[-1]:.3g}"
        return f"Half of the {len(flat)} gated units keep their content {kept}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if no unit keeps its content over the lag that the task needs."""
        if self.asked is None or exp(-self.asked / self.longest) >= MIN_KEPT_SHARE:
            return ()
        left = exp(-self.asked / self.longest)

        values = {"longest": self.longest, "lag": self.asked, "left": left}
        evidence = (Value("longest time scale", self.longest), Value("share left", left))
        return (Finding(kinds.GATES_FORGET, values=values, evidence=evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the longest time for which units of each layer keep their content, and the mean gate values."""
        longest = Bars("longest", list(self.layers), [min(row[-1], 1e9) for row in self.scales])
        names = [f"{layer} {g}" for layer, row in zip(self.layers, self.gates, strict=True) for g in row]
        means = Bars("mean", names, [v for row in self.gates for v in row.values()])
        return (
            Plot("How long units remember", (longest,), Axis("steps", log=True)),
            Plot("How open gates are", (means,), Axis("mean gate")),
        )


@add_call_to_errors
def gate_statistics(module: nn.Module, data: Any, *, lag: int | None = None) -> GateStatistics:
    """Measures the gates of every nn.LSTM and nn.GRU on data, and for how many steps units keep their content.

    See equation (2) of the module docstring.

    Args:
        module: a network with at least one nn.LSTM or nn.GRU.
        data: inputs, or a data set; the first 64 examples are used.
        lag: the number of steps back at which the answer lies.

    Hypotheses: layers have no projections (proj_size), and sequences are padded, not packed.
    Reference: [hochreiter1997long].
    Cost: one forward pass, and a second pass through the recurrences step by step.

    >>> net = nn.LSTM(2, 3, batch_first=True)
    >>> for p in net.parameters(): _ = p.data.zero_()
    >>> found = gate_statistics(net, torch.randn(4, 5, 2))          # all gates are one half
    >>> found.gates[0]["forget"], round(found.longest * torch.log(torch.tensor(2.0)).item(), 5)
    (0.5, 1.0)
    """
    check_module(module)
    asked = None if lag is None else check_integer("lag", lag)
    found = [(name, m) for name, m in module.named_modules() if isinstance(m, nn.LSTM | nn.GRU)]
    if not found:
        what = f"{type(module).__name__} contains no nn.LSTM and no nn.GRU"
        raise InputError(what, accepted="at least one gated layer", fix="Pass a network that has one, or use memory()")
    seen: dict[str, Tensor] = {}
    inputs = as_input_source(data, module).first(MAX_EXAMPLES).x
    with preserve(module, grad=False):
        hooks = [m.register_forward_pre_hook(_watch(name, seen)) for name, m in found]
        try:
            run_module(module, inputs)
        finally:
            for hook in hooks:
                hook.remove()
        rows = [row for name, m in found if name in seen for row in _layer(name, m, seen[name])]
    if not rows:
        raise InputError(
            "forward never calls a gated layer",
            accepted="at least one call",
            fix="Pass inputs for which forward calls the LSTM or GRU",
        )
    return GateStatistics(tuple(r[0] for r in rows), tuple(r[1] for r in rows), tuple(r[2] for r in rows), asked)


def _watch(name: str, seen: dict[str, Tensor]) -> Any:
    def hook(m: nn.Module, args: tuple[Any, ...]) -> None:
        if not isinstance(args[0], Tensor):
            found = f"'{name}' receives a {type(args[0]).__name__}"
            raise InputError(found, accepted="padded sequences", fix="Pass tensors instead of packed sequences")
        x = args[0].detach()
        x = x if x.dim() == 3 else x.unsqueeze(0 if getattr(m, "batch_first", False) else 1)
        seen[name] = x if getattr(m, "batch_first", False) else x.transpose(0, 1)

    return hook


def _layer(name: str, m: nn.LSTM | nn.GRU, x: Tensor) -> list[tuple[str, dict[str, float], tuple[float, ...]]]:
    """Returns one row per layer and direction of an LSTM or GRU: name, mean gates, and time scales of the units."""
    if m.proj_size:
        raise InputError(f"'{name}' has proj_size", accepted="states without projection", fix="Use proj_size=0")
    rows = []
    for layer in range(m.num_layers):
        outputs = []
        for suffix in ("", "_reverse")[: 1 + m.bidirectional]:
            place = f"l{layer}{suffix}"
            read = x.flip(1) if suffix else x
            states, gates = _run(m, place, read)
            keep = gates["forget" if isinstance(m, nn.LSTM) else "update"]
            logs = keep.double().clamp(min=1e-30).log().mean((0, 1))
            scales = sorted((-1.0 / v if v < 0 else inf) for v in logs.tolist())  # (2)
            rows.append((f"{name}.{place}".strip("."), {k: float(g.mean()) for k, g in gates.items()}, tuple(scales)))
            outputs.append(states.flip(1) if suffix else states)
        x = torch.cat(outputs, 2)
    return rows


def _run(m: nn.LSTM | nn.GRU, place: str, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns all states of one LSTM or GRU layer in one direction, and its gates (n, times, units)."""
    w, u = getattr(m, f"weight_ih_{place}"), getattr(m, f"weight_hh_{place}")
    bias = [getattr(m, f"bias_{k}_{place}") if m.bias else w.new_zeros(len(w)) for k in ("ih", "hh")]
    h = c = x.new_zeros(len(x), m.hidden_size)
    states: list[Tensor] = []
    kept: list[tuple[Tensor, ...]] = []
    gates: tuple[Tensor, ...]
    for t in range(x.shape[1]):
        a, b = nn.functional.linear(x[:, t], w, bias[0]), nn.functional.linear(h, u, bias[1])
        if isinstance(m, nn.LSTM):
            i, f, g, o = (a + b).chunk(4, 1)
            i, f, o = i.sigmoid(), f.sigmoid(), o.sigmoid()
            c = f * c + i * g.tanh()
            h, gates = o * c.tanh(), (i, f, o)
        else:
            (ra, za, na), (rb, zb, nb) = a.chunk(3, 1), b.chunk(3, 1)
            r, z = (ra + rb).sigmoid(), (za + zb).sigmoid()
            h, gates = z * h + (1 - z) * (na + r * nb).tanh(), (r, z)  # (1)
        states.append(h)
        kept.append(gates)
    names = ("input", "forget", "output") if isinstance(m, nn.LSTM) else ("reset", "update")
    return torch.stack(states, 1), {name: torch.stack([g[i] for g in kept], 1) for i, name in enumerate(names)}
