"""Findings that cannot stand beside each other: one cause is named, and no two cures pull apart.

Each step finds what it measures and does not know the others. Here the gravest cause keeps its word: what follows from
it is left out, and of two cures that pull in opposite directions (a smaller and a larger learning rate) the graver
stays. A cause never silences a consequence of a higher level, so leaving findings out never makes a network healthy.
The section of a finding that is left out keeps its mark, because its answer still reports the problem.

>>> slow = Finding("learning-rate-small", "It is small.", "Try a larger learning rate.", 0.3)
>>> fast = Finding("training-diverged", "It diverged.", "Use a smaller learning rate.", 0.8)
>>> [finding.kind for finding in standing((slow, fast))]
['training-diverged']
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gnomon.core.results import Finding, Level
from gnomon.report import Section

__all__ = ["consistent", "standing"]

SCALE = ("input-scale", "feature-scale", "target-scale")
BROKEN = (
    "labels-unrelated", "constant-inputs", "one-class", "indistinct-examples", "not-finite", "zero-weights",
    "broadcast-loss", "softmax-before-loss", "sigmoid-before-loss", "inputs-ignored", "detached",
)  # fmt: skip
OUTCOMES = (
    "undertrained", "overfit", "underfit", "below-limit", "learning-rate-small", "learning-rate-too-small",
    "not-learning", "overconfident", "shifts-change-decisions", "chance-level",
)  # fmt: skip

FOLLOWS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (BROKEN, OUTCOMES),
    (SCALE, ("vanishing-activations", "vanishing-gradients", "exploding-activations", "exploding-gradients",
             "learning-rate-small", "learning-rate-too-small", "learning-rate-too-large", "undertrained", "underfit",
             "below-limit", "not-learning", "chance-level", "training-diverged", "exploding-loss", "dead-units",
             "predicted-divergence")),
    (("learning-rate-too-large", "training-diverged", "exploding-loss"),
     ("predicted-divergence", "learning-rate-unstable", "attention-saturated", "tokens-alike", "dead-head", *OUTCOMES)),
    (("learning-rate-too-large",), ("training-diverged", "exploding-loss", "dead-units")),  # a smaller one learns
    (("weight-decay-wins",), ("dead-units", "not-learning", "chance-level", "underfit", "undertrained", "below-limit")),
    (("not-learning",), ("chance-level",)),  # the former compares with a simple model
    (("overfit",), ("underfit", "undertrained", "below-limit")),
    (("feature-scale",), ("input-scale",)),  # one cure, and the former says which column
    (("batch-norm-statistics",), ("dead-units", "vanishing-activations", "exploding-activations", "merged-inputs",
                                  "vanishing-gradients", "exploding-gradients")),  # of eval mode, which they make
)  # fmt: skip
"""Kinds of findings, and kinds that are left out beside one of them: consequences, or cures that pull the other way."""

IDLE, WHOLE = 0.4, 0.8
"""Severity of dead units in a network that does well, and that from which on a whole layer is dead."""

SEEN = "The trained network, or a simple model, predicts labels that it has not seen: they are related to the inputs."
TRIED = "Short runs with larger ones do no better, so there is no need to change it."
"""What the answer of a section adds if another measurement refutes its finding."""

UNSEEN = 0.49
"""Severity of labels that look unrelated before training, where none followed that could tell: the gravest warning."""

OPPOSED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("learning-rate-too-large", "learning-rate-unstable", "training-diverged", "exploding-loss",
      "predicted-divergence"),
     ("learning-rate-small", "learning-rate-too-small", "undertrained", "underfit", "not-learning")),
    (("overfit",), ("undertrained", "underfit", "below-limit")),
)  # fmt: skip
"""Cures that pull apart: of a pair the graver finding stays."""


def standing(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that may stand beside each other, in the order given.

    >>> standing(())
    ()
    """
    kept = [finding for finding in findings if not any(_causes(other, finding) for other in findings)]
    kept = [f for f in kept if f is max((g for g in kept if _alike(f, g)), key=_severity)]
    for one, other in OPPOSED:
        graver, lesser = sorted((_gravest(kept, one), _gravest(kept, other)), reverse=True)
        if lesser > 0:
            against = other if graver == _gravest(kept, one) else one
            kept = [finding for finding in kept if finding.kind not in against]
    return tuple(kept)


