"""The steps of an examination; each one answers one question in one section of the report."""

from gnomon.examination.step import AbstractStep
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.attribution import AttributionStep
from gnomon.examination.steps.columns import ColumnsStep
from gnomon.examination.steps.curvature import CurvatureStep
from gnomon.examination.steps.data import DataStep
from gnomon.examination.steps.examples import ExamplesStep
from gnomon.examination.steps.fixes import FixesStep
from gnomon.examination.steps.forecast import ForecastStep
from gnomon.examination.steps.graphs import GraphsStep
from gnomon.examination.steps.importance import ImportanceStep
from gnomon.examination.steps.invariance import InvarianceStep
from gnomon.examination.steps.kernel import KernelStep
from gnomon.examination.steps.limit import LimitStep
from gnomon.examination.steps.margins import MarginsStep
from gnomon.examination.steps.match import MatchStep
from gnomon.examination.steps.optimizer import OptimizerStep
from gnomon.examination.steps.outcome import OutcomeStep
from gnomon.examination.steps.regime import RegimeStep
from gnomon.examination.steps.samples import SamplesStep
from gnomon.examination.steps.sequences import SequencesStep
from gnomon.examination.steps.signal import SignalStep
from gnomon.examination.steps.split import SplitStep
from gnomon.examination.steps.stability import StabilityStep
from gnomon.examination.steps.training import TrainingStep
from gnomon.examination.steps.wiring import WiringStep

STEPS: tuple[AbstractStep, ...] = (
    ArchitectureStep(),
    DataStep(),
    WiringStep(),
    ColumnsStep(),
    SplitStep(),
    SignalStep(),
    KernelStep(),
    StabilityStep(),
    ForecastStep(),
    MatchStep(),
    TrainingStep(),
    OptimizerStep(),
    OutcomeStep(),
    FixesStep(),
    RegimeStep(),
    CurvatureStep(),
    MarginsStep(),
    ExamplesStep(),
    SamplesStep(),
    ImportanceStep(),
    InvarianceStep(),
    SequencesStep(),
    GraphsStep(),
    AttributionStep(),
    LimitStep(),
)
"""Steps before, during and after training. The runner moves a step only behind steps whose products it needs or
uses."""

__all__ = ["STEPS"]
