"""Networks on sequences: measurements of memory, causality, attention and gates.

Contains: memory by lag, causality, attention maps and heads, gates, spectra of states, bits per character.
Does not contain: recurrent layers (`gnomon.models`), graphs (`gnomon.graphs`).
May import: core, findings.
"""

from gnomon.sequences.alignment import alignment_share, attention_alignment
from gnomon.sequences.attention import attention_maps
from gnomon.sequences.bits import bits_per_character
from gnomon.sequences.causality import causality, predicts_next
from gnomon.sequences.collapse import rank_collapse
from gnomon.sequences.complexity import complexity_profile
from gnomon.sequences.gates import gate_statistics
from gnomon.sequences.heads import head_ablation
from gnomon.sequences.lag import lag_of_task
from gnomon.sequences.logits import logit_scale
from gnomon.sequences.memory import memory_length
from gnomon.sequences.spectrum import state_spectrum

__all__ = [
    "alignment_share",
    "attention_alignment",
    "attention_maps",
    "bits_per_character",
    "causality",
    "complexity_profile",
    "gate_statistics",
    "head_ablation",
    "logit_scale",
    "memory_length",
    "predicts_next",
    "rank_collapse",
    "state_spectrum",
    "lag_of_task",
]
