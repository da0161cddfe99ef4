"""The examination itself: the steps in order, each with its share of the time, none able to stop the others."""

import hashlib
import platform
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import torch
from torch import nn

from gnomon.core.checks import number
from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError
from gnomon.core.inputs import tensors
from gnomon.core.pure import evaluating, random_state
from gnomon.examination.advice import advise
from gnomon.examination.record import Examination
from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped
from gnomon.examination.steps import STEPS
from gnomon.examination.subject import CALL, Subject, subject
from gnomon.report import Section
from gnomon.training.native import Choice

Progress = Callable[[str, int, int], None]
"""Called with the title of the step that begins, its number, and how many there are."""


def examine(
    module: Any,
    train: Any,
    test: Any = None,
    *,
    optimizer: Choice | None = None,
    fit: bool | None = None,
    budget: float = 60.0,
    seed: int = 0,
    name: str | None = None,
    command: str = "",
    progress: Progress | None = None,
    clock: Clock = perf_counter,
) -> Examination:
    """Examine a network and its data: what theory predicts, what is measured, and what to do about it.

    Signal propagation before training, the tangent kernel Theta = J J^T and its modes, the largest stable learning rate

        lr < 2 / lambda_max(Hessian of the loss)                                                             (1)

    the score of the infinitely wide network, training with the kernel and the curvature watched, and afterwards the
    regime, the curvature, margins, calibration and invariances. Each step answers, is skipped with a reason, or fails
    with one; none stops the rest. Ctrl-C ends the examination with what there is.

    Args:
        module: the network, or a function that builds it; it is never changed.
        train: inputs (a tensor, a tuple or a dict of tensors) and targets (integers are classes).
        test: the same, never trained on.
        optimizer: what the network is, or will be, trained with, as `gnomon.train` takes it; by default
            descent at a quarter of the stable learning rate.
        fit: whether to train a copy; by default if a function was given.
        budget: seconds for the whole.
        seed: of everything random.
        name: of the network in the report.
        command: what was typed, for the manifest.
        progress: see `Progress`.
        clock: what ``budget`` is read from.

    Hypotheses: the network gives each example its own row of outputs.
    Reference: [jacot2018neural], [cohen2021gradient], [chizat2019lazy].
    Cost: ``budget`` seconds at most, but for the first compilation of the fused kernels.

    >>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    >>> found = examine(nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), budget=5)
    >>> found.section("architecture").value("parameters").value
    8
    """
    budget = number("budget", budget, call=CALL, above=0)
    given = subject(module, train, test, optimizer=optimizer, seed=seed, name=name)
    wanted = not isinstance(module, nn.Module) if fit is None else fit
    start = clock()
    sections, facts, partial = walk(STEPS, given, budget=budget, seed=seed, fit=wanted, progress=progress, clock=clock)
    made = manifest(given, seed, budget, command, clock() - start)
    return Examination(given.name, sections, advise(given, facts), made, partial, facts)


def walk(
    steps: Iterable[AbstractStep],
    given: Subject,
    *,
    budget: float,
    seed: int,
    fit: bool,
    progress: Progress | None,
    clock: Clock,
) -> tuple[tuple[Section, ...], dict[str, Any], bool]:
    """All steps; time that one leaves goes to those after it, and one that overruns leaves them a third of theirs."""
    steps = list(steps)
    end, partial = clock() + budget, False
    facts: dict[str, Any] = {}
    sections: list[Section] = []
    for i, step in enumerate(steps):
        if progress is not None:
            progress(step.title, i, len(steps))
        if partial:
            sections.append(_without(step, "skipped", "The examination was stopped before this step.", 0.0))
            continue
        began = clock()
        left = (end - began) / sum(s.share for s in steps[i:])
        deadline = began + step.share * max(left, budget / 3 / sum(s.share for s in steps))
        try:
            outcome = _answered(step, given, Context(facts, seed, deadline, fit, clock))
            sections.append(replace(outcome.section, seconds=clock() - began))
            facts.update(outcome.facts)
        except Skipped as reason:
            sections.append(_without(step, "skipped", str(reason), clock() - began))
        except KeyboardInterrupt:
            partial = True
            sections.append(_without(step, "skipped", "Interrupted.", clock() - began))
        except Exception as reason:  # one instrument that fails must not lose what the others have found
            words = str(reason).splitlines()[0] if str(reason) else ""
            told = words if isinstance(reason, GnomonError) else f"{type(reason).__name__}: {words}"
            sections.append(_without(step, "failed", told, clock() - began))
    return tuple(sections), facts, partial


def manifest(given: Subject, seed: int, budget: float, command: str, seconds: float) -> dict[str, Any]:
    """Versions, seeds, a digest of the data, the command: what is needed to do it again."""
    digest = hashlib.sha256()
    for t in (*tensors(given.train.x), given.train.y):
        digest.update(t.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())  # numpy has no bfloat16
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "gnomon": _version(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "budget": f"{budget:g} s, used {seconds:.1f} s",
        "training data": f"{len(given.train)} examples, sha256 {digest.hexdigest()[:16]}",
        "loss": given.loss.name,
        "command": command or "gnomon.examine(...)",
    }


def _version() -> str:
    try:
        return version("gnomon")
    except PackageNotFoundError:  # run from a folder of sources
        return "not installed"


def _answered(step: AbstractStep, given: Subject, context: Context) -> Outcome:
    with evaluating(given.module), random_state(context.seed):
        return step.run(given, context)


def _without(step: AbstractStep, status: str, reason: str, seconds: float) -> Section:
    return Section(step.key, step.title, step.question, reason, status, seconds=seconds)  # type: ignore[arg-type]
