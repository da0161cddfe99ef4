"""Measures how well a network predicts text, in bits per character, compared with character counts.

    bits = -mean over t of log2 p(c_{t+1} | c_1 ... c_t)                                                   (1)
    counts: -sum_c q(c) log2 q(c),    pairs: -sum_ab q(ab) log2 q(b | a)                                   (2)

2^bits is the perplexity. The entropies (2) come from the same text: no model based on counts alone can do better.
Reference: [shannon1951prediction].
"""

from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds

__all__ = ["BitsPerCharacter", "bits_per_character"]


@dataclass(frozen=True, slots=True)
class BitsPerCharacter(Result):
    """Result: the bits per character that a network needs, and that counts of characters and of pairs need.

    See equations (1) and (2) of the module docstring.

    >>> BitsPerCharacter(1.5, 4.0, 3.0, 1000).verdict
    'The network needs 1.5 bits per character; counts of characters need 4, counts of pairs 3.'
    """

    bits: float
    counts: float
    pairs: float
    characters: int

    @property
    def perplexity(self) -> float:
        """Returns the perplexity 2^bits: the number of equally likely characters that would be as hard to predict."""
        return float(2.0**self.bits)

    @property
    def verdict(self) -> str:
        """Compares the network's bits per character with counts of characters, in one sentence."""
        return (
            f"The network needs {self.bits:.3g} bits per character; counts of characters need {self.counts:.3g}, "
            f"counts of pairs {self.pairs:.3g}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the network predicts worse than counts of single characters."""
        if self.bits <= self.counts:
            return ()

        evidence = (Value("bits", self.bits), Value("bits by counting", self.counts))
        return (Finding(kinds.WORSE_THAN_COUNTING, "", {"bits": self.bits, "counts": self.counts}, evidence, 0.0),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the bits per character of the network, of counts of characters, and of counts of pairs."""
        bars = Bars("bits", ["network", "counts", "pairs"], [self.bits, self.counts, self.pairs])
        return (Plot("Bits per character", (bars,), Axis("bits")),)


@add_call_to_errors
def bits_per_character(module: nn.Module, text: Any) -> BitsPerCharacter:
    """Measures the number of bits a network needs per character (or token) of sequences.

    See equation (1) of the module docstring.

    Args:
        module: takes integers (n, times) and returns logits (n, times, characters); output t predicts character t + 1.
        text: sequences of integers (n, times), or a data set of them.

    Hypotheses: every sequence is read from its beginning; its first character is given.
    Reference: [shannon1951prediction].
    Cost: one forward pass.

    >>> class Even(nn.Module):
    ...     def forward(self, x):
    ...         return torch.zeros(*x.shape, 8)
    >>> bits_per_character(Even(), torch.randint(8, (2, 50))).bits
    3.0
    """
    check_module(module)
    total, n, seen = 0.0, 0, []
    with preserve(module, grad=False):
        for batch in as_input_source(text, module).batches():
            x = batch.x
            if not isinstance(x, Tensor) or x.dim() != 2 or x.is_floating_point() or x.shape[1] < 2:
                found = (
                    f"the text is {tuple(x.shape)} of {x.dtype}"
                    if isinstance(x, Tensor)
                    else f"the text is a {type(x)}"
                )
                fix = "Pass integers; pass a single text as one row: text[None]"
                raise InputError(found, accepted="integers (n, times) with times >= 2", fix=fix)
            out = run_module(module, x)
            out = output_tensor(out[0] if isinstance(out, tuple | list) else getattr(out, "logits", out))
            if out.dim() != 3 or out.shape[:2] != x.shape or int(x.max()) >= out.shape[2]:
                found = f"the output has shape {tuple(out.shape)}"
                raise InputError(
                    found, accepted="logits (n, times, characters)", fix="Return logits for every position"
                )
            logs = out[:, :-1].double().log_softmax(-1)
            total -= float(logs.gather(2, x[:, 1:, None]).sum()) / log(2)  # (1)
            n += x[:, 1:].numel()
            seen.append(torch.stack([x[:, :-1].flatten(), x[:, 1:].flatten()]))
    before, after = torch.cat(seen, 1)
    return BitsPerCharacter(total / n, _entropy(after), _entropy(before * (int(after.max()) + 1) + after)
                            - _entropy(before), n)  # fmt: skip


def _entropy(values: Tensor) -> float:
    """Returns the entropy of the distribution of some values, in bits."""
    shares = torch.unique(values, return_counts=True)[1].double() / len(values)
    return float(-(shares * shares.log2()).sum())
