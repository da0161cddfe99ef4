"""Statements of the theory on a user's own network and data.

Lives here: the short training run that all of them look at (`Trial`), the measurements, one file for each subject, and
`check`, which runs those that claims name.
"""

from gnomon.atlas.check.run import Checked, check
from gnomon.atlas.check.trial import Trial, trial

__all__ = ["Checked", "Trial", "check", "trial"]
