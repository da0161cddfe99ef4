"""Defines how attention modules report the names of their layers to `gnomon.program`, which converts modules.

>>> AttentionLayout(query_key="qk", value="v", out="o").value
'v'
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["AttentionLayout", "SelfAttentionModule"]


@dataclass(frozen=True, slots=True)
class AttentionLayout:
    """The names of the three Linear layers of an attention module: queries with keys, values, and output."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttentionModule(Protocol):
    """Interface of self-attention modules that report the names of their layers, so that `gnomon.program` can convert
    them.
    """

    @property
    def attention_form(self) -> AttentionLayout:
        """Returns the names of the attention module's three Linear layers."""
        ...
