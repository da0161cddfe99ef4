"""Measures how much each attention head matters, by switching it off.

    effect(h) = |f(x) - f_without_h(x)| / |f(x) - mean f(x)|                                               (1)

A head is switched off by setting what it adds to the values of each token to zero.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples
from gnomon.sequences.observe import Head, observe_attention, run_without_head

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


@add_call_to_errors
def head_ablation(module: nn.Module, data: Any) -> HeadAblation:
    """Switches off every attention head of a network in turn and measures how much the output changes.

    Finds ``nn.MultiheadAttention``, ``scaled_dot_product_attention``, and any product of a softmax with values, so
    that networks of other libraries need no changes.
    Hypotheses: attention computes softmax(q k^T) v, with one axis for the heads.
    Reference: [michel2019sixteen].
    Cost: one forward pass for each head; the module is not changed.

    >>> import torch
    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> _ = layer.self_attn.out_proj.weight.data[:, 4:].zero_()          # the second head
    >>> head_ablation(layer, torch.randn(3, 5, 8)).dead
    (('self_attn', 1),)
    """
    check_module(module)
    x = first_examples(data, module)
    calls = observe_attention(module, x)
    whole = _outputs(run_without_head(module, x, None))
    size = float((whole - whole.mean(0)).norm()) or 1.0
    effects: dict[str, tuple[float, ...]] = {}
    for number, call in enumerate(calls):
        changed = (_outputs(run_without_head(module, x, Head(number, h))) for h in range(call.heads))
        effects[call.name] = tuple(float((other - whole).norm()) / size for other in changed)  # (1)
    return HeadAblation(effects)


def _outputs(returned: Any) -> Tensor:
    return output_tensor(returned).double().flatten(1)
