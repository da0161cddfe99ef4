"""Measures which outputs of a sequence network depend on which inputs; a decoder may depend only on the past.

    D[t, s] = max over examples of |y_t(x with x_s of another example) - y_t(x)| / max |y|                 (1)

A causal network has D[t, s] = 0 for s > t, exactly. Works for tokens and for real inputs, and needs no gradients.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Finding, Image, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples, replace_argument, sequence_argument

__all__ = ["CausalityCheck", "causality", "predicts_next"]

NO_EFFECT_TOLERANCE = 1e-5
"""Relative change that counts as zero: float32 sums in another order change outputs by about 1e-6."""


@dataclass(frozen=True, slots=True)
class CausalityCheck(Result):
    """Result: how much the output at each position depends on the input at each other position.

    See equation (1) of the module docstring.

    >>> CausalityCheck(((1.0, 0.5), (1.0, 1.0))).leaks
    ((0, 1),)
    """

    dependence: tuple[tuple[float, ...], ...]
    shift: int = 0

    @property
    def leaks(self) -> tuple[tuple[int, int], ...]:
        """Returns pairs of output and input positions for which the output depends on an input too far ahead."""
        return tuple(
            (t, s)
            for t, row in enumerate(self.dependence)
            for s, d in enumerate(row)
            if s > t + self.shift and d > NO_EFFECT_TOLERANCE
        )

    @property
    def ahead(self) -> int:
        """Returns the largest number of positions that an output sees ahead of its own position."""
        seen = [s - t for t, row in enumerate(self.dependence) for s, d in enumerate(row) if d > NO_EFFECT_TOLERANCE]
        return max(seen, default=0)

    @property
    def verdict(self) -> str:
        """Says whether every output depends on the past only."""
        if not self.leaks:
            return "Every output depends on the past only."
        return f"Outputs see up to {self.ahead} positions ahead, in {len(self.leaks)} pairs of positions."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if outputs depend on future inputs."""
        if not self.leaks:
            return ()
        t, s = self.leaks[0]

        worst = max(self.dependence[i][j] for i, j in self.leaks)
        values = {"output": t, "input": s, "ahead": self.ahead}
        return (Finding(kinds.SEES_THE_FUTURE, "", values, (Value("relative change", worst),), 0.0),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the matrix of how much each output depends on each input."""
        return (
            Plot(
                "Which outputs see which inputs", (Image("dependence", self.dependence),), Axis("input"), Axis("output")
            ),
        )


@add_call_to_errors
def causality(module: nn.Module, data: Any, *, shift: int = 0) -> CausalityCheck:
    """Changes the inputs of a sequence network position by position and reports which outputs change.

    Args:
        module: takes (n, times, ...), as a tensor or among named arguments, and returns (n, times, ...).
        data: at least two sequences of tokens or real numbers, a dict of arguments, or a data set; values are exchanged
            between sequences.
        shift: how far ahead an output may look; -1 if output t predicts input t.

    Hypotheses: the sequences differ at every position.
    Reference: [vaswani2017attention] for the mask of decoders.
    Cost: a forward pass for each position.

    >>> class Sum(nn.Module):
    ...     def forward(self, x):
    ...         return x.cumsum(1)
    >>> causality(Sum(), torch.randn(3, 5, 2)).leaks
    ()
    """
    check_module(module)
    x = first_examples(data, module)
    if count_examples(x) < 2:
        raise InputError("there is one sequence", accepted="at least two", fix="Pass at least two sequences")
    with preserve(module, grad=False, seed=0):
        first = output_tensor(run_module(module, x)).double()
        place, given = sequence_argument(x, of_length=first.shape[1] if first.dim() > 1 else None)
        first, size = _rows(first), float(first.abs().max()) or 1.0
        other, columns = given.roll(1, 0), []
        for s in range(given.shape[1]):
            changed = given.clone()
            changed[:, s] = other[:, s]
            moved = (
                _rows(output_tensor(run_module(module, replace_argument(x, place, changed))).double()) - first
            ).abs()
            columns.append(moved.flatten(2).amax((0, 2)) / size)  # (1)
    return CausalityCheck(tuple(map(tuple, torch.stack(columns, 1).tolist())), shift)


@add_call_to_errors
def predicts_next(x: Any, y: Tensor) -> bool:
    """Returns whether the targets are the inputs one step later, so that seeing ahead means seeing the answer.

        y_t = x_{t+1}    for all t but the last                                                            (1)

    Hypotheses: inputs are (n, times) or (n, times, features); targets may be flattened.
    Reference: [vaswani2017attention].
    Cost: one pass over the data.

    >>> x = torch.randn(3, 6, 1)
    >>> predicts_next(x[:, :-1], x[:, 1:].flatten(1)), predicts_next(x[:, 1:], x[:, :-1])
    (True, False)
    """
    if not isinstance(x, Tensor) or x.dim() not in (2, 3) or x.shape[1] < 3 or y.numel() != x.numel():
        return False
    later = y.reshape(x.shape).to(x)
    return bool((later[:, :-1] == x[:, 1:]).all()) and not bool((x == x[:, :1]).all())  # (1)


def _rows(outputs: Tensor) -> Tensor:
    return outputs.unsqueeze(2) if outputs.dim() == 2 else outputs
