"""Describes attention modules, so that `gnomon.program` can read them without importing them.

>>> AttentionForm(query_key="qk", value="v", out="o").value
'v'
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["AttentionForm", "SelfAttending"]


@dataclass(frozen=True, slots=True)
class AttentionForm:
    """Names of the three Linear submodules of global self-attention with tied queries and keys and 1/d_k logits."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttending(Protocol):
    """A module on (batch, positions, channels) that computes exactly what its ``attention_form`` describes."""

    @property
    def attention_form(self) -> AttentionForm:
        """The names of the three submodules."""
        ...
