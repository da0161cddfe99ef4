"""Lazy training or feature learning: how far kernel, parameters and activations moved."""

from gnomon.core.results import Axis, Bars, Definition, Meter, Plot, Value
from gnomon.examination.pictures import named_kind
from gnomon.examination.step import DIVERGED, NOT_ENOUGH, AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.examination.timed import needs
from gnomon.report import Content
from gnomon.tangent import laziness
from gnomon.tangent.laziness import MAX_LAZY_CHANGE, Laziness
from gnomon.training import Run

MIN_FEATURE_LEARNING_CHANGE = 0.5
"""Relative change of the kernel above which training is called feature learning."""
EXAMPLES = (16, 32, 64)
MAX_SHOWN_LAYERS = 80
"""Layers in the plot, at most."""


class RegimeStep(AbstractStep):
    """The verdict on the regime, with the numbers behind it."""

    key, title, share = "regime", "Features: kept or learned", 0.06
    question = "Did training reuse the features that the network started with, or learn its own?"
    needs = (Run, ProbeKernel)
    gives = Laziness
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: Products, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if products[Run].diverges:
            raise Skipped(DIVERGED)
        if products[Run].shortage:
            raise Skipped(f"{NOT_ENOUGH} what a network has learned is told by its end.")
        means, model = products[ProbeKernel].means, products[Run].model
        if 2 * means.estimate(min(EXAMPLES)) > 0.8 * context.seconds:
            raise needs("Two tangent kernels", 2 * means.estimate(min(EXAMPLES)), context)
        n = max(n for n in EXAMPLES if n == min(EXAMPLES) or 2 * means.estimate(n) <= 0.5 * context.seconds)
        moved = laziness(means.module, means.of(model), subject.probe.some(n).x)
        regime = (
            "lazy"
            if moved.kernel < MAX_LAZY_CHANGE
            else "feature learning"
            if moved.kernel > MIN_FEATURE_LEARNING_CHANGE
            else "between lazy and rich"
        )
        meaning = f"below {MAX_LAZY_CHANGE} is lazy training, above {MIN_FEATURE_LEARNING_CHANGE} is feature learning"
        values = (
            Value("change of the tangent kernel", moved.kernel, meaning=meaning, id="kernel-change"),
            Value(
                "rotation of the tangent kernel",
                moved.rotation,
                meaning="change of its pattern, whatever its size",
                id="kernel-rotation",
            ),
            Value("change of the parameters", moved.parameters, id="parameter-change"),
            Value("change of the outputs", moved.outputs, id="output-change"),
        )
        inside = "" if means.module is subject.module else "module."  # a combination of outputs wraps the network
        layers = {
            name.removeprefix(inside): c for name, c in moved.activations.items() if name and f"{name}." != inside
        }
        parts = dict(model.named_modules())
        named = [named_kind(name, parts[name]) if name in parts else name for name in layers]
        bars = Bars("change", named, list(layers.values()))
        words = "How much training changed what each layer computes."
        plot = Plot(
            "Change of each layer", (bars,), Axis("relative change of its outputs"), caption=words, id="layer-changes"
        )
        definition = Definition("|Θ₁ − Θ₀| / |Θ₀|", "between the network before and after", "chizat2019lazy")
        plots = (_meter(moved.kernel), *((plot,) if 0 < len(layers) <= MAX_SHOWN_LAYERS else ()))
        data = {"regime": regime, **moved.to_dict()}
        content = Content(_answer(moved), (), values, plots, (definition,), data=data)
        return StepResult(content, moved)


def _answer(moved: Laziness) -> str:
    """What the change of the kernel means."""
    weights = f"the weights moved by {_share(moved.parameters)}"
    if moved.kernel < MAX_LAZY_CHANGE:
        return f"It kept the features it started with, and only learned how to add them up (lazy training): {weights}."
    if moved.kernel > MIN_FEATURE_LEARNING_CHANGE:
        return f"It learned features of its own (feature learning): {weights}."
    return f"It kept part of the features it started with, between lazy training and feature learning: {weights}."


def _share(change: float) -> str:
    """A percentage, or how many times its size where that says more."""
    return f"{change:.3g} times their size" if change > 3 else f"{change:.1%} of their size"


def _meter(change: float) -> Plot:
    meter = Meter(
        "change",
        change,
        (0.01, MAX_LAZY_CHANGE, MIN_FEATURE_LEARNING_CHANGE, 100.0),
        ("kept (lazy)", "partly", "learned (rich)"),
    )
    words = "How much training changed what the network can learn (relative change of the tangent kernel)."
    return Plot("Features", (meter,), Axis("relative change", log=True), caption=words, id="regime")
