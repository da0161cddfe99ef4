"""Examination step that measures how much shifts and mirroring of images change the predictions."""

from torch import Tensor

from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Finding, QuantityDefinition, Value
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.levels import significance_level
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    SKIPPED_WITHOUT_TRAINING,
    TRAINING_NOT_FINISHED,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.findings import decisions as kinds
from gnomon.report import PageContent
from gnomon.symmetry.invariance import ImageInvariance, ImageMotion, invariance
from gnomon.training import TrainingRun

SIZES = (32, 64, 128, 256, 512)
"""Numbers of images used; the largest affordable one is taken."""
PASSES_PER_EXAMPLE = 6
"""Forward passes per example."""
MAX_CHANGED_DECISIONS = 0.1
"""Share of decisions that a shift by one pixel may change."""
SMALL_IMAGE_PIXELS = 20
"""Side length in pixels below which the finding says how much of the image one pixel is."""


class InvarianceStep(AbstractStep):
    """Examination step that measures how much shifts and mirroring of images change outputs and predicted classes."""

    key, title, share = "invariance", "Shifts and mirror images", 0.05
    question = "Does the network give the same answer for a shifted or mirrored image?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = ImageInvariance
    rests_on = ("examples", "decisions")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return isinstance(subject.probe.x, Tensor) and subject.probe.x.dim() == 4

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if not isinstance(subject.probe.x, Tensor) or subject.probe.x.dim() != 4:
            raise StepSkipped("Skipped: the inputs are not images (n, channels, height, width).")
        run = products.get(TrainingRun)
        if run is None and context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run is not None and run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        model = subject.module if run is None else run.model
        each = products[NetworkProfile].cost.each / 2  # A forward pass takes at most half of a training pass.
        most = largest_size_up_to(SIZES, 0.5 * context.seconds / (PASSES_PER_EXAMPLE * each))
        if PASSES_PER_EXAMPLE * most * each > context.seconds:
            raise out_of_time_error(
                f"{PASSES_PER_EXAMPLE} passes over {most} images", PASSES_PER_EXAMPLE * most * each, context
            )
        images = subject.probe.some(most).x if subject.test is None else subject.test.probe(most, seed=context.seed).x
        measured = invariance(model, images)
        values = tuple(_value(motion, classes=subject.task.classes > 0) for motion in measured.motions)
        definition = QuantityDefinition(
            "|f(g x) − f(x)| / |f(x)|", "over the examples used, for each shift or mirroring g"
        )
        short = "" if run is None else run.shortage
        answer = _answer(measured) if subject.task.classes else measured.verdict
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if short else answer
        told = run is not None and not short and subject.task.classes
        findings = shift_findings(measured, min(subject.probe.x.shape[2:])) if told else ()
        outputs, decisions = measured.plots()
        content = PageContent(
            answer, findings, values, (decisions,) if subject.task.classes else (outputs,), (definition,)
        )
        return StepResult(content, measured, "unsure" if short else "answered")


def _answer(measured: ImageInvariance) -> str:
    """Returns the report's sentence on the fraction of predictions that each shift or mirroring changes."""
    shifts = [m.decisions for m in measured.motions if m.id.startswith("pixel-")]
    others = [
        f"{m.name.replace('mirror,', 'mirroring')} {m.decisions:.0%}"
        for m in measured.motions
        if not m.id.startswith("pixel-")
    ]
    share = f"{max(shifts):.1%}" if max(shifts) - min(shifts) < 0.001 else f"{min(shifts):.1%} to {max(shifts):.1%}"
    return f"A shift by one pixel changes {share} of the decisions, {', '.join(others)}."


def _value(motion: ImageMotion, *, classes: bool) -> Value:
    if not classes:
        return Value(motion.name, motion.change, meaning="relative change of the outputs", id=motion.id)
    meaning = f"changed decisions; outputs change by {motion.change:.1%}"
    return Value(motion.name, motion.decisions, motion.interval, "estimate", meaning=meaning, id=motion.id)


def shift_findings(measured: ImageInvariance, side: int) -> tuple[Finding, ...]:
    """Reports a problem if shifting images by one pixel changes significantly more predictions than a threshold.

    False alarms: 0.005 for all shifts together, by Bonferroni's inequality. ``side`` is the shorter side of the images.

    >>> from gnomon.core.metrics import binomial_interval
    >>> from gnomon.symmetry.invariance import ImageMotion
    >>> worse = ImageMotion("one pixel right", 0.4, 0.2, binomial_interval(100, 500), "pixel-right")
    >>> shift_findings(ImageInvariance((worse,), 500), 28)[0].kind
    'shifts-change-decisions'
    """
    shifts = [motion for motion in measured.motions if motion.id.startswith("pixel-")]
    worst = max(shifts, key=lambda motion: motion.decisions)
    chance = binomial_interval(
        round(worst.decisions * measured.examples),
        measured.examples,
        confidence=1 - 2 * significance_level("invariance") / len(shifts),
    )
    if chance.low <= MAX_CHANGED_DECISIONS:
        return ()
    least = min(motion.decisions for motion in shifts)
    share = f"{worst.decisions:.0%}" if worst.decisions - least < 0.01 else f"{least:.0%} to {worst.decisions:.0%}"
    pixel = "one pixel" if side >= SMALL_IMAGE_PIXELS else f"one pixel, 1/{side} of the image,"
    values = {"pixel": pixel, "share": share, "images": measured.examples}
    evidence = (
        Value("changed decisions", worst.decisions, chance, "estimate"),
        Value("accepted share", MAX_CHANGED_DECISIONS),
    )
    return (Finding(kinds.SHIFTS_CHANGE_DECISIONS, "inputs", values, evidence, significance_level("invariance")),)