def consistent(
    sections: Sequence[Section], *, learned: bool, well: bool = False, short: bool = False
) -> tuple[Section, ...]:  # fmt: skip
    """The sections with the findings that may stand; ``learned``: examples that were never seen are told rightly.

    ``well``: as many of them as by a simple model, or more. Units of it that are dead are then no fault, but capacity
    that is not used. ``short``: training was wanted, and there was no time for enough of it. Then it is a warning that
    no relation of labels to inputs was seen before: there are tasks in which only a trained network sees one.

    What a trained network tells of examples it has not seen shows that labels are related to inputs, whatever a test
    before training could see; short runs with other learning rates that do no better show that the one in use is not
    too small, whatever the curvature would allow. Labels of train that were told by those of test are not refuted: they
    were seen to be out of order, and it was not merely not seen that they are in order.

    >>> from gnomon.report import Content
    >>> finding = Finding("labels-unrelated", "They are unrelated.", "Look at the labels.", 0.9)
    >>> section = Section("kernel", "Kernel", "Are they related?", Content("No.", (finding,)))
    >>> [len(consistent((section,), learned=learned)[0].findings) for learned in (False, True)]
    [1, 0]
    """
    sections = [_milder(section, "dead-units", WHOLE, IDLE) for section in sections] if well else sections
    sections = [_milder(s, "labels-unrelated", 1.0, UNSEEN) if short and s.key != "split" else s for s in sections]
    sections = [_without_refuted(s, "labels-unrelated", SEEN) if learned and s.key != "split" else s for s in sections]
    if any(s.key == "optimizer" and s.state == "answered" and not s.findings for s in sections):
        sections = [_without_refuted(section, "learning-rate-small", TRIED) for section in sections]
    kept = standing([finding for section in sections for finding in section.findings])
    stays = {id(finding) for finding in kept}
    broken = any(finding.kind in BROKEN and finding.level is Level.FAULT for finding in kept)
    return tuple(_unpredicted(_with(section, stays)) if broken else _with(section, stays) for section in sections)


def _causes(cause: Finding, effect: Finding) -> bool:
    """Whether one finding explains another, so that only the first is stated."""
    if cause.level < effect.level or (cause.kind == "labels-unrelated" and cause.level is not Level.FAULT):
        return False
    return any(
        cause.kind in causes and effect.kind in effects and effect.kind not in causes for causes, effects in FOLLOWS
    )


def _without_refuted(section: Section, kind: str, why: str) -> Section:
    """Without findings that another measurement shows to be wrong; the answer then says which one."""
    rest = tuple(finding for finding in section.findings if finding.kind != kind)
    if len(rest) == len(section.findings):
        return section
    return replace(section, content=replace(section.content, answer=f"{section.answer} {why}", findings=rest))


def _milder(section: Section, kind: str, below: float, most: float) -> Section:
    """With findings of this kind, of a severity below the first, at most as severe as the second."""
    findings = tuple(
        replace(f, severity=min(f.severity, most)) if f.kind == kind and f.severity < below else f
        for f in section.findings
    )
    return replace(section, content=replace(section.content, findings=findings))


def _unpredicted(section: Section) -> Section:
    """A prediction by the tangent kernel, which knows nothing of a broken loss or of labels, says so."""
    if section.key != "forecast" or section.state != "answered":
        return section
    answer = f"{section.answer} This prediction ignores the faults of other sections and will not hold with them."
    return replace(section, content=replace(section.content, answer=answer), state="unsure")


def _with(section: Section, stays: set[int]) -> Section:
    findings = tuple(finding for finding in section.findings if id(finding) in stays)
    if len(findings) == len(section.findings):
        return section
    others = tuple(finding for finding in section.findings if id(finding) not in stays)
    said = any(finding.what in section.answer for finding in others)
    answer = f"{section.answer} What to do about it is said in another section." if said else section.answer
    return replace(section, content=replace(section.content, answer=answer, findings=findings), stated_elsewhere=others)


def _alike(one: Finding, other: Finding) -> bool:
    """Whether two findings say the same: one kind at one place, or one outcome of training wherever it shows."""
    return one.kind == other.kind and (one.kind in OUTCOMES or one.where == other.where)


def _severity(finding: Finding) -> float:
    return finding.severity


def _gravest(findings: Iterable[Finding], kinds: tuple[str, ...]) -> float:
    return max((finding.severity for finding in findings if finding.kind in kinds), default=0.0)
