"""Classes after all: margins, calibration, and the examples that are hardest."""

import torch
from torch import Tensor

from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped
from gnomon.examination.subject import Points, Subject
from gnomon.report import COLORS, Definition, Section, Status, Value, figure

BINS = 10
WORST = 8


class Margins(AbstractStep):
    """Margin distribution, expected calibration error, worst examples; for regression the worst residuals."""

    key, title, share = "margins", "Margins, calibration, hardest examples", 0.05
    question = "How sure is the network, is it rightly so, and where is it most wrong?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        run = context.facts.get("run")
        model = subject.module if run is None else run.model
        points, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        f = subject.run(points.x, model).double()
        if not bool(torch.isfinite(f).all()):
            raise Skipped("Some outputs are not finite.")
        state = "trained" if run is not None else "as it came"
        if not subject.classes:
            return self._regression(points, f, which, state)
        p = _probabilities(f)
        margin, sure = margins(p, points.y), p.max(1).values
        correct = p.argmax(1) == points.y
        error, rows = calibration(sure, correct)
        worst = (-p[torch.arange(len(p)), points.y].clamp(min=1e-300).log()).topk(min(WORST, len(p)))
        values = (
            Value("accuracy", float(correct.double().mean()), meaning=f"{which} examples, network {state}"),
            Value(
                "smallest margin", float(margin.min()), meaning="probability of the right class minus the best other"
            ),
            Value("median margin", float(margin.median())),
            Value("expected calibration error", error, meaning=f"{BINS} bins of equal size"),
            Value("mean confidence", float(sure.mean())),
            Value(
                "hardest examples", ", ".join(map(str, worst.indices.tolist())), meaning="their numbers, hardest first"
            ),
        )
        gap = float(sure.mean() - correct.double().mean())
        mood = "too sure of itself" if gap > 0.05 else "too modest" if gap < -0.05 else "as sure as it is right"
        answer = (
            f"The network ({state}) is right on {float(correct.double().mean()):.1%} of {which} examples and {mood}."
        )
        status: Status = "note" if abs(gap) > 0.05 and run is not None else "good"
        definition = Definition(
            "Σ_b |B_b|/n · |acc(B_b) − conf(B_b)|", "expected calibration error", "guo2017calibration"
        )
        section = Section(self.key, self.title, self.question, answer, status, values, (_drawn(margin, rows),),
                          (definition,), data={"worst": worst.indices.tolist()})  # fmt: skip
        return Outcome(
            section, {"calibration": error, "confidence gap": gap, "accuracy": float(correct.double().mean())}
        )

    def _regression(self, points: Points, f: Tensor, which: str, state: str) -> Outcome:
        residual = (f - points.y.double()).square().mean(1).sqrt()
        worst = residual.topk(min(WORST, len(f)))
        spread = float(points.y.double().var(0, correction=0).mean().clamp(min=1e-300))
        explained = 1 - float(residual.square().mean()) / spread
        values = (
            Value(
                "root mean square error", float(residual.square().mean().sqrt()), meaning=f"{which}, network {state}"
            ),
            Value("explained variance", explained),
            Value(
                "hardest examples", ", ".join(map(str, worst.indices.tolist())), meaning="their numbers, hardest first"
            ),
        )
        answer = f"The network ({state}) explains {explained:.1%} of the {which} targets' variance."

        def draw(axes):  # type: ignore[no-untyped-def]
            axes.hist(residual.tolist(), bins=40, color=COLORS["first"])
            axes.set(xlabel="absolute error", ylabel="examples")

        shown = figure("margins", "Errors of single examples.", draw)
        section = Section(self.key, self.title, self.question, answer, "good", values, (shown,),
                          data={"worst": worst.indices.tolist()})  # fmt: skip
        return Outcome(section, {"explained": explained})


def margins(p: Tensor, y: Tensor) -> Tensor:
    """Probability of the right class minus that of the best other.

    >>> margins(torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([1])).item()
    -0.5
    """
    own = p.gather(1, y[:, None]).squeeze(1)
    return own - p.scatter(1, y[:, None], -1.0).max(1).values


def calibration(sure: Tensor, correct: Tensor) -> tuple[float, list[tuple[float, float]]]:
    """Expected calibration error in bins of equal size, and (confidence, accuracy) of each."""
    order = sure.argsort()
    rows, error = [], 0.0
    for bin_ in order.chunk(min(BINS, len(order))):
        confidence, accuracy = float(sure[bin_].mean()), float(correct[bin_].double().mean())
        rows.append((confidence, accuracy))
        error += len(bin_) / len(order) * abs(confidence - accuracy)
    return error, rows


def _probabilities(f: Tensor) -> Tensor:
    if f.shape[1] == 1:
        p = torch.sigmoid(f[:, 0])
        return torch.stack([1 - p, p], 1)
    return f.softmax(1)


def _drawn(margin: Tensor, rows: list[tuple[float, float]]):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        axes[0].hist(margin.tolist(), bins=40, color=COLORS["first"])
        axes[0].set(xlabel="margin", ylabel="examples", yscale="log", title="margins")
        axes[1].plot([0, 1], [0, 1], linestyle=":", color=COLORS["third"])
        axes[1].plot([c for c, _ in rows], [a for _, a in rows], "o-", color=COLORS["second"])
        axes[1].set(xlabel="confidence", ylabel="share right", title="calibration", xlim=(0, 1.02), ylim=(0, 1.02))

    return figure(
        "margins", "Left of zero the network is wrong; on the dotted line it is as sure as it is right.", draw, parts=2
    )
