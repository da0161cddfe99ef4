"""First floor: what a network does along time: how far it remembers, what it may see, where attention looks.

Lives here: sensitivity against lag (`memory`) and the lag of a task (`task_lag`), which outputs see which inputs
(`causality`), attention maps with their entropy, rank and what becomes of tokens (`attention_maps`), the scale of its
logits (`logit_scale`), heads switched off (`head_ablation`), tokens that become alike with depth (`rank_collapse`),
gates and their time scales (`gate_statistics`), the spectrum of a state (`state_spectrum`), bits per character
(`bits_per_character`), what longer sequences cost (`complexity_profile`), which input an output looks at
(`attention_alignment`).
Does not live here: recurrent layers (`gnomon.models`), their limits (`gnomon.kernels`), graphs (`gnomon.graphs`).
May import: core, the ground floor; torch.
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
