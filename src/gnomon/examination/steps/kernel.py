"""The network's own tangent kernel on a probe set: its modes, its conditioning, and what it thinks of the labels."""

from math import sqrt
from typing import Any, cast

import torch
from torch import Tensor

from gnomon.examination.score import leave_one_out
from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped, require_gradients
from gnomon.examination.subject import Points, Subject
from gnomon.report import COLORS, Definition, Hypothesis, Section, Status, Value, figure
from gnomon.tangent import alignment, effective_rank, kernel_spectrum, ntk

MOST, LEAST = 256, 16
SHUFFLES = 400
CHANCE = 0.01  # of an alignment that shuffled labels have as often counts as related
ENOUGH = 20  # examples to say that labels are unrelated


class TangentKernel(AbstractStep):
    """Spectrum, rank, alignment, and a test of the labels against shuffled ones."""

    key, title, share = "kernel", "The tangent kernel", 0.25
    question = "Which directions does this network learn first, and do the labels lie along them?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        require_gradients(subject)
        points = probe(subject, context)
        k = ntk(subject.module, points.x).double()
        if not bool(k.abs().max() > 0):
            raise Skipped("The tangent kernel is zero: no parameter has an effect on the outputs.")
        targets = subject.targets(points.y).double()
        y = targets - targets.mean(0)
        if not bool(y.abs().max() > 0):
            raise Skipped("All targets are the same: there is nothing to learn.")
        if float(_centered(k).abs().max()) <= 1e-6 * float(k.abs().max()):
            answer = "The kernel is the same for all pairs of examples: the network cannot tell them apart."
            return Outcome(Section(self.key, self.title, self.question, answer, "fault"), {"probe": points})
        found = kernel_spectrum(k, y)
        rank, aligned = effective_rank(k), alignment(k, y)
        shuffled = _shuffled(k, y, context.seed)
        p = float((1 + (shuffled >= aligned).sum()) / (1 + SHUFFLES))
        score = leave_one_out(k, targets)
        positive = found.values[found.values > found.values[0] * len(k) * torch.finfo(torch.float32).eps]
        condition = float(positive[0] / positive[-1])
        low, high = (float(v) for v in torch.quantile(shuffled, torch.tensor([0.025, 0.975], dtype=shuffled.dtype)))
        values = [
            Value("probe examples", len(points)),
            Value("largest eigenvalue", float(found.values[0])),
            Value("condition number", condition, meaning="slowest mode over fastest, in training time"),
            Value("effective rank", rank, meaning=f"of {len(points)} modes"),
            Value("modes that hold 90 % of the labels", found.modes_for(0.9)),
            Value("alignment with the labels", aligned, meaning=f"shuffled labels: {low:.3g} to {high:.3g} (95 %)"),
            Value("chance of such an alignment with shuffled labels", p, meaning=f"{SHUFFLES} shuffles"),
        ]
        facts: dict[str, Any] = {
            "probe": points, "kernel": k, "label p": p, "alignment": aligned, "spectrum": found,
        }  # fmt: skip
        if subject.classes:
            accuracy = score.accuracy(targets)
            spread = 1.96 * sqrt(max(accuracy * (1 - accuracy), 1 / len(points)) / len(points))
            name = "leave-one-out accuracy of the kernel"
            values.append(Value(name, accuracy, max(0.0, accuracy - spread), min(1.0, accuracy + spread)))
            facts["kernel accuracy"] = accuracy
        else:
            error = score.error(targets)
            values.append(Value("leave-one-out error of the kernel", error, meaning="1 is guessing the mean"))
            facts["kernel error"] = error
        related = p < CHANCE or _better(subject, y, facts)
        facts["labels unrelated"] = not related and len(points) >= ENOUGH
        answer = (
            f"{found.modes_for(0.9)} of {len(points)} modes hold 90 % of the labels; the alignment {aligned:.2g} is "
            + ("far from" if p < CHANCE else "no better than")
            + " that of shuffled labels"
            + (
                "."
                if p < CHANCE or not related
                else ", but what it predicts for examples left out is better than a guess."
            )
        )
        hypotheses = (
            Hypothesis("labels are related to inputs as the network sees them", related, f"p = {p:.3g}"),
            Hypothesis("the probe stands for the data", None, f"{len(points)} of {len(subject.train)} examples"),
        )
        status: Status = "fault" if facts["labels unrelated"] else "good"
        section = Section(
            self.key, self.title, self.question, answer, status, tuple(values),
            (_modes(found.values, found.captured),), _definitions(), hypotheses,
            data={"eigenvalues": found.values.tolist(), "captured": cast(Tensor, found.captured).tolist()},
        )  # fmt: skip
        return Outcome(section, facts)


