"""Detects weight decay that changes the weights more than the gradient of the loss does.

At weights w with gradient g of the loss, decay r moves the weights by lr r w in addition to lr g, so that at the start

    pull = r |w| / |g|       for SGD, and for Adam whose decay enters the gradient                              (1)
    pull = r rms(w)          for AdamW, whose steps have size lr for every weight                               (2)

A ratio of 5e-4 |w| / |g| = 0.01 is usual. Above `MAX_DECAY_RATIO` the weights shrink from the first step on, for any
data.

Hypotheses: matrices and filters are what is decayed; embeddings are left out, for most of their rows have no example in
a batch and no gradient, and their size, which is one for each number, would be all that (1) sees.
Reference: [krogh1991simple], [loshchilov2019decoupled].

>>> weight_decay_findings(0.5, weights=20.0, rms=0.05, gradient=1.0, decoupled=False)[0].kind
'weight-decay-wins'
>>> weight_decay_findings(5e-4, weights=20.0, rms=0.05, gradient=1.0, decoupled=False)
()
"""

from collections.abc import Mapping
from math import sqrt

from torch import Tensor, nn

from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds
from gnomon.training import SGD, Adam
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = ["weight_decay_findings", "weight_decay_of", "network_weight_decay_findings"]

MAX_DECAY_RATIO = 0.5
"""Ratio of weight decay to gradient above which decay shrinks the weights within the first epoch."""


def weight_decay_of(optimizer: AbstractOptimizer) -> tuple[float, bool]:
    """Returns the weight decay of an optimizer, and whether the decay is separate from the gradient, as in AdamW.

    >>> weight_decay_of(SGD(0.1, decay=0.01)), weight_decay_of(Adam(decay=0.1))
    ((0.01, False), (0.1, True))
    """
    if isinstance(optimizer, SGD):
        return optimizer.decay, False
    if isinstance(optimizer, Adam):
        return optimizer.decay, True
    if isinstance(optimizer, TorchOptimizer):
        decays = [float(group.get("weight_decay", 0.0) or 0.0) for group in optimizer.groups]
        apart = optimizer.name == "AdamW" or any(bool(g.get("decoupled_weight_decay")) for g in optimizer.groups)
        return max(decays, default=0.0), apart
    return 0.0, False


def weight_decay_findings(
    decay: float, *, weights: float, rms: float, gradient: float, decoupled: bool
) -> tuple[Finding, ...]:
    """Reports weight decay that is stronger than the gradient; decoupled weight decay (as in AdamW) has its own test.

    See equations (1) and (2) of the module docstring.
    ``weights`` and ``gradient`` are the norms of all matrices and of the gradient of the loss at them, ``rms`` the root
    mean square of their entries.

    Hypotheses: as above; no chance is involved.
    Reference: [krogh1991simple], [loshchilov2019decoupled].

    >>> weight_decay_findings(0.0, weights=1.0, rms=1.0, gradient=0.0, decoupled=True)
    ()
    """
    if decay <= 0:
        return ()
    pull = decay * rms if decoupled else decay * weights / max(gradient, 1e-30)  # (1), (2)
    if pull <= MAX_DECAY_RATIO:
        return ()
    evidence = (Value("ratio of weight decay to gradient", pull), Value("accepted", MAX_DECAY_RATIO))
    return (Finding(kinds.WEIGHT_DECAY_WINS, "optimizer", {"decay": decay, "pull": pull}, evidence, 0.0),)


def network_weight_decay_findings(
    module: nn.Module, optimizer: AbstractOptimizer | None, gradients: Mapping[str, Tensor | None]
) -> tuple[Finding, ...]:
    """Reports a problem if the optimizer's weight decay is stronger than the gradients of the network's parameters.

    >>> network_weight_decay_findings(nn.Linear(1, 1), None, {})
    ()
    """
    if optimizer is None:
        return ()
    decay, apart = weight_decay_of(optimizer)
    rows = {id(part.weight) for part in module.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)}
    decayed = [(p.detach(), g) for name, p in module.named_parameters()
               if (g := gradients.get(name)) is not None and p.dim() > 1 and id(p) not in rows]  # fmt: skip
    squares = sum(float(w.double().square().sum()) for w, _ in decayed)
    slopes = sum(float(g.double().square().sum()) for _, g in decayed)
    entries = max(1, sum(w.numel() for w, _ in decayed))
    return weight_decay_findings(
        decay, weights=sqrt(squares), rms=sqrt(squares / entries), gradient=sqrt(slopes), decoupled=apart
    )
