"""The steps of an examination, in order; a new instrument is one file and one line here."""

from gnomon.examination.step import AbstractStep
from gnomon.examination.steps.architecture import Architecture
from gnomon.examination.steps.curvature import Curvature
from gnomon.examination.steps.data import Data
from gnomon.examination.steps.forecast import Forecast
from gnomon.examination.steps.invariance import Invariance
from gnomon.examination.steps.kernel import TangentKernel
from gnomon.examination.steps.limit import InfiniteWidth
from gnomon.examination.steps.margins import Margins
from gnomon.examination.steps.regime import Regime
from gnomon.examination.steps.signal import Signals
from gnomon.examination.steps.stability import Stability
from gnomon.examination.steps.training import Training

STEPS: tuple[AbstractStep, ...] = (
    Architecture(),
    Data(),
    Signals(),
    TangentKernel(),
    Stability(),
    InfiniteWidth(),
    Forecast(),
    Training(),
    Regime(),
    Curvature(),
    Margins(),
    Invariance(),
)
"""Before training, during, after."""

__all__ = ["STEPS"]
