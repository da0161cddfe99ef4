"""Defines how attention modules describe themselves to `gnomon.program`, which need not import them.

>>> AttentionLayout(query_key="qk", value="v", out="o").value
'v'
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["AttentionLayout", "SelfAttentionModule"]


@dataclass(frozen=True, slots=True)
class AttentionLayout:
    """The names of the three Linear layers in an attention module whose queries and keys share one layer."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttentionModule(Protocol):
    """The interface of attention modules on inputs (batch, positions, channels) that report the names of their
    layers.
    """

    @property
    def attention_form(self) -> AttentionLayout:
        """Returns the names of the module's three Linear layers."""
        ...