def probe(subject: Subject, context: Context) -> Points:
    """As many examples as the time allows: each needs one backward pass per output."""
    each = 3 * context.facts.get("seconds per example", 1e-3) * max(1, subject.outputs)
    n = int(min(MOST, max(LEAST, 0.5 * context.seconds / max(each, 1e-9))))
    if context.seconds < each * LEAST:
        raise Skipped(
            f"{LEAST} probe examples would take about {each * LEAST:.1f} s, and {context.seconds:.1f} s are left."
        )
    return subject.train.some(n, context.seed)


def _shuffled(k: Tensor, y: Tensor, seed: int) -> Tensor:
    """The alignment after each of many shuffles of the labels; what does not change is computed once."""
    n = len(k)
    centered = _centered(k)
    scale = float(centered.norm() * (y @ y.mT).norm())
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(SHUFFLES):
        s = y[torch.randperm(n, generator=generator)]
        found.append(float((s * (centered @ s)).sum()) / max(scale, 1e-300))
    return torch.tensor(found, dtype=torch.float64)


def _better(subject: Subject, y: Tensor, facts: dict[str, Any]) -> bool:
    """Whether examples left out are predicted better than by a guess: by three of its deviations, or 2 / sqrt(n)."""
    n = len(y)
    if not subject.classes:
        return bool(facts["kernel error"] < 1 - 2 / sqrt(n))
    guess = float(torch.bincount((y if y.shape[1] > 1 else torch.cat([-y, y], 1)).argmax(1)).max()) / n
    return bool(facts["kernel accuracy"] > guess + 3 * sqrt(guess * (1 - guess) / n))


def _centered(k: Tensor) -> Tensor:
    return k - k.mean(0) - k.mean(1, keepdim=True) + k.mean()


def _modes(values: Tensor, captured: Tensor | None):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        n = range(1, len(values) + 1)
        axes[0].loglog(n, values.clamp(min=float(values[0]) * 1e-12).tolist(), color=COLORS["first"])
        axes[0].set(xlabel="mode", ylabel="eigenvalue", title="spectrum")
        if captured is not None:
            axes[1].semilogx(n, captured.tolist(), color=COLORS["second"])
        axes[1].set(xlabel="first modes", ylabel="share of the labels", title="labels", ylim=(0, 1.02))

    return figure("modes", "Large modes are learned first; labels that lie in them are learned early.", draw, parts=2)


def _definitions() -> tuple[Definition, ...]:
    return (
        Definition("Θ(x, x′) = (1/k) Σₐ ⟨∂fₐ(x)/∂w, ∂fₐ(x′)/∂w⟩", "the tangent kernel here and now", "jacot2018neural"),
        Definition("A = ⟨HΘH, yyᵀ⟩ / (|HΘH| |yyᵀ|)", "alignment with the centered labels", "cortes2012algorithms"),
        Definition("f₋ᵢ(xᵢ) = yᵢ − cᵢ / Gᵢᵢ,  G = (Θ + r)⁻¹", "leave one out", "rasmussen2006gaussian"),
    )
