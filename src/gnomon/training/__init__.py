"""Trains models and records losses and other measurements of the run.

Contains: `train`, optimizers as frozen objects, the record `TrainingRun`, the mean loss over a data source
(`evaluate`).
Losses are means over examples; time is learning rate times steps.
Does not contain: predictions of training (`gnomon.dynamics`).
May import: adapter, core, findings.
"""

from gnomon.core.losses import CrossEntropy, Exponential, Hinge, Logistic, Squared
from gnomon.training.ablation import ablation
from gnomon.training.adversary import Adversary
from gnomon.training.loop import train
from gnomon.training.optimizers import SGD, Adam
from gnomon.training.progress import effective_lr, half_loss_time, stop_by_patience
from gnomon.training.run import TrainingRun
from gnomon.training.schedule import Schedule
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = [
    "Adam",
    "Adversary",
    "CrossEntropy",
    "Exponential",
    "Hinge",
    "Logistic",
    "TrainingRun",
    "SGD",
    "Schedule",
    "Squared",
    "TorchOptimizer",
    "ablation",
    "effective_lr",
    "half_loss_time",
    "stop_by_patience",
    "train",
]
