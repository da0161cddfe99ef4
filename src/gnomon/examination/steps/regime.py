"""Examination step that distinguishes lazy training from feature learning by how much training changed the kernel."""

from math import ceil, log10

from gnomon.core.results import Axis, Bars, Plot, QuantityDefinition, RangeMeter, Value
from gnomon.examination.pictures import layer_path_and_class
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.report import PageContent
from gnomon.tangent import laziness
from gnomon.tangent.laziness import MAX_LAZY_CHANGE, Laziness
from gnomon.training import TrainingRun

MIN_FEATURE_LEARNING_CHANGE = 0.5
"""Relative change of the kernel above which training is called feature learning."""
EXAMPLES = (16, 32, 64)
MAX_SHOWN_LAYERS = 80
"""Layers in the plot, at most."""


class RegimeStep(AbstractStep):
    """Examination step that measures how much training changed the tangent kernel: lazy training or feature
    learning.
    """

    key, title, share = "regime", "Features: kept or learned", 0.06
    question = "Did training keep the initial features of the network, or learn new ones?"
    needs = (TrainingRun, ProbeKernel)
    gives = Laziness
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if products[TrainingRun].diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        if products[TrainingRun].shortage:
            raise StepSkipped(
                f"{NOT_TRAINED_LONG_ENOUGH} this section compares the network at the end of training with the network "
                "before training."
            )
        means, model = products[ProbeKernel].means, products[TrainingRun].model
        if 2 * means.estimate(min(EXAMPLES)) > 0.8 * context.seconds:
            raise out_of_time_error("Two tangent kernels", 2 * means.estimate(min(EXAMPLES)), context)
        n = max(n for n in EXAMPLES if n == min(EXAMPLES) or 2 * means.estimate(n) <= 0.5 * context.seconds)
        moved = laziness(means.module, means.of(model), subject.probe.some(n).x)
        regime = (
            "lazy"
            if moved.kernel < MAX_LAZY_CHANGE
            else "feature learning"
            if moved.kernel > MIN_FEATURE_LEARNING_CHANGE
            else "between lazy and rich"
        )
        meaning = f"below {MAX_LAZY_CHANGE}: lazy training; above {MIN_FEATURE_LEARNING_CHANGE}: feature learning"
        values = (
            Value("change of the tangent kernel", moved.kernel, meaning=meaning, id="kernel-change"),
            Value(
                "rotation of the tangent kernel",
                moved.rotation,
                meaning="change of its direction, without its overall scale",
                id="kernel-rotation",
            ),
            Value("change of the parameters", moved.parameters, id="parameter-change"),
            Value("change of the outputs", moved.outputs, id="output-change"),
        )
        # If a wrapper combines several outputs for the kernel, parameter names get the prefix "module."
        inside = "" if means.module is subject.module else "module."
        layers = {
            name.removeprefix(inside): c for name, c in moved.activations.items() if name and f"{name}." != inside
        }
        parts = dict(model.named_modules())
        named = [layer_path_and_class(name, parts[name]) if name in parts else name for name in layers]
        bars = Bars("change", named, list(layers.values()))
        words = "How much training changed the outputs of each layer."
        plot = Plot(
            "Change of each layer", (bars,), Axis("relative change of its outputs"), caption=words, id="layer-changes"
        )
        definition = QuantityDefinition(
            "|Θ₁ − Θ₀| / |Θ₀|", "between the network before and after training", "chizat2019lazy"
        )
        plots = (_meter(moved.kernel), *((plot,) if 0 < len(layers) <= MAX_SHOWN_LAYERS else ()))
        data = {"regime": regime, **moved.to_dict()}
        content = PageContent(_answer(moved), (), values, plots, (definition,), data=data)
        return StepResult(content, moved)


def _answer(moved: Laziness) -> str:
    """Returns the report's sentence on how the network learned: by combining fixed features, or by learning new
    ones.
    """
    weights = f"the weights moved by {_share(moved.parameters)}"
    if moved.kernel < MAX_LAZY_CHANGE:
        return f"The network kept its initial features and learned only how to combine them (lazy training): {weights}."
    if moved.kernel > MIN_FEATURE_LEARNING_CHANGE:
        return f"The network learned new features (feature learning): {weights}."
    return f"The network kept part of its initial features (between lazy training and feature learning): {weights}."


def _share(change: float) -> str:
    """Formats a relative change as a percentage, or as a factor if it is large."""
    return f"{change:.3g} times their size" if change > 3 else f"{change:.1%} of their size"


def _meter(change: float) -> Plot:
    meter = RangeMeter(
        "change",
        change,
        (0.01, MAX_LAZY_CHANGE, MIN_FEATURE_LEARNING_CHANGE, max(100.0, 10.0 ** ceil(log10(max(change, 1e-9))))),
        ("kept (lazy)", "partly", "learned (rich)"),
    )
    words = "How much training changed the features of the network (relative change of the tangent kernel)."
    return Plot("Features", (meter,), Axis("relative change", log=True), caption=words, id="regime")
