"""Builds the report of `gnomon watch` on a training script: one section for each group of mistakes."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import torch

from gnomon.checks.run.loop.facts import LoopFacts
from gnomon.checks.run.loop.judge import JUDGMENTS
from gnomon.core.results import Axis, Finding, Line, Plot, Value
from gnomon.examination.policy import ExaminationFacts, sections_to_report
from gnomon.examination.record import Examination
from gnomon.report import PageContent, Section

__all__ = ["watch_report"]

MIN_STEPS = 10
"""Steps for an answer; fewer are marked as too few for an answer."""
QUESTIONS = {
    "gradients": ("Gradients and steps", "Are zero_grad, backward and step called in the right order?"),
    "parameters": ("Parameters", "Does the optimizer train the model that is used, and all of it?"),
    "modes": ("Training and eval mode", "Are train(), eval() and no_grad() called at the right time?"),
    "schedule": ("Learning rate", "Is the learning rate scheduler stepped at the right times?"),
    "batches": ("Batches", "Are batches different from each other and shuffled, and are all batches used?"),
    "values": ("Loss and gradients", "Are all numbers finite, and does the loss fall?"),
    "processes": ("Processes", "Do all processes train one model on different data?"),
}
"""Title and question of each section, by its key."""


def watch_report(
    name: str,
    facts: LoopFacts,
    *,
    ending: str,
    overhead: float,
    command: str,
    failures: Sequence[str] = (),
    processes: Sequence[Finding] = (),
    ranks: int = 1,
) -> Examination:
    """Runs all checks on a recorded training run and returns the report.

    >>> watch_report("train.py", LoopFacts(), ending="the script finished", overhead=0.0, command="").verdict
    'train.py: no problem found.'
    """
    sections = [_run_section(facts, ending, overhead, failures)]
    for key, judge in JUDGMENTS.items():
        sections.append(_section(key, judge(facts), facts))
    if ranks > 1:
        sections.append(_section("processes", processes, facts))
    manifest = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "processes": ranks,
        "command": command,
    }
    partial = not facts.finished
    return Examination(name, sections_to_report(sections, ExaminationFacts()), manifest, partial)


def _run_section(facts: LoopFacts, ending: str, overhead: float, failures: Sequence[str]) -> Section:
    values = (
        Value("optimizer steps", facts.steps, id="steps-taken"),
        Value("backward passes", facts.backwards, id="backward-passes"),
        Value("time spent on observing", 100 * overhead, unit="%", id="overhead"),
    )
    answer = f"{facts.steps:,} optimizer steps and {facts.backwards:,} backward passes; {ending}."
    plots = _loss_plot(facts)
    notes = (f"not observed: {'; '.join(failures)}",) if failures else ()
    content = PageContent(answer, values=values, plots=plots, notes=notes)
    return Section("run", "The run", "What did the script do?", content)


def _loss_plot(facts: LoopFacts) -> tuple[Plot, ...]:
    if len(facts.losses) < 2:
        return ()
    steps, losses = zip(*facts.losses, strict=True)
    line = Line("training loss", steps, losses)
    positive = all(loss > 0 for loss in losses)
    return (Plot("Loss", (line,), Axis("step"), Axis("loss", log=positive), id="loss"),)


def _section(key: str, findings: Sequence[Finding], facts: LoopFacts) -> Section:
    title, question = QUESTIONS[key]
    values, plots = _evidence(key, facts)
    if findings:
        content = PageContent(
            " ".join(f.message for f in findings), tuple(findings), values, plots, stated=tuple(findings)
        )
        return Section(key, title, question, content)
    if max(facts.steps, facts.backwards) < MIN_STEPS:
        return Section(
            key,
            title,
            question,
            PageContent("The script made too few optimizer steps for an answer.", values=values),
            "unsure",
        )
    return Section(key, title, question, PageContent(_all_clear(key, facts), values=values, plots=plots))


def _all_clear(key: str, facts: LoopFacts) -> str:
    """Returns the sentence of a report section in which no problem was found."""
    validated = sum(model.validated for model in facts.models)
    answers = {
        "gradients": "Gradients are cleared, computed and used once in each step."
        if facts.optimizers
        else "The script updates weights without an optimizer; gradients are computed in each step.",
        "parameters": "All parameters that receive gradients are trained."
        if facts.optimizers
        else "No optimizer was seen, so it cannot be compared with the model.",
        "modes": f"Training runs in training mode and {validated:,} validation passes in eval mode."
        if validated
        else "Training runs in training mode; no validation was seen.",
        "schedule": "The learning rate scheduler is stepped at the right times."
        if facts.schedulers
        else "No scheduler was used.",
        "batches": "Training batches differ from step to step, and every batch is used for training.",
        "values": "All losses are finite.",
        "processes": "All processes train the same weights on different batches.",
    }
    return answers[key]


def _evidence(key: str, facts: LoopFacts) -> tuple[tuple[Value, ...], tuple[Plot, ...]]:
    """Returns the numbers and plots that a section of the `gnomon watch` report shows."""
    values: list[Value] = []
    plots: list[Plot] = []
    if key == "gradients":
        for one in facts.optimizers:
            values.append(Value(f"steps of {one.name}", one.steps))
            values.append(Value(f"steps of {one.name} with old gradients", f"{one.stale} of {one.judged} observed"))
    if key == "schedule":
        lines = [_rate_line(one.name, one.rates, one.steps) for one in facts.optimizers if one.rates]
        plots += [Plot("Learning rate", tuple(lines), Axis("step"), Axis("learning rate"), id="rates")] if lines else []
        values += [Value(f"calls of {one.name}.step()", one.calls) for one in facts.schedulers]
    if key == "modes":
        for model in facts.models:
            values.append(Value(f"backward passes of {model.name} in training mode", model.trained))
            values.append(Value(f"backward passes of {model.name} in eval mode", model.trained_in_eval))
            values.append(Value(f"passes of {model.name} without gradients", model.validated))
    if key == "values" and len(facts.norms) > 1:
        steps, norms = zip(*facts.norms, strict=True)
        line = Line("gradient norm", steps, norms)
        log = all(norm > 0 for norm in norms)
        plots.append(Plot("Gradient norm", (line,), Axis("step"), Axis("norm", log=log), id="gradient-norm"))
    return tuple(values), tuple(plots)


def _rate_line(name: str, rates: Any, steps: int) -> Line:
    """Plots the learning rate over training steps as a step function."""
    xs, ys = [], []
    for (start, rate), following in zip(rates, [*rates[1:], (steps, 0.0)], strict=True):
        xs += [start, max(start, following[0])]
        ys += [rate, rate]
    return Line(name, xs, ys)
