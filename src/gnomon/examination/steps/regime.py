"""Lazy training or feature learning: how far kernel, parameters and activations moved."""

from gnomon.core.results import Axis, Bars, Definition, Plot, Value
from gnomon.examination.step import NOT_ENOUGH, AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.examination.timed import needs
from gnomon.report import Content
from gnomon.tangent import Laziness, laziness
from gnomon.training import Run

LAZY, RICH = 0.1, 0.5  # relative change of the kernel
EXAMPLES = (16, 32, 64)
LAYERS = 80
"""Layers that are drawn at most."""


class RegimeStep(AbstractStep):
    """The verdict on the regime, with the numbers behind it."""

    key, title, share = "regime", "The regime", 0.06
    question = "Did training use the features of the untrained network, or learn others?"
    needs = (Run, ProbeKernel)
    gives = Laziness

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if products[Run].shortage:
            raise Skipped(f"{NOT_ENOUGH} {products[Run].shortage}.")
        means, model = products[ProbeKernel].means, products[Run].model
        if 2 * means.estimate(min(EXAMPLES)) > 0.8 * context.seconds:
            raise needs("Two tangent kernels", 2 * means.estimate(min(EXAMPLES)), context)
        n = max(n for n in EXAMPLES if n == min(EXAMPLES) or 2 * means.estimate(n) <= 0.5 * context.seconds)
        moved = laziness(means.module, means.of(model), subject.probe.some(n).x)
        regime = (
            "lazy" if moved.kernel < LAZY else "feature learning" if moved.kernel > RICH else "between lazy and rich"
        )
        meaning = f"below {LAZY} is lazy, above {RICH} is feature learning"
        values = (
            Value("change of the kernel", moved.kernel, meaning=meaning),
            Value("rotation of the kernel", moved.rotation, meaning="change of direction alone"),
            Value("change of the parameters", moved.parameters),
            Value("change of the outputs", moved.outputs),
        )
        layers = {name: change for name, change in moved.activations.items() if name}
        changes = f"the kernel changed by {_share(moved.kernel)}, the parameters by {_share(moved.parameters)}"
        bars = Bars("change", list(layers), list(layers.values()))
        words = "How much the activations of each layer changed."
        plot = Plot("Change of activations", (bars,), Axis("relative change"), caption=words)
        definition = Definition("|Θ₁ − Θ₀| / |Θ₀|", "between the network before and after", "chizat2019lazy")
        plots = (plot,) if 0 < len(layers) <= LAYERS else ()
        data = {"regime": regime, **moved.to_dict()}
        content = Content(f"{regime.capitalize()}: {changes}.", (), values, plots, (definition,), data=data)
        return StepResult(content, moved)


def _share(change: float) -> str:
    """A percentage, or how many times its size where that says more."""
    return f"{change:.3g} times its size" if change > 3 else f"{change:.1%}"
