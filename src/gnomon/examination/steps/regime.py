"""Lazy or learning features: how far kernel, parameters and activations moved."""

from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.report import COLORS, Definition, Section, Value, figure
from gnomon.tangent import laziness

LAZY, RICH = 0.1, 0.5  # relative change of the kernel
PROBE = 64


class Regime(AbstractStep):
    """The verdict on the regime, with the numbers behind it."""

    key, title, share = "regime", "The regime", 0.1
    question = "Did training use the features the network was born with, or learn others?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        run = context.fact("run", "The regime")
        points = subject.train.some(PROBE, context.seed)
        found = laziness(subject.module, run.model, points.x)
        regime = (
            "lazy" if found.kernel < LAZY else "feature learning" if found.kernel > RICH else "between lazy and rich"
        )
        values = (
            Value(
                "change of the kernel", found.kernel, meaning=f"below {LAZY} is lazy, above {RICH} is feature learning"
            ),
            Value("turn of the kernel", found.rotation, meaning="change of direction alone"),
            Value("change of the parameters", found.parameters),
            Value("change of the outputs", found.outputs),
        )
        layers = {name: change for name, change in found.activations.items() if name}
        moved = f"the kernel changed by {_share(found.kernel)}, the parameters by {_share(found.parameters)}"
        answer = f"{regime.capitalize()}: {moved}."

        def draw(axes):  # type: ignore[no-untyped-def]
            axes.bar(range(len(layers)), list(layers.values()), color=COLORS["first"])
            axes.set_xticks(range(len(layers)), list(layers), rotation=60, ha="right", fontsize=8)
            axes.set(ylabel="relative change of activations")

        shown = (
            (figure("layers", "How much the activations of each layer changed.", draw),)
            if 0 < len(layers) <= 80
            else ()
        )
        definition = Definition("|Θ₁ − Θ₀| / |Θ₀|", "between the network before and after", "chizat2019lazy")
        section = Section(self.key, self.title, self.question, answer, "good", values, shown, (definition,),
                          data={"regime": regime, **found.to_dict()})  # fmt: skip
        return Outcome(section, {"regime": regime, "laziness": found})


def _share(change: float) -> str:
    """A percentage, or how many times its size where that says more."""
    return f"{change:.3g} times its size" if change > 3 else f"{change:.1%}"
