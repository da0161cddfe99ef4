"""Step that applies fixes to copies, trains them equally long, and reports the gain; searches for repairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gnomon.core.modules.copies import copy_module
from gnomon.core.results import Finding, Level, Value
from gnomon.examination.fixes.descent import for_all_parameters
from gnomon.examination.fixes.prove import FixTrialBudget, held_out_split, try_fixes
from gnomon.examination.fixes.repairs import add_repairs, is_poor_run
from gnomon.examination.fixes.table import fixes_for
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix, TriedFixes
from gnomon.examination.step import (
    SKIPPED_WITHOUT_TRAINING,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.findings import groups, most_serious_first
from gnomon.report import PageContent
from gnomon.training import Adam, TrainingRun
from gnomon.training.plan import BatchPlan
from gnomon.training.schedule import ScheduledOptimizer

SHARE_WITH_PROBLEMS = 1.5
"""Time share of the step if a problem was found that can be fixed automatically."""
SHARE_WITH_WARNINGS = 0.5
"""Time share of the step if only warnings can be fixed automatically."""
DEFAULT_BATCH_SIZE = 32
"""Examples in a batch if nothing was trained before."""
DEFAULT_STEPS = 1000
"""Steps of a run if training diverged or nothing was trained before, at most."""
MIN_STEPS = 30
"""Fewest steps of a run with a fix."""
FEWEST_TO_TRUST = 100
"""If this number of steps or more fits twice, a shorter run is compared instead of skipping the comparison."""
TIMED_STEPS = 8
"""Steps that measure the time of a step without an earlier run."""
RUNS_TO_KEEP_LENGTH = 1.3
"""The run of the examination is compared if the time left allows this number of runs of its length."""
MAX_LISTED = 6
"""Changes without a gain that are listed by name, at most."""
TIME_MARGIN = 0.9
"""Share of the time left that runs are planned for."""


class FixesStep(AbstractStep):
    """Step that trains copies with the fixes of findings, and searches for a repair if results are still poor."""

    key, title, share = "fixes", "Fixes, tried", 0.0
    question = "Which changes help, in training of the same length?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = TriedFixes
    rests_on = ("examples",)

    def time_share(self, findings: Sequence[Finding], facts: Mapping[str, bool]) -> float:  # noqa: D102
        fixable = [finding.level for finding in findings if fixes_for(finding)]
        if facts.get("poor"):
            return SHARE_WITH_PROBLEMS
        if not fixable:
            return 0.0
        return SHARE_WITH_PROBLEMS if max(fixable) is Level.PROBLEM else SHARE_WITH_WARNINGS

    def comes_first(self, findings: Sequence[Finding], facts: Mapping[str, bool]) -> bool:  # noqa: D102
        return any(finding.level is Level.PROBLEM and _asks_for_fixes(finding) for finding in findings)

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if not context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        fixable = [finding for finding in context.findings if fixes_for(finding)]
        run, symptom = products.get(TrainingRun), _symptom(context.findings)
        diverged = run is not None and run.stopped == "diverged"
        if (
            not fixable
            and symptom is None
            and not diverged
            and not (run is not None and is_poor_run(subject, run, context.seed))
        ):
            raise StepSkipped("Skipped: no finding has a fix that can be applied automatically.")
        end = context.deadline - (1 - TIME_MARGIN) * max(context.seconds, 0.0)
        budget = FixTrialBudget(
            end, max(products[NetworkProfile].cost.step(_batch_size(subject, run)), 1e-9), context.clock
        )
        if 2 * MIN_STEPS * budget.step > budget.left:
            raise out_of_time_error(f"Two runs of {MIN_STEPS} steps", 2 * MIN_STEPS * budget.step, context)
        trial, run, budget = _base(subject, run, budget, context)
        found = try_fixes(subject, fixable, trial, run, budget, seed=context.seed)
        found, findings = add_repairs(subject, found, (trial, run), symptom, budget, seed=context.seed,
                                       explained=_is_explained(context.findings))  # fmt: skip
        plots = tuple(one.plot(f"fix-{i}") for i, one in enumerate(found.proven_fixes, 1))
        values = _values(found.tried)
        data = {"tried": [one.to_dict() for one in found.tried], "untried": list(found.untried)}
        content = PageContent(_answer(found), findings, values, plots, data=data, stated=findings)
        return StepResult(content, found, "answered" if found.tried else "unsure")


def _is_explained(findings: Sequence[Finding]) -> bool:
    """Returns whether a problem is known that is more than a description of how training ended."""
    return any(one.level is Level.PROBLEM and one.kind not in groups.OUTCOMES for one in findings)


def _asks_for_fixes(finding: Finding) -> bool:
    return bool(fixes_for(finding)) or finding.kind in groups.OUTCOMES


def _symptom(findings: Sequence[Finding]) -> Finding | None:
    """Returns the most serious finding that says only how training ended."""
    return next((one for one in most_serious_first(findings)
                 if one.kind in groups.OUTCOMES and one.level is not Level.NOTE), None)  # fmt: skip


def _answer(found: TriedFixes) -> str:
    """Returns the report's sentences on the fixes that helped, and on those that were tried in vain."""
    said = [one.sentence for one in found.proven_fixes]
    others = [one.words for one in found.tried if not one.is_proven]
    if others:
        more = f" and {len(others) - MAX_LISTED} more" if len(others) > MAX_LISTED else ""
        said.append(f"Tried without a clear gain: {', '.join(others[:MAX_LISTED])}{more}.")
    if not found.tried and not found.untried:
        said.append("None of the changes that were tried on copies helps in the first steps.")
    elif not found.tried:
        said.append(f"No fix could be tried: {'; '.join(found.untried)}.")
    return " ".join(said)


