"""Models: the architectures that theory covers, as ordinary torch modules.

Lives here: mlp, cnn, global self-attention.
Does not live here: kernels, training.
May import: core, torch.
"""

from gnomon.models.attention import SelfAttention
from gnomon.models.networks import cnn, mlp

__all__ = ["SelfAttention", "cnn", "mlp"]
