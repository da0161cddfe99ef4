"""How an attention module describes itself to the reader, without either room knowing the other."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class AttentionForm:
    """Names of the three Linear submodules of global self-attention with tied queries and keys and 1/d_k logits."""

    query_key: str
    value: str
    out: str


@runtime_checkable
class SelfAttending(Protocol):
    """A module on (batch, positions, channels) that is exactly what its ``attention_form`` says."""

    @property
    def attention_form(self) -> AttentionForm:
        """The names of its parts."""
        ...
