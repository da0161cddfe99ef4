"""Runs the steps of an examination within a time budget; if a step fails, the others still run."""

import functools
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import torch
from torch import nn

from gnomon.adapter.reading import TaskName
from gnomon.adapter.view import OutputSelection
from gnomon.core.errors import GnomonError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_number
from gnomon.core.inputs.images import AdaptedInputWarning
from gnomon.core.machine.clock import Clock
from gnomon.core.machine.progress import is_terminal, progress_line
from gnomon.core.metrics import binomial_interval
from gnomon.core.modules.preserve import random_state, set_mode
from gnomon.core.results import Finding
from gnomon.examination.cost import choose_threads, with_one_thread
from gnomon.examination.fixes.table import fixes_for
from gnomon.examination.fixes.tried import TriedFixes, advice_after_trials
from gnomon.examination.manifest import report_manifest
from gnomon.examination.policy import ExaminationFacts, findings_to_report, sections_to_report
from gnomon.examination.recipe import build_recipe
from gnomon.examination.record import Examination
from gnomon.examination.step import (
    SKIPPED_WITHOUT_RESULT,
    SKIPPED_WITHOUT_TRAINING,
    AbstractStep,
    OutOfTime,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
    error_sentence,
    order_steps,
)
from gnomon.examination.steps import STEPS
from gnomon.examination.subject import Subject, build_subject
from gnomon.examination.trainers import training_setup
from gnomon.program import read_program
from gnomon.report import PageContent, Section
from gnomon.report.page import SectionState
from gnomon.tangent.checks import DependentExamplesError
from gnomon.training import Schedule, TrainingRun
from gnomon.training.evaluate import Loss
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["StepEnded", "examine"]

MAX_UNCOUNTED_IMPORT_SECONDS = 2.0
"""Seconds of import time that do not count toward the budget, once per process."""
LARGEST_SHARE = 0.8
"""Share of the time left for a step that comes first; the others only measure what is known to need a fix."""
Progress = Callable[[str, int, int], None]
"""Called with the title of the step that starts, its number, and the number of steps."""
StepEnded = Callable[[Section, int, int], None]
"""Called with the section of the step that ended, before findings are reconciled, its number, and the number of steps.
"""


@add_call_to_errors("examine(module, train)")
def examine(
    module: Any,
    train: Any = None,
    test: Any = None,
    *,
    optimizer: OptimizerChoice | None = None,
    lr: float | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    schedule: Schedule | None = None,
    loss: Loss | None = None,
    task: TaskName | None = None,
    output: OutputSelection | None = None,
    augment: Callable[[Inputs], Inputs] | None = None,
    fit: bool | None = None,
    budget: float = 60.0,
    seed: int = 0,
    name: str | None = None,
    notes: Sequence[str] = (),
    columns: Sequence[str] = (),
    class_names: Sequence[str] = (),
    vocabulary: Sequence[str] = (),
    command: str = "",
    examination_steps: Sequence[AbstractStep] | None = None,
    progress: Progress | None = None,
    step_ended: StepEnded | None = None,
    clock: Clock = perf_counter,
) -> Examination:
    """Examines a network and its data, compares measurements with theory, and says what to fix.

    A step that is skipped or fails says why. Ctrl-C returns the results so far.
    Args:
        module: the network, a function that builds it, a LightningModule, or a trainer with its loaders, loss and
            optimizer; it is never changed.
        train: inputs and targets (integers are classes): a pair, a dict with "labels", a ``Dataset``, a ``DataLoader``,
            or batches of these; inputs are a tensor, a tuple or a dict. ``test`` is the same, never trained on.
        optimizer: an instance, class or factory from torch.optim, ``SGD(lr)``, ``Adam(lr)``, or a name; default Adam.
        lr: the learning rate if ``optimizer`` is a name or a class, or is not given.
        batch: batch size; by default the batch size of the ``DataLoader``, or a size chosen by the cost of a step.
        epochs: maximum number of passes over the data; by default until training converges, if there is time.
        schedule: a function of a torch optimizer that returns a torch scheduler, which is stepped once per epoch.
        loss: a function (outputs, targets) -> mean loss; by default cross-entropy for classes, else squared.
        task: what is learned, such as "ensemble", if gnomon reads it wrongly.
        output: which part of a returned tuple, dict or record is the output: a name, a place, or a function.
        augment: a function that changes the inputs of each training batch.
        fit: whether to train a copy; by default only if ``module`` is a function that builds the network.
        budget: time limit in seconds.
        seed: random seed; ``clock`` measures ``budget``, and ``command`` is the command line, for the record.
        notes: sentences about earlier preprocessing; the report repeats them. ``name`` is the network's name there.
        columns: names of the columns of a table; ``class_names`` and ``vocabulary`` are names of classes and tokens.
        examination_steps: the steps to run, by default `gnomon.examination.STEPS`.
        progress: called before each step, ``step_ended`` after it; by default lines on a terminal or in a notebook.

    Reference: [jacot2018neural], [cohen2021gradient], [chizat2019lazy].
    Cost: at most ``budget`` seconds, plus up to two seconds for imports, once per process.

    >>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    >>> result = examine(nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), budget=5)
    >>> result.section("architecture").value("parameters").value
    8
    """
    budget, called = _announce(check_number("budget", budget, above=0), shown=progress is None), perf_counter()
    with warnings.catch_warnings(), with_one_thread() as threads:
        warnings.simplefilter("ignore", AdaptedInputWarning)  # The section on the data reports this warning.
        start = _begin(clock)
        setup = training_setup(module, train, test).with_given(optimizer, loss, schedule, notes)
        plan = functools.partial(build_recipe, lr=lr, batch=batch, epochs=epochs, schedule=setup.schedule,
                                 loss=setup.loss, augment=augment)  # fmt: skip
        network = build_subject(
            setup.module, setup.train, setup.test, optimizer=setup.optimizer, seed=seed, plan=plan,
            name=name or setup.name, notes=setup.notes, columns=columns, class_names=class_names,
            vocabulary=vocabulary, reading=task, output=output,
        )  # fmt: skip
        torch.set_num_threads(choose_threads(network, clock, budget, threads))
        sections, products, partial = run_steps(
            STEPS if examination_steps is None else examination_steps, network, end=start + budget, seed=seed,
            progress=progress, step_ended=step_ended, clock=clock, fit=setup.fit if fit is None else fit,
        )  # fmt: skip
        made = report_manifest(network, seed, budget, command, clock() - start)
    return Examination(network.name, sections, made | _wall_time(called), partial, products, budget)


