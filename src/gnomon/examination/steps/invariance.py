"""Images: what shifts and mirror images do to the outputs."""

from math import sqrt

import torch
from torch import Tensor

from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped
from gnomon.examination.subject import Subject
from gnomon.report import COLORS, Definition, Section, Value, figure

MOST = 512


class Invariance(AbstractStep):
    """Relative change of the outputs, and share of changed decisions, for each motion."""

    key, title, share = "invariance", "Shifts and mirror images", 0.05
    question = "Does a moved or mirrored picture get the same answer?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        if not subject.is_image:
            raise Skipped("The inputs are not images (n, channels, height, width).")
        run = context.facts.get("run")
        model = subject.module if run is None else run.model
        points = (subject.test or subject.train).some(MOST, context.seed)
        assert isinstance(points.x, Tensor)
        before = subject.run(points.x, model)
        values, bars = [], {}
        for name, moved in motions(points.x).items():
            after = subject.run(moved, model)
            change = float((after - before).norm() / before.norm().clamp(min=1e-30))
            bars[name] = change
            if subject.classes:
                differ = float((_decision(after) != _decision(before)).double().mean())
                half = 1.96 * sqrt(max(differ * (1 - differ), 1 / len(before)) / len(before))
                low, high = max(0.0, differ - half), min(1.0, differ + half)
                values.append(
                    Value(name, differ, low, high, meaning=f"changed decisions; outputs change by {change:.1%}")
                )
            else:
                values.append(Value(name, change, meaning="relative change of the outputs"))
        least, most = min(bars, key=lambda b: bars[b]), max(bars, key=lambda b: bars[b])
        answer = f"Outputs change least for '{least}' ({bars[least]:.1%}) and most for '{most}' ({bars[most]:.1%})."

        def draw(axes):  # type: ignore[no-untyped-def]
            axes.barh(list(bars), list(bars.values()), color=COLORS["second"])
            axes.set(xlabel="relative change of the outputs")

        drawn = figure("invariance", "A network that ignores a motion has a short bar.", draw, size=(6.4, 2.6))
        definition = Definition("|f(g x) − f(x)| / |f(x)|", "over the examples looked at, for each motion g")
        section = Section(self.key, self.title, self.question, answer, "good", tuple(values), (drawn,), (definition,))
        return Outcome(section, {"invariance": bars})


def motions(x: Tensor) -> dict[str, Tensor]:
    """Pictures moved by one place, with zeros coming in, and mirrored."""
    moved = {}
    for name, dims, by in (("one pixel right", 3, 1), ("one pixel left", 3, -1), ("one pixel down", 2, 1)):
        shifted = torch.roll(x, by, dims)
        edge = [slice(None)] * 4
        edge[dims] = slice(0, 1) if by > 0 else slice(-1, None)
        shifted[tuple(edge)] = 0
        moved[name] = shifted
    return {**moved, "mirror, left to right": x.flip(3), "mirror, top to bottom": x.flip(2)}


def _decision(f: Tensor) -> Tensor:
    return f[:, 0] > 0 if f.shape[1] == 1 else f.argmax(1)