def _values(tried: Sequence[TriedFix]) -> tuple[Value, ...]:
    """Returns the score with each fix; the identifier of a fix that was tried in several ways names the way too."""
    ways = Counter(one.fix for one in tried)
    return tuple(
        Value(f"score with {one.words}", one.after, meaning=f"{one.before:.3g} before",
              id=f"score-with-{one.fix}{f': {one.words}' if ways[one.fix] > 1 else ''}")
        for one in tried
    )  # fmt: skip


def _batch_size(subject: Subject, run: TrainingRun | None) -> int:
    """Computes the batch size of the training run from the number of examples that it has seen."""
    if run is None or not int(run.steps[-1]) or run.epochs != run.epochs:
        return min(subject.recipe.batch or DEFAULT_BATCH_SIZE, len(subject.train))
    return max(1, round(run.epochs * len(subject.train) / int(run.steps[-1])))


def _step_seconds(trial: TrialRun, run: TrainingRun | None, context: StepContext) -> float:
    """Returns the seconds of one training step, from the training run if it was long enough, otherwise measured now."""
    if run is None or int(run.steps[-1]) < MIN_STEPS or run.stopped == "diverged":
        module = copy_module(trial.module).requires_grad_(True)
        short = replace(trial, module=module, optimizer=for_all_parameters(trial.optimizer), steps=TIMED_STEPS)
        run = short.run(seed=context.seed, seconds=context.seconds / 4, clock=context.clock).raise_if_interrupted()
    return max(run.seconds / max(1, int(run.steps[-1])), 1e-9)


def _base(
    subject: Subject, run: TrainingRun | None, budget: FixTrialBudget, context: StepContext
) -> tuple[TrialRun, TrainingRun, FixTrialBudget]:  # fmt: skip
    """Returns the training run without any fix, as the baseline; repeats it with fewer steps if time is short."""
    train, held, whole = held_out_split(subject, context.seed)
    size, recipe = min(_batch_size(subject, run), len(train)), subject.recipe
    optimizer = recipe.optimizer or Adam()
    if recipe.schedule is not None:
        optimizer = ScheduledOptimizer(optimizer, recipe.schedule, max(1, len(train) // size))
    done = 0 if run is None or run.stopped == "diverged" else int(run.steps[-1])
    wanted = done or _default_steps(subject, size)
    batches = BatchPlan(size, recipe.loader if whole else None, recipe.augment)
    trial = TrialRun(subject.module, train, held, subject.loss, optimizer, batches, wanted)
    budget = replace(budget, step=_step_seconds(trial, run, context))
    fits = int(budget.left / budget.step)
    usable = run is not None and whole and run.stopped != "diverged" and RUNS_TO_KEEP_LENGTH * wanted <= fits
    steps = wanted if usable else min(wanted, fits // 3 if fits // 3 >= FEWEST_TO_TRUST else fits // 2)
    if steps < min(MIN_STEPS, wanted):
        raise out_of_time_error(f"Two runs of {MIN_STEPS} steps", 2 * MIN_STEPS * budget.step, context)
    trial = replace(trial, steps=steps)
    if usable and run is not None:
        return trial, run, budget
    return trial, _run_as_given(trial, subject, budget, context), budget


def _default_steps(subject: Subject, size: int) -> int:
    """Returns the number of steps for testing fixes if training did not finish: the user's epochs, or a default."""
    epochs = subject.recipe.epochs
    return DEFAULT_STEPS if epochs is None else max(1, epochs * max(1, len(subject.train) // size))


def _run_as_given(trial: TrialRun, subject: Subject, budget: FixTrialBudget, context: StepContext) -> TrainingRun:
    if not subject.trainable:  # Without trainable parameters, training would leave the network unchanged.
        copy = copy_module(trial.module).requires_grad_(True)
        return replace(trial, module=copy, steps=0).run(seed=context.seed)
    run = trial.run(seed=context.seed, seconds=budget.left, clock=context.clock)
    run.raise_if_interrupted()
    if run.stopped == "time":
        raise out_of_time_error(f"A run of {trial.steps} steps", trial.steps * budget.step, context)
    return run