def _wall_time(began: float) -> dict[str, str]:
    return {"wall time": f"{perf_counter() - began:.1f} s, with imports and compilation"}


def _announce(budget: float, *, shown: bool) -> float:
    """Prints at a terminal or in a notebook that the examination begins; returns the time budget."""
    if shown and is_terminal():
        progress_line(f"examining the network, at most {budget:g} s")
    return budget


def _begin(clock: Clock) -> float:
    """Returns the time at which the budget starts: after slow imports, which count only beyond a limit."""
    called = clock()
    _prepare()
    return min(clock(), called + MAX_UNCOUNTED_IMPORT_SECONDS)


@functools.cache
def _prepare() -> None:
    """Triggers slow imports before the clock starts, so that no step of the examination loses time to them.

    Reading a module and the first interval of a share load some nine hundred modules of torch, sympy and scipy, in
    about two seconds.
    """
    with random_state(0):
        read_program(nn.Linear(1, 1), torch.zeros(2, 1, dtype=torch.float64))
    binomial_interval(1, 2)


def run_steps(
    steps: Sequence[AbstractStep],
    network: Subject,
    *,
    end: float,
    seed: int,
    fit: bool,
    progress: Progress | None,
    clock: Clock,
    step_ended: StepEnded | None = None,
) -> tuple[tuple[Section, ...], StepProducts, bool]:
    """Runs all steps of the examination in order; each gets a fraction of the time left until ``end``.

    Returns their sections, their products, and whether they were interrupted.
    """
    steps = order_steps(steps)
    partial, products = False, StepProducts()
    sections: list[Section] = []
    known: dict[str, bool] = {}
    report = step_ended or (_show if progress is None and is_terminal() else None)
    for i, step in enumerate(steps):
        if report is not None and sections:
            report(sections[-1], i, len(steps))
        if progress is not None:
            progress(step.title, i, len(steps))
        if partial:
            sections.append(_section(step, "skipped", "Skipped: the examination was stopped before this step.", 0.0))
            continue
        began = clock()
        stated = [finding for section in sections for finding in section.findings]
        found = findings_to_report(stated, ExaminationFacts(**known, training_wanted=fit)) if stated else ()
        deadline = began + (end - began) * _share(step, steps[i + 1 :], network, products, found, known, fit=fit)
        try:
            if began >= end:
                raise _no_time_left(step, network, products, fit=fit)
            result = _run(step, steps, network, products, StepContext(seed, deadline, fit, clock, found))
            seconds, content = clock() - began, _with_source_lines(result.content, network)
            sections.append(_section(step, result.state, content, seconds, time_factor=result.time_factor))
            products = products if result.product is None else products.plus(step.gives, result.product)
            known |= {name: known.get(name, False) or result.facts.get(name, False) for name in step.states}
        except StepSkipped as reason:
            state: SectionState = "late" if isinstance(reason, OutOfTime) else "skipped"
            factor = reason.time_factor if isinstance(reason, OutOfTime) else 1.0
            sections.append(_section(step, state, str(reason), clock() - began, time_factor=factor))
        except KeyboardInterrupt:
            partial = True
            sections.append(_section(step, "skipped", "Interrupted.", clock() - began))
        except Exception as error:  # If one section fails, the sections after it still run.
            sections.append(_section_of_error(step, error, clock() - began))
    if report is not None and sections:
        report(sections[-1], len(steps), len(steps))
    decided = sections_to_report(sections, ExaminationFacts(**known, training_wanted=fit))
    return _with_tried_fixes(decided, products.get(TriedFixes)), products, partial


