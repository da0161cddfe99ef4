"""Finds inputs that do not affect the outputs: all inputs, one of several tensors, or part of a tensor.

A feature that varies over examples and whose gradient is zero at every one of them is not seen, unless the network
reads it through a step; then moving all such features between examples changes the outputs. Both must say the same:

    sum over examples of |df/dx_j| = 0 for j in S,    f(x with x_S permuted over examples) = f(x)               (1)

Integer inputs have no gradient; their positions are permuted one by one. An input that changes only the loss that the
model returns, such as targets among its inputs, is used too. Weights that are all zero, as those at the end
of residual branches may begin, are moved away from zero in a copy first: training does so in its first step.

Hypotheses: eval mode; features outside of every window of a stride, such as the last row of an image, are few.

>>> import torch
>>> class First(nn.Module):
...     def forward(self, x):
...         return x[:, :1]
>>> ignored_input_findings(First(), torch.randn(30, 4))[0].kind
'inputs-ignored'
"""

from collections.abc import Mapping
from math import inf

import torch
from torch import Tensor, nn

from gnomon.checks.network.chance import relative_output_distance
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, map_tensors
from gnomon.core.inputs.signature import TARGET_ARGUMENT_NAMES
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import output_rows, run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import most_serious_first
from gnomon.findings import network as kinds

__all__ = ["ignored_input_findings"]

MAX_IGNORED_SHARE = 0.3
"""Share of varying features that may be ignored; a stride that does not fit drops a row and a column."""
NO_EFFECT_TOLERANCE = 1e-6
"""Relative effect on the outputs that counts as zero: the rounding of float32."""
TRIED_POSITIONS = 48
"""Number of positions of integer inputs to try."""


def ignored_input_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if the outputs do not depend on the inputs, or not on a large part of them.

    Cost: a forward and a backward pass, and a forward pass for each tensor of inputs; for integers one for each of at
    most 48 positions.

    >>> ignored_input_findings(nn.Linear(4, 2), torch.randn(30, 4))
    ()
    """
    module = _with_nonzero_weights(module)
    with preserve(module, seed=0):
        first = _outputs(module, x)
        moved = _outputs(module, map_tensors(_turn, x))
        effect = relative_output_distance(first, moved)
        size = float(first.double().abs().max())
        spread = float((first - first.mean(0)).double().abs().max())
        if (
            count_examples(x) > 2
            and spread <= NO_EFFECT_TOLERANCE * size
            and effect <= NO_EFFECT_TOLERANCE + 1e4 * NO_EFFECT_TOLERANCE
        ):
            return _all_of_them(module, x, spread)
        found: list[Finding] = []
        parts = list(input_tensors(x))
        seen = _gradients(module, x)
        targets = {
            id(t)
            for name in TARGET_ARGUMENT_NAMES
            for t in input_tensors(x.get(name) if isinstance(x, Mapping) else None)
        }
        for i, t in enumerate(parts):
            # Skips inputs that are also targets, because a network may use those only in its own loss.
            if id(t) in targets:
                continue
            found += _part(module, x, i, t, seen[i], first, several=len(parts) > 1)
    return most_serious_first(found)[:1]


def _all_of_them(module: nn.Module, x: Inputs, spread: float) -> tuple[Finding, ...]:
    """Reports outputs that are the same for all inputs, and says whether gradients still reach the inputs."""
    evidence = (Value("spread of outputs", spread),)
    if any(g is not None and bool(g.any()) for g in _gradients(module, x)):
        return (Finding(kinds.VANISHED_OUTPUTS, "outputs", {}, evidence, 0.0),)
    return (Finding(kinds.ALL_INPUTS_IGNORED, "inputs", {}, evidence, 0.0),)


def _with_nonzero_weights(module: nn.Module) -> nn.Module:
    """Copies a module and fills all-zero weights with small values, because zero weights would hide whether inputs
    matter.
    """
    asleep = [name for name, p in module.named_parameters()
              if p.requires_grad and not name.endswith("bias") and not bool(p.detach().any())]  # fmt: skip
    if not asleep:
        return module
    copy = copy_module(module)
    own = dict(copy.named_parameters())
    with torch.no_grad():
        for name in asleep:
            own[name].fill_(0.1)
            own[name].view(-1)[::2] *= -1  # Signs alternate, because a normalization layer would remove a constant.
    return copy


def _part(
    module: nn.Module, x: Inputs, i: int, t: Tensor, seen: Tensor | None, first: Tensor, *, several: bool
) -> list[Finding]:
    flat = t.reshape(len(t), -1)
    varies = (flat != flat[:1]).any(0)
    if not bool(varies.any()):
        return []
    if seen is not None:
        unseen = varies & (seen.reshape(len(flat), -1).abs().sum(0) == 0)
    else:
        unseen = _unseen_places(module, x, i, varies, first)
    share = float(unseen.sum() / varies.sum())
    if (
        share < MAX_IGNORED_SHARE
        or _effect(module, first, _permute(x, i, unseen)) > 1e3 * NO_EFFECT_TOLERANCE
        or _changes_own_loss(module, x, _permute(x, i, unseen))
    ):
        return []
    where = f"input {i}" if several else "inputs"
    place = "" if share == 1 or t.dim() < 2 else _place(unseen.reshape(t.shape[1:]))
    row = kinds.TOKENS_IGNORED if several and not t.is_floating_point() else kinds.INPUTS_IGNORED
    row = kinds.ARGUMENT_IGNORED if several and share == 1 else row
    return [Finding(row, where, {"share": share, "place": place}, (Value("share of features", share),), 0.0)]


def _changes_own_loss(module: nn.Module, x: Inputs, moved: Inputs) -> bool:
    """Checks whether the loss that a module itself returns differs after its inputs are changed."""
    with torch.no_grad():
        losses = [run_module(module, inputs) for inputs in (x, moved)]
    before, after = (one.get("loss") if isinstance(one, Mapping) else None for one in losses)
    return isinstance(before, Tensor) and isinstance(after, Tensor) and not torch.equal(before, after)


def _place(unseen: Tensor) -> str:
    """Describes in words which positions along an input's first dimension are ignored."""
    whole = unseen.reshape(len(unseen), -1).all(1).nonzero()[:, 0].tolist()
    if not whole or len(whole) == len(unseen):
        return ""
    return f" (positions {whole[0]} to {whole[-1]} along their first axis)"


