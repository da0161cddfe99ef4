"""What does the network do along time?

Contains: memory against lag, causality, attention maps and heads, gates, spectra of states, bits per character.
Does not contain: recurrent layers (`gnomon.models`), graphs (`gnomon.graphs`).
May import: core, findings.
"""

from gnomon.sequences.alignment import AttentionAlignment, alignment, attention_alignment
from gnomon.sequences.attention import AttentionMaps, attention_maps
from gnomon.sequences.bits import BitsPerCharacter, bits_per_character
from gnomon.sequences.causality import Causality, causality, predicts_next
from gnomon.sequences.collapse import RankCollapse, rank_collapse
from gnomon.sequences.complexity import ComplexityProfile, complexity_profile
from gnomon.sequences.gates import GateStatistics, gate_statistics
from gnomon.sequences.heads import HeadAblation, head_ablation
from gnomon.sequences.lag import task_lag
from gnomon.sequences.logits import LogitScale, logit_scale
from gnomon.sequences.memory import Memory, memory
from gnomon.sequences.spectrum import StateSpectrum, state_spectrum

__all__ = [
    "AttentionAlignment",
    "AttentionMaps",
    "BitsPerCharacter",
    "Causality",
    "ComplexityProfile",
    "GateStatistics",
    "HeadAblation",
    "LogitScale",
    "Memory",
    "RankCollapse",
    "StateSpectrum",
    "alignment",
    "attention_alignment",
    "attention_maps",
    "bits_per_character",
    "causality",
    "complexity_profile",
    "gate_statistics",
    "head_ablation",
    "logit_scale",
    "memory",
    "predicts_next",
    "rank_collapse",
    "state_spectrum",
    "task_lag",
]
