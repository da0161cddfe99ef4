"""Describes attention modules, so that `gnomon.program` can read them without importing them.

>>> AttentionLayout(query_key="qk", value="v", out="o").value
'v'
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["AttentionLayout", "SelfAttentionModule"]


@dataclass(frozen=True, slots=True)
class AttentionLayout:
    """Names of the three Linear layers of a self-attention module that uses one layer for queries and keys."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttentionModule(Protocol):
    """The interface of self-attention modules for (batch, positions, channels) that name their layers."""

    @property
    def attention_form(self) -> AttentionLayout:
        """The names of the module's three Linear layers."""
        ...
