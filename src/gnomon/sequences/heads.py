"""Measures how much each attention head matters, by switching it off.

    effect(h) = |f(x) - f_without_h(x)| / |f(x) - mean f(x)|                                               (1)

A head is switched off by setting its columns of the output projection to zero.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call

from gnomon.core.errors import InputError, names_call
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples

__all__ = ["HeadAblation", "head_ablation"]

NO_EFFECT_TOLERANCE = 1e-6
"""Relative effect that counts as zero: the rounding error of float32."""


@dataclass(frozen=True, slots=True)
class HeadAblation(Result):
    """Result: how much the output changes if each attention head is switched off, by the name of its module.

    See equation (1) of the module docstring.

    >>> HeadAblation({"layer": (0.0, 0.3)}).dead
    (('layer', 0),)
    """

    effects: dict[str, tuple[float, ...]]

    @property
    def dead(self) -> tuple[tuple[str, int], ...]:
        """Returns the attention heads that can be switched off without changing the output."""
        return tuple(
            (name, i) for name, row in self.effects.items() for i, e in enumerate(row) if e <= NO_EFFECT_TOLERANCE
        )

    @property
    def verdict(self) -> str:
        """States how much switching off one attention head changes the output, from the least to the most."""
        flat = [e for row in self.effects.values() for e in row]
        return f"Switching off one of {len(flat)} heads changes the outputs by {min(flat):.1%} to {max(flat):.1%}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding for each attention head that can be switched off without effect."""
        return tuple(
            Finding(kinds.DEAD_HEAD, name, {"head": i}, (Value("effect", self.effects[name][i]),), 0.0)
            for name, i in self.dead
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots for each attention head how much the output changes without it."""
        names = [f"{name} head {i}" for name, row in self.effects.items() for i in range(len(row))]
        bars = Bars("effect", names, [e for row in self.effects.values() for e in row])
        return (Plot("Outputs without one head", (bars,), Axis("relative change")),)


@names_call
def head_ablation(module: nn.Module, data: Any) -> HeadAblation:
    """Switches off every head of every nn.MultiheadAttention in turn and measures how much the output changes.

    Hypotheses: attention is an nn.MultiheadAttention; the output is one tensor.
    Reference: [michel2019sixteen].
    Cost: one forward pass for each head; the module is not changed.

    >>> import torch
    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> _ = layer.self_attn.out_proj.weight.data[:, 4:].zero_()          # the second head
    >>> head_ablation(layer, torch.randn(3, 5, 8)).dead
    (('self_attn', 1),)
    """
    check_module(module)
    found = [(name, m) for name, m in module.named_modules() if isinstance(m, nn.MultiheadAttention)]
    if not found:
        what = f"{type(module).__name__} contains no nn.MultiheadAttention"
        raise InputError(what, accepted="at least one nn.MultiheadAttention", fix="Pass a network that has one")
    x = first_examples(data, module)
    effects: dict[str, tuple[float, ...]] = {}
    with preserve(module, grad=False):
        whole = _outputs(run(module, x))
        size = float((whole - whole.mean(0)).norm()) or 1.0
        for name, m in found:
            row = []
            for h in range(m.num_heads):
                weight = m.out_proj.weight.detach().clone()
                weight[:, h * m.head_dim : (h + 1) * m.head_dim] = 0.0
                path = f"{name}.out_proj.weight" if name else "out_proj.weight"
                changed = _outputs(_with(module, {path: weight}, x))
                row.append(float((changed - whole).norm()) / size)  # (1)
            effects[name] = tuple(row)
    return HeadAblation(effects)


def _with(module: nn.Module, state: dict[str, Tensor], x: Any) -> Any:
    if isinstance(x, dict):
        return functional_call(module, state, (), x)
    return functional_call(module, state, x if isinstance(x, tuple) else (x,))


def _outputs(out: Any) -> Tensor:
    out = out[0] if isinstance(out, tuple | list) else getattr(out, "logits", out)
    if not isinstance(out, Tensor):
        raise InputError(
            f"forward returns a {type(out).__name__}",
            accepted="one tensor",
            fix="Wrap the module so that it returns one tensor",
        )
    return out.double().flatten(1)