def _gradients(module: nn.Module, x: Inputs) -> list[Tensor | None]:
    """Computes gradients of a random sum of the outputs with respect to each real-valued input; None for integer
    inputs.
    """
    tracked = map_tensors(lambda t: t.detach().clone().requires_grad_() if t.is_floating_point() else t, x)
    leaves = [t for t in input_tensors(tracked) if t.requires_grad]
    if not leaves:
        return [None for _ in input_tensors(x)]
    with torch.enable_grad():
        out = output_rows(run_module(module, tracked), count_examples(x))
        weights = torch.rand(out.shape[1], device=out.device, dtype=out.dtype) + 0.5
        value = (out * weights).sum()
        grads = torch.autograd.grad(value, leaves, allow_unused=True) if value.requires_grad else [None] * len(leaves)
    known = iter(torch.zeros_like(t) if g is None else g for t, g in zip(leaves, grads, strict=True))
    return [next(known) if t.is_floating_point() else None for t in input_tensors(x)]


def _unseen_places(module: nn.Module, x: Inputs, i: int, varies: Tensor, first: Tensor) -> Tensor:
    """Finds positions of integer inputs (such as tokens) whose values can be exchanged between examples without
    changing the outputs.
    """
    places = varies.nonzero()[:, 0]
    places = places[torch.linspace(0, len(places) - 1, min(TRIED_POSITIONS, len(places))).long()]
    unseen = torch.zeros_like(varies)
    for place in places.tolist():
        mask = torch.zeros_like(varies)
        mask[place] = True
        unseen[place] = _effect(module, first, _permute(x, i, mask)) <= 10 * NO_EFFECT_TOLERANCE
    if len(places) < int(varies.sum()) and bool(unseen[places].all()):
        unseen = varies.clone()
    return unseen


def _effect(module: nn.Module, first: Tensor, moved: Inputs) -> float:
    """Returns how much changed inputs change the outputs; infinity if the network raises an error, because it then
    reads these inputs.
    """
    try:
        return relative_output_distance(first, _outputs(module, moved))
    except InputError:
        return inf


def _permute(x: Inputs, i: int, mask: Tensor) -> Inputs:
    """Moves some features of one input tensor to the next example, so that features and examples no longer match."""
    numbers = iter(range(10**6))

    def change(t: Tensor) -> Tensor:
        if next(numbers) != i:
            return t
        flat = t.reshape(len(t), -1).clone()
        flat[:, mask] = flat.roll(1, 0)[:, mask]
        return flat.reshape(t.shape)

    return map_tensors(change, x)


def _turn(t: Tensor) -> Tensor:
    return t.roll(1, 0)


def _outputs(module: nn.Module, x: Inputs) -> Tensor:
    with torch.no_grad():
        return run_to_rows(module, x).detach().clone()
