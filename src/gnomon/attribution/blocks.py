"""Measures how much each block of a network matters by skipping the block.

    effect(b) = |f(x) - f_without_b(x)| / |f(x) - mean f(x)|                                               (1)

A block whose output has the shape of its input is left out by passing its input on. Residual networks lose little with
each block because they are sums of many paths [veit2016residual].
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.classes import are_classes, one_hot
from gnomon.core.inputs.source import as_input_source
from gnomon.core.metrics import accuracy
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import decisions as kinds

__all__ = ["BlockAblation", "block_ablation"]

MAX_EXAMPLES = 256
"""Maximum number of examples used."""
NO_EFFECT_TOLERANCE = 1e-6
"""Relative effect that counts as zero: the rounding error of float32."""


@dataclass(frozen=True, slots=True)
class BlockAblation(Result):
    """Result: how much the output changes if each block of a network is skipped; for classifiers also the accuracy.

    >>> BlockAblation({"1": 0.0, "2": 0.4}).dead
    ('1',)
    """

    effects: dict[str, float]
    accuracy: float | None = None
    without: dict[str, float] | None = None

    @property
    def dead(self) -> tuple[str, ...]:
        """Returns the names of blocks that can be skipped without changing the output."""
        return tuple(name for name, e in self.effects.items() if e <= NO_EFFECT_TOLERANCE)

    @property
    def verdict(self) -> str:
        """Reports the smallest and largest effect of skipping a block, in one sentence."""
        text = (
            f"Leaving out one of {len(self.effects)} blocks changes the outputs by {min(self.effects.values()):.1%} to "
            f"{max(self.effects.values()):.1%}"
        )
        if self.accuracy is None or not self.without:
            return f"{text}."
        worst = min(self.without, key=self.without.__getitem__)
        return f"{text}; accuracy falls from {self.accuracy:.1%} to {self.without[worst]:.1%} without '{worst}'."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding for each block that can be skipped without effect."""
        return tuple(
            Finding(kinds.DEAD_BLOCK, name, {}, (Value("effect", self.effects[name]),), 0.0) for name in self.dead
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the change of the output for each skipped block as a bar."""
        bars = Bars("effect", list(self.effects), list(self.effects.values()))
        return (Plot("Outputs without one block", (bars,), Axis("relative change")),)


@add_call_to_errors
def block_ablation(module: nn.Module, data: Any) -> BlockAblation:
    """Skips each block of a network in turn (ablation) and measures how much the output changes.

    See equation (1) of the module docstring.
    Blocks are the outermost parts with parameters whose output has the shape of their input. The whole module does not
    count as a block.
    Args:
        module: any network with such parts.
        data: inputs, or a data set; the first 256 examples are used.

    Hypotheses: each block is called once in a forward pass.
    Reference: [veit2016residual].
    Cost: one forward pass for each block; the module is not changed.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    >>> with torch.no_grad(): _ = net[1].weight.copy_(torch.eye(4)), net[1].bias.zero_()
    >>> block_ablation(net, torch.randn(5, 2)).dead
    ('1',)
    """
    check_weights(module)
    batch = as_input_source(data, module).first(MAX_EXAMPLES)
    labels, n = batch.y, count_examples(batch.x)
    with preserve(module, grad=False):
        same: dict[str, bool] = {}
        watched = [(name, m) for name, m in module.named_modules() if name and any(True for _ in m.parameters())]
        hooks = [m.register_forward_hook(_note(name, same)) for name, m in watched]
        try:
            whole = _outputs(module, batch.x, n)
        finally:
            for hook in hooks:
                hook.remove()
        names = [name for name, good in same.items() if good and not _inside(name, same)]
        if not names:
            found = "no submodule returns an output of the same shape as its input"
            raise InputError(found, accepted="blocks of constant width", fix="Pass a network with residual blocks")
        if labels is not None and are_classes(labels) and whole.shape[1] > 1:
            one_hot(labels, whole.shape[1])  # Called for its check: raises an error for labels beyond the outputs.
        size = float((whole - whole.mean(0)).norm()) or 1.0
        effects, right = {}, {}
        for name in names:
            handle = module.get_submodule(name).register_forward_hook(lambda m, args, out: args[0])
            try:
                changed = _outputs(module, batch.x, n)
            finally:
                handle.remove()
            effects[name] = float((changed - whole).norm()) / size  # (1)
            right[name] = None if labels is None else accuracy(changed.float(), labels)
    own = None if labels is None else accuracy(whole.float(), labels)
    without = {name: r for name, r in right.items() if r is not None}
    return BlockAblation(effects, own, without or None)


def _note(name: str, same: dict[str, bool]) -> Any:
    def hook(m: nn.Module, args: tuple[Any, ...], out: Any) -> None:
        both = bool(args) and isinstance(args[0], Tensor) and isinstance(out, Tensor)
        same[name] = both and args[0].shape == out.shape and args[0].dtype == out.dtype

    return hook


def _inside(name: str, same: dict[str, bool]) -> bool:
    """Returns whether the block is inside a larger block that is skipped as a whole."""
    parts = name.split(".")
    return any(same.get(".".join(parts[:i]), False) for i in range(1, len(parts)))


def _outputs(module: nn.Module, x: Any, n: int) -> Tensor:
    return output_rows(run_module(module, x), n).double()