def _no_time_left(step: AbstractStep, network: Subject, products: StepProducts, *, fit: bool) -> StepSkipped:
    """Returns why a step is left out that begins after the deadline: it may not apply, with any budget."""
    if not step.possible(network, products, fit=True):
        return StepSkipped("Skipped: this question does not apply to the network or its data.")
    if not step.possible(network, products, fit=fit):
        return StepSkipped(SKIPPED_WITHOUT_TRAINING)
    return OutOfTime("No time left for this step. Give a larger budget.")


def _section_of_error(step: AbstractStep, error: Exception, seconds: float) -> Section:
    if _lacks_derivative(error):
        why = f"Skipped: PyTorch does not implement a derivative that this needs. {error_sentence(error)}"
        return _section(step, "skipped", why, seconds)
    if isinstance(error, DependentExamplesError):  # for example adaptive ODE solvers, whose steps suit the whole batch
        return _section(step, "skipped", f"Skipped: {_sentence(error)}", seconds)
    whole = "".join(traceback.format_exception(error))
    return _section(step, "failed", _sentence(error), seconds, whole)


def _lacks_derivative(error: Exception) -> bool:
    """Checks whether an error says that a torch operation, such as the CTC loss, has no second derivative."""
    # torch raises a plain RuntimeError for some operations without a derivative, so its message must be compared.
    return isinstance(error, NotImplementedError) or str(error).startswith("derivative for ")


def _share(
    step: AbstractStep,
    later: Sequence[AbstractStep],
    network: Subject,
    products: StepProducts,
    found: Sequence[Finding],
    known: Mapping[str, bool],
    *,
    fit: bool,
) -> float:
    """Returns the fraction of the remaining time that the next step may take."""
    if step.comes_first(found, known):
        return LARGEST_SHARE
    own = step.time_share(found, known)
    others = [other.time_share(found, known) for other in later if other.possible(network, products, fit=fit)]
    return own / (own + sum(others)) if own > 0 else 0.0


def _show(section: Section, number: int, steps: int) -> None:
    """Prints one line about a finished step of the examination, at a terminal or in a notebook."""
    ended = "" if section.state in ("answered", "unsure") else f", {section.state}"
    progress_line(f"{number}/{steps}  {section.title}: {section.seconds:.1f} s{ended}")


def _run(
    step: AbstractStep, steps: Sequence[AbstractStep], network: Subject, products: StepProducts, context: StepContext
) -> StepResult:
    for kind in step.needs:
        if kind not in products:
            giver = next(other for other in steps if other.gives is kind)
            if kind is TrainingRun:
                raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
            raise StepSkipped(f"{SKIPPED_WITHOUT_RESULT} '{giver.title}', which is missing.")
    with set_mode(network.module, "eval"), random_state(context.seed):
        return step.run(network, products.only((*step.needs, *step.uses)), context)


def _with_source_lines(content: PageContent, network: Subject) -> PageContent:
    """Adds the line of the user's code to each finding about a layer."""
    located = tuple(replace(finding, source=network.source_of(finding)) for finding in content.findings)
    return replace(content, findings=located) if located else content


def _with_tried_fixes(sections: tuple[Section, ...], fixes: TriedFixes | None) -> tuple[Section, ...]:
    """Adds to the text of each finding which fixes were tested and whether they helped."""
    if fixes is None:
        return sections

    def with_advice(finding: Finding) -> Finding:
        advice = advice_after_trials(finding, fixes, several=len(fixes_for(finding)) > 1)
        return finding if advice == finding.fix else replace(finding, advice=advice)

    return tuple(
        replace(section, content=replace(section.content, findings=tuple(map(with_advice, section.findings))))
        for section in sections
    )


def _sentence(error: Exception) -> str:
    first = str(error).splitlines()[0] if str(error) else ""
    return error_sentence(error) if isinstance(error, GnomonError) else f"{type(error).__name__}: {first}"


def _section(
    step: AbstractStep,
    state: SectionState,
    said: PageContent | str,
    seconds: float,
    whole: str = "",
    *,
    time_factor: float = 1.0,
) -> Section:
    content = PageContent(said) if isinstance(said, str) else said
    return Section(
        step.key, step.title, step.question, content, state, seconds, whole, essential=step.essential,
        rests_on=step.rests_on, if_unsure=step.if_unsure, time_factor=time_factor,
    )  # fmt: skip
