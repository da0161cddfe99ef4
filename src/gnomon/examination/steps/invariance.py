"""Images: what shifts and mirror images do to the outputs."""

from torch import Tensor

from gnomon.core.results import Definition, Value
from gnomon.examination.step import NOT_ENOUGH, AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.subject import Subject
from gnomon.geometry.invariance import Invariance, Motion, invariance
from gnomon.report import Content
from gnomon.training import Run

MOST = 512


class InvarianceStep(AbstractStep):
    """Relative change of the outputs, and share of changed decisions, for each motion."""

    key, title, share = "invariance", "Shifts and mirror images", 0.05
    question = "Does a moved or mirrored picture get the same answer?"
    uses = (Run,)
    gives = Invariance

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if not isinstance(subject.probe.x, Tensor) or subject.probe.x.dim() != 4:
            raise Skipped("The inputs are not images (n, channels, height, width).")
        run = products.get(Run)
        model = subject.module if run is None else run.model
        images = subject.probe.some(MOST).x if subject.test is None else subject.test.probe(MOST, seed=context.seed).x
        measured = invariance(model, images)
        values = tuple(_value(motion, classes=subject.task.classes > 0) for motion in measured.motions)
        definition = Definition("|f(g x) − f(x)| / |f(x)|", "over the examples used, for each motion g")
        short = "" if run is None else run.shortage
        answer = f"{NOT_ENOUGH} {short}. {measured.verdict}" if short else measured.verdict
        content = Content(answer, (), values, measured.plots(), (definition,))
        return StepResult(content, measured, "unsure" if short else "answered")


def _value(motion: Motion, *, classes: bool) -> Value:
    if not classes:
        return Value(motion.name, motion.change, meaning="relative change of the outputs")
    meaning = f"changed decisions; outputs change by {motion.change:.1%}"
    return Value(motion.name, motion.decisions, motion.interval, "estimate", meaning=meaning)
