"""First floor: what a network does along time: how far it remembers, what it may see, where attention looks.

Lives here: sensitivity against lag (`memory`), which outputs see which inputs (`causality`), attention maps with their
entropy, rank and what becomes of tokens (`attention_maps`), heads switched off (`head_ablation`).
Does not live here: recurrent layers (`gnomon.models`), their limits (`gnomon.kernels`), graphs (`gnomon.graphs`).
May import: core, the ground floor; torch.
"""

from gnomon.sequences.attention import AttentionMaps, attention_maps
from gnomon.sequences.causality import Causality, causality
from gnomon.sequences.heads import HeadAblation, head_ablation
from gnomon.sequences.memory import Memory, memory

__all__ = [
    "AttentionMaps",
    "Causality",
    "HeadAblation",
    "Memory",
    "attention_maps",
    "causality",
    "head_ablation",
    "memory",
]
