"""Checks which statements of the theory hold for a user's own network and data.

Lives here: the short training run that all of them look at (`TrainingTrial`), the measurements, one file for each
subject, and `check_network`, which runs those that claims name.
"""

from gnomon.atlas.check.run import NetworkCheck, check_network
from gnomon.atlas.check.trial import TrainingTrial, train_trial

__all__ = ["NetworkCheck", "TrainingTrial", "check_network", "train_trial"]
