"""Describes attention modules, so that `gnomon.program` can read them without importing them.

>>> AttentionLayout(query_key="qk", value="v", out="o").value
'v'
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = ["AttentionLayout", "SelfAttentionModule"]


@dataclass(frozen=True, slots=True)
class AttentionLayout:
    """Names of the three Linear layers of a self-attention module whose queries and keys are tied."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttentionModule(Protocol):
    """A self-attention module on (batch, positions, channels) that names its layers in ``attention_form``."""

    @property
    def attention_form(self) -> AttentionLayout:
        """The names of the three submodules."""
        ...
