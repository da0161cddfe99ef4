"""How is a model trained?

Contains: `train`, optimizers as frozen objects, the record `Run`, the mean loss over a data source (`evaluate`).
Losses are means over examples; time is learning rate times steps.
Does not contain: predictions of training (`gnomon.dynamics`).
May import: core, findings.
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
