"""Defines the result of an examination, which can be printed, saved as a page, and shown in a notebook.

The findings of its sections are the one list of what is wrong; the verdict, ``healthy``, the status of each section,
the advice on the page and the exit code of ``gnomon examine --strict`` are derived from it.

>>> print(Examination("net", (), {"seed": 0}))
net: no problem found.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.core.errors import add_call_to_errors
from gnomon.core.machine.files import write_file
from gnomon.core.results import Finding, Level, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.examination.certainty import certainty_text
from gnomon.examination.explanations import EXPLANATIONS
from gnomon.examination.fixes.tried import TriedFix, TriedFixes
from gnomon.examination.policy import WhyInconclusive, why_inconclusive
from gnomon.examination.step import StepProducts
from gnomon.examination.summary import (
    advice_on_falling_loss,
    count_lesser,
    count_with_noun,
    headline_numbers,
    round_up_seconds,
    sections_without_enough_time,
    so_far,
    summary_facts,
    verdict_sentence,
    what_is_not_covered,
)
from gnomon.findings import most_serious_first
from gnomon.report import Page, Section, page_html, page_markdown
from gnomon.report.card import card_html
from gnomon.report.front import SHOWN_EXAMPLES
from gnomon.report.load import load_section, read_saved
from gnomon.report.page import PageTile
from gnomon.report.plot_selection import shows_something

SCHEMA_VERSION = 5
"""Version of `Examination.to_dict`; changes when names or meanings change."""
FIRST_PLOTS = (
    ("loss", "predicted-loss", "signal-forward"),
    ("perplexity-by-position", "confusion", "predicted-true", "scores", "kernel-modes"),
    ("theory-and-measurement", "roc", "signal-forward", "kernel-modes"),
)
"""Plots of the first screen by id: of each row the first one that was made and is not shown yet."""
ORDER = (
    "fixes", "match", "training", "outcome", "margins", "examples", "samples", "importance", "attribution", "optimizer",
    "split", "columns", "data", "wiring", "signal", "stability", "kernel", "forecast", "regime", "curvature",
    "invariance", "sequences", "graphs", "limit", "architecture",
)  # fmt: skip
"""Keys of the sections, the most important first; findings come before all others."""
PICTURES = ("theory-and-measurement", "loss", "signal-forward", "kernel-modes")
"""Ids of the plots that `Examination.plots` returns."""


@dataclass(frozen=True, slots=True, eq=False)
class Examination(Result):
    """Result of an examination: sections with their findings, and versions, seed and data for reproduction.

    ``products`` are the objects behind the numbers by their type (``result.products[TrainingRun]`` has the trained
    model); continue from there in your own code. ``partial`` says that the examination was stopped before its end.
    ``proofs`` are the sentences of proven fixes by the kind of finding, for an examination that was loaded from a file.
    """

    name: str
    sections: tuple[Section, ...]
    manifest: Mapping[str, Any]
    partial: bool = False
    products: StepProducts = field(default_factory=StepProducts, repr=False, metadata=HIDDEN_IN_JSON)
    budget: float | None = field(default=None, repr=False)
    proofs: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns all findings of the examination, most serious first."""
        return most_serious_first(f for s in self.sections for f in s.findings)

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Returns the problems to fix before relying on training or its results."""
        return tuple(finding for finding in self.findings if finding.level is Level.PROBLEM)

    @property
    def fixes(self) -> tuple[TriedFix, ...]:
        """Returns the fixes that were tested on a copy and helped, with the gain and a code diff."""
        found = self.products.get(TriedFixes)
        return () if found is None else found.proven_fixes

    def fix_of(self, finding: Finding) -> TriedFix | None:
        """Returns the tested fix that helped against a finding, or None."""
        return next((one for one in self.fixes if one.kind == finding.kind), None)

    @property
    def healthy(self) -> bool | None:
        """Returns False if there is a problem, True if there is none and the checks were sufficient, and None if
        undecided.

        None if that cannot be decided: too little time or data, training that was too short, or a network that performs
        like random guessing.
        """
        if self.problems:
            return False
        return None if self.inconclusive is not None or sections_without_enough_time(self.sections) else True

    @property
    def sufficient_budget(self) -> float | None:
        """Estimates how many seconds would be enough to judge the network; None if the time budget was large enough."""
        short = sections_without_enough_time(self.sections)
        if self.healthy is not None or self.budget is None or not short:
            return None
        return round_up_seconds(self.budget * max(section.time_factor for section in short))

    @property
    def inconclusive(self) -> WhyInconclusive | None:
        """Returns why the network cannot be called healthy although no problem was found; None if it is healthy.

        Too little time for the questions before training, too few examples, or a network that performs like random
        guessing.
        """
        return why_inconclusive(self.sections)

    @property
    def verdict(self) -> str:
        """States the number of problems and the most serious one, or that no problem was found."""
        first, stop = self.leading, so_far(self.sections, partial=self.partial)
        if self.problems and first is not None:
            return f"{self.name}: {count_with_noun(len(self.problems), 'problem')} found. {first.message}"
        enough = self.sufficient_budget
        wanted = "" if enough is None else f" A budget of about {enough:g} s would suffice."
        if self.inconclusive is not None:
            return f"{self.name}: {self.inconclusive.text}{wanted}"
        lesser = count_lesser([finding.level for finding in self.findings])
        more = f" {lesser[:1].upper()}{lesser[1:]}." if lesser else ""
        more += "".join(f" {words[:1].upper()}{words[1:]}." for words in what_is_not_covered(self.sections))
        return f"{self.name}: no problem found{stop}.{more}{wanted}"

    @property
    def headline_numbers(self) -> tuple[tuple[str, str], ...]:
        """Returns up to three main numbers of the examination by name, such as the score and the loss."""
        return headline_numbers(self.sections)

    @property
    def leading(self) -> Finding | None:
        """Returns the finding that the verdict mentions, which is the most serious one; None without findings."""
        if self.problems:
            return self.problems[0]
        return None if self.inconclusive is None else self.inconclusive.finding

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"  {s.title}: {s.answer}" for s in self.sections if s.status != "skipped"]
        if self.findings:
            lines += ["", "What to do:"]
            lines += [f"  {i}. {finding.fix} {finding.message}{self._proof(finding)}"
                      for i, finding in enumerate(self.findings, 1)]  # fmt: skip
        return "\n".join(lines).rstrip()

    def _proof(self, finding: Finding) -> str:
        found = self.fix_of(finding)
        return "" if found is None else f" Tried: {found.sentence}"

    def section(self, key: str) -> Section:
        """Returns the report section with this key, such as "signal"."""
        return next(s for s in self.sections if s.key == key)

    def section_of(self, finding: Finding) -> Section:
        """Returns the report section to which a finding belongs."""
        return next(s for s in self.sections if any(other is finding for other in s.findings))

    def plots(self) -> tuple[Plot, ...]:
        """Returns plots of the training loss, the signal through the layers, and the kernel's modes, if measured."""
        shown = [plot for id in PICTURES for s in self.sections for plot in s.content.plots if plot.id == id]
        return tuple(shown) or (Plot("No plots", (), caption=self.verdict),)

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole examination as plain values for JSON; ``schema`` is the version of the format."""
        head = {"schema": SCHEMA_VERSION, "name": self.name, "verdict": self.verdict, "healthy": self.healthy,
                "sufficient_budget": self.sufficient_budget}  # fmt: skip
        page = self.page()
        return head | {"partial": self.partial, "budget": self.budget, "proofs": dict(page.proofs)} | page.to_dict()

    def page(self, *, site: str = "") -> Page:
        """Returns the examination as a report page object, which can be rendered as HTML.

        ``site`` is the address or folder of the documentation, to which each section then has a link.
        """
        note = "This report is partial: the examination was stopped before its end." if self.partial else ""
        proofs = {finding.kind: fix.sentence for finding in self.findings if (fix := self.fix_of(finding)) is not None}
        return Page(
            f"Examination of {self.name}", self.verdict, self.sections, self.manifest, note, self._tiles(),
            verdict_sentence(self.sections, partial=self.partial), summary_facts(self.sections, self.manifest),
            ORDER, proofs | dict(self.proofs), self._next_step(), EXPLANATIONS, site,
            certainty_text(self.sections, self.manifest, self.budget),
        )  # fmt: skip

    def _next_step(self) -> str:
        """Says what to do next without findings, if time was short or the loss was still falling; otherwise empty."""
        enough = self.sufficient_budget
        if self.findings:
            return ""
        if enough is not None:
            begun = any(section.if_unsure and section.state == "unsure" for section in self.sections)
            why = "Training had not finished. " if begun else "There was too little time. "
            return f"{why}For a verdict, examine again with a budget of about {enough:g} s."
        return advice_on_falling_loss(self.sections)

    def _tiles(self) -> tuple[PageTile, ...]:
        """Returns the plots and examples that are shown at the top of the report."""
        plots = {plot.id: (s.key, plot) for s in reversed(self.sections) for plot in s.content.plots
                 if s.status != "skipped" and shows_something(plot)}  # fmt: skip
        chosen: list[str] = []
        for row in FIRST_PLOTS:
            chosen += [id for id in row if id in plots and id not in chosen][:1]
        found = [PageTile(plots[id][0], plots[id][1].title, plots[id][1]) for id in chosen]
        pictured = {s.key: s for s in self.sections if s.content.exhibits and s.status != "skipped"}
        worst = pictured.get("examples", pictured.get("samples"))
        return (
            *found,
            *(() if worst is None else (PageTile(worst.key, self._title(worst), exhibits=worst.content.exhibits),)),
        )

    def _title(self, worst: Section) -> str:
        """Returns the heading above the worst examples, such as "Wrong test examples: 6 of 80"."""
        if worst.key != "examples":
            return worst.title
        held_out = any(section.value("held-out-examples") is not None for section in self.sections)
        data = "test" if held_out else "training"
        wrong, tried = worst.value("examples-wrong"), worst.value("examples-tried")
        if wrong is None or tried is None:
            right = all(example.right for example in worst.content.exhibits)
            return f"{'Least certain' if right else 'Worst'} {data} examples"
        if not wrong.value:
            return f"All {tried} {data} examples are right; the least certain"
        shown = min(SHOWN_EXAMPLES, len(worst.content.exhibits))
        rest = ", then the largest losses" if float(wrong.value) < shown else ""
        return f"Wrong {data} examples: {wrong} of {tried}{rest}"

    def to_markdown(self) -> str:
        """Returns a short summary of the examination in GitHub Markdown."""
        return page_markdown(self.page())

    def matching(self, kinds: Sequence[str]) -> tuple[Finding, ...]:
        """Returns findings of the given kinds; "problem", "warning" and "note" mean all findings of at least this
        level.
        """
        levels = [Level[kind.upper()] for kind in kinds if kind.upper() in Level.__members__]
        least = min(levels, default=None)
        return tuple(f for f in self.findings if f.kind in kinds or (least is not None and f.level >= least))

    @add_call_to_errors
    def save(self, path: str | Path, *, site: str = "") -> Path:
        """Writes the report to an HTML file, or to a JSON file if the name ends in ".json".

        ``site`` is the address or folder of the documentation, such as "../site": each section of the page then has a
        link "What this means". Without it, each section names its page of the documentation.
        """
        if Path(path).suffix == ".json":
            return write_file(path, json.dumps(self.to_dict(), allow_nan=False))
        return write_file(path, page_html(self.page(site=site)))

    @classmethod
    @add_call_to_errors
    def load(cls, path: str | Path) -> "Examination":
        """Loads an examination from a JSON file written by `save` or ``gnomon examine --json``.

        Nothing in the file is executed.
        Cost: reading the file.
        """
        given = read_saved(path, SCHEMA_VERSION)
        sections = tuple(map(load_section, given["sections"]))
        proofs = given.get("proofs", {})
        return cls(given["name"], sections, given["manifest"], given["partial"], budget=given["budget"], proofs=proofs)

    def _repr_html_(self) -> str:
        return card_html(self.page())
