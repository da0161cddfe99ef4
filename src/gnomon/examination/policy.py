"""Decides which findings to report: one per cause, no contradicting fixes, no more certainty than the data allow.

Instruments and steps state findings and facts, and do not know each other. `findings_to_report` decides by the table of
findings (`gnomon.findings`):

- A fact can show that a finding is wrong (``refuted_if``), or that it is less serious (``milder_if``).
- If the trained network has good results on held-out examples, no problem is reported that contradicts them
  (`groups.CONTRADICTED_BY_RESULTS`); it becomes a warning.
- A cause suppresses its consequences (``causes``), but never a finding of a higher level.
- Of two findings of one kind at one place, and of two findings with opposite fixes (``excludes``), the more serious one
  is reported.

>>> from gnomon.findings.training import LEARNING_RATE_SMALL, TRAINING_DIVERGED
>>> [finding.kind for finding in findings_to_report([Finding(LEARNING_RATE_SMALL), Finding(TRAINING_DIVERGED)])]
['training-diverged']
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.core.results import Finding, Level
from gnomon.core.results.record import Record
from gnomon.findings import groups, most_serious_first
from gnomon.report import Section

__all__ = ["ExaminationFacts", "WhyInconclusive", "why_inconclusive", "findings_to_report", "sections_to_report"]


@dataclass(frozen=True, slots=True)
class ExaminationFacts(Record):
    """Yes/no facts that the examination establishes, such as whether training was long enough, and on which findings
    depend.

    ``labels_related``: the trained network, or a simple model, predicts held-out labels. ``does_well``: the network is
    at least as good as a simple model. ``fits``: training reached what a simple model reaches. ``loss_fell``: training
    halved the loss. ``trained_enough``: training was long enough to judge its result. ``learning_rates_tried``: no
    other learning rate does far better. ``training_wanted``: the user asked for training. ``good_results``: on held-out
    examples the trained network avoids most of the error of a guess. ``poor``: it makes many errors on them.

    >>> ExaminationFacts(training_wanted=True).short_training
    True
    """

    labels_related: bool = False
    does_well: bool = False
    fits: bool = False
    loss_fell: bool = False
    trained_enough: bool = False
    learning_rates_tried: bool = False
    training_wanted: bool = False
    good_results: bool = False
    poor: bool = False

    @property
    def short_training(self) -> bool:
        """Checks whether training was requested but was too short to judge."""
        return self.training_wanted and not self.trained_enough

    @property
    def not_trained_enough(self) -> bool:
        """Checks whether the network was not trained, or too little."""
        return not self.trained_enough


WHY_REFUTED = {
    "labels_related": "The labels are related to the inputs: the trained network, or a simple model, predicts held-out "
    "labels.",
    "learning_rates_tried": "Short runs with larger learning rates do no better, so you can keep the learning rate.",
    "good_results": "The trained network has good results on held-out examples despite this finding.",
}
"""What the answer of a section adds if a fact refutes its finding."""
DESPITE = " The network performs well despite this finding."
"""What the message of a problem adds if good results make it a warning."""
ELSEWHERE = "Another finding of this report contains the fix."

HEADS = {
    "no-parameters": "nothing to train, so it cannot be called healthy",
    "too-few-examples": "not enough data to decide",
    "untrained": "not trained yet, so it cannot be called healthy",
    "chance-level": "not healthy, although no single problem was found",
}
"""The start of the verdict if a finding of this kind makes it inconclusive; the first match counts."""

UNSETTLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(groups.BREAKS_PREDICTIONS, ("prediction",)),
    "untrained": ("decisions",),
    "chance-level": ("decisions", "training"),
    "too-few-examples": ("examples",),
}
"""For each kind of finding, the foundations of answers (`AbstractStep.rests_on`) that it makes unreliable."""
WHY_UNSURE = {
    "prediction": "This ignores the problems found and will not hold while they are present",
    "decisions": "This says little because the network performs like random guessing",
    "training": "This says little because the network performs like random guessing",
    "examples": "Judged on too few examples",
}


def findings_to_report(findings: Sequence[Finding], facts: ExaminationFacts | None = None) -> tuple[Finding, ...]:
    """Returns the findings to report: removes duplicates, consequences of other findings, and findings that facts
    refute.

    >>> findings_to_report(())
    ()
    """
    facts = ExaminationFacts() if facts is None else facts
    left = [_adjust(finding, facts) for finding in findings if not _is_refuted(finding, facts)]
    left = _without_consequences(left)
    left = [finding for finding in left if finding is most_serious_first(f for f in left if _repeats(f, finding))[0]]
    opposed: list[Finding] = []
    for finding in most_serious_first(left):
        if not any(_opposes(kept, finding) for kept in opposed):
            opposed.append(finding)
    return tuple(finding for finding in left if any(finding is kept for kept in opposed))


def sections_to_report(sections: Sequence[Section], facts: ExaminationFacts) -> tuple[Section, ...]:
    """Returns the report's sections with only the findings to report; marks answers that became unreliable as "unsure".

    >>> sections_to_report((), ExaminationFacts())
    ()
    """
    sections = [_with_facts(section, facts) for section in sections]
    kept = {id(finding) for finding in findings_to_report([f for section in sections for f in section.findings], facts)}
    sections = [_without_suppressed(section, kept) for section in sections]
    unreliable: dict[str, None] = {}
    for kind, reasons in UNSETTLES.items():
        found = _find(sections, kind, reported=reasons == ("prediction",))
        if found is not None and (found.level is Level.PROBLEM or kind in HEADS):
            unreliable.update(dict.fromkeys(reasons))
    return tuple(_unsure(section, unreliable) for section in sections)


@dataclass(frozen=True, slots=True)
class WhyInconclusive(Record):
    """The reason why the network cannot be called healthy, although no problem was found.

    ``kind`` is "time", "failed" or a kind of finding, ``text`` the verdict without the name of the network.
    """

    kind: str
    text: str
    finding: Finding | None = None


def why_inconclusive(sections: Sequence[Section]) -> WhyInconclusive | None:
    """Returns why the network cannot be called healthy although no problem was found; None if it is healthy.

    >>> why_inconclusive(()) is None
    True
    """
    late = [section for section in sections if section.state == "late"]
    if any(section.essential for section in late):
        count = f"{len(late)} of {len(sections)} questions did not fit into the budget"
        return WhyInconclusive("time", f"too little time to decide. {count}.")
    if failed := [section.title for section in sections if section.state == "failed"]:
        count = f"{len(failed)} of {len(sections)} measurements failed ({', '.join(failed)})"
        return WhyInconclusive("failed", f"measurements failed, so it cannot be called healthy. {count}.")
    for kind, head in HEADS.items():
        if (found := _find(sections, kind)) is not None:
            return WhyInconclusive(kind, f"{head}. {found.message}", found)
    return None


def _is_refuted(finding: Finding, facts: ExaminationFacts) -> bool:
    return bool(finding.row.refuted_if) and getattr(facts, finding.row.refuted_if)


def _adjust(finding: Finding, facts: ExaminationFacts) -> Finding:
    """Returns a finding, or its milder variant if a known fact makes it less serious."""
    row = finding.row
    if row.milder is not None and getattr(facts, row.milder_if):
        return replace(finding, row=row.milder)
    if facts.good_results and row.level is Level.PROBLEM and row.id in groups.CONTRADICTED_BY_RESULTS:
        return replace(finding, row=replace(row, level=Level.WARNING, message=row.message + DESPITE, causes=()))
    return finding


def _without_consequences(findings: Sequence[Finding]) -> list[Finding]:
    """Removes findings that another finding explains; of findings that explain each other, the most serious stays.

    What is left out is explained, directly or through others, by a finding that stays.
    """
    left, kept = list(findings), list[Finding]()
    while left:
        roots = [one for one in left if not any(_explains(other, one) for other in left)]
        chosen = roots or list(most_serious_first(left)[:1])
        kept += chosen
        while chosen:
            left = [one for one in left if not any(one is other for other in chosen)]
            chosen = [one for one in left if any(_explains(cause, one) for cause in chosen)]
    return [one for one in findings if any(one is other for other in kept)]


def _explains(cause: Finding, effect: Finding) -> bool:
    """Checks whether one finding can cause another one and is at least as serious."""
    return cause is not effect and cause.level >= effect.level and effect.kind in cause.row.causes


def _repeats(one: Finding, other: Finding) -> bool:
    """Checks whether two findings are duplicates: the same kind and layer, or the same outcome of training."""
    return one.kind == other.kind and (one.kind in groups.OUTCOMES or one.where == other.where)


def _opposes(one: Finding, other: Finding) -> bool:
    return other.kind in one.row.excludes or one.kind in other.row.excludes


def _with_facts(section: Section, facts: ExaminationFacts) -> Section:
    """Removes findings that known facts refute from a report section, makes others milder, and explains this in the
    answer.
    """
    why = dict.fromkeys(WHY_REFUTED[f.row.refuted_if] for f in section.findings if _is_refuted(f, facts))
    findings = tuple(_adjust(f, facts) for f in section.findings if not _is_refuted(f, facts))
    answer = " ".join((section.answer, *why))
    return replace(section, content=replace(section.content, answer=answer, findings=findings))


def _without_suppressed(section: Section, kept: set[int]) -> Section:
    findings = tuple(finding for finding in section.findings if id(finding) in kept)
    others = tuple(finding for finding in section.findings if id(finding) not in kept)
    if not others:
        return section
    told = any(section.content.states(finding) for finding in others)
    answer = f"{section.answer} {ELSEWHERE}" if told else section.answer
    return replace(section, content=replace(section.content, answer=answer, findings=findings), stated_elsewhere=others)


def _find(sections: Sequence[Section], kind: str, *, reported: bool = False) -> Finding | None:
    """Finds the most serious finding of one kind in the report's sections; optionally also findings that another
    section reports.
    """
    found = [f for s in sections for f in (s.findings if reported else (*s.findings, *s.stated_elsewhere))]
    return next(iter(most_serious_first(f for f in found if f.kind == kind)), None)


def _unsure(section: Section, unreliable: dict[str, None]) -> Section:
    """Marks a report section without findings as "unsure" if its answer depends on something unreliable."""
    reason = next((reason for reason in unreliable if reason in section.rests_on), None)
    if reason is None or section.state != "answered" or section.findings or section.stated_elsewhere:
        return section
    answer = f"{WHY_UNSURE[reason]}: {section.answer}"
    return replace(section, content=replace(section.content, answer=answer), state="unsure")
