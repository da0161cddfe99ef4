"""Ground floor: the one training loop, and the record of what it did.

Lives here: `train` (also `gnomon.train`), the optimizers as frozen objects and those of torch.optim, the record `Run`,
the mean loss over a source of examples (`evaluate`).
Does not live here: what theory says of training (`gnomon.dynamics`), and what an examination watches during it.
May import: core; torch, numpy.
Losses are means over examples, squared loss with a half; time is learning rate times steps.
"""

from gnomon.core.losses import AbstractLoss, CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.training.ablation import Ablation, ablation
from gnomon.training.adversary import Adversary
from gnomon.training.loop import train
from gnomon.training.native import TorchOptimizer
from gnomon.training.optimizers import SGD, AbstractOptimizer, Adam
from gnomon.training.plan import Batches, Records
from gnomon.training.progress import Patience, effective_lr, half_loss_time, patience
from gnomon.training.run import Run
from gnomon.training.schedule import Schedule, Scheduled

__all__ = [
    "Ablation",
    "AbstractLoss",
    "AbstractOptimizer",
    "Adam",
    "Adversary",
    "Batches",
    "CrossEntropy",
    "Exponential",
    "Hinge",
    "Logistic",
    "Patience",
    "Records",
    "Run",
    "SGD",
    "Schedule",
    "Scheduled",
    "Squared",
    "TorchOptimizer",
    "ablation",
    "effective_lr",
    "half_loss_time",
    "patience",
    "train",
]
