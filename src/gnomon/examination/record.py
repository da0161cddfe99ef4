"""The result of an examination: it prints, saves and shows itself.

The findings of its sections are the one list of what is wrong; the verdict, ``healthy``, the status of each section,
the advice on the page and the exit code of ``gnomon examine --strict`` are derived from it.

>>> print(Examination("net", (), {"seed": 0}))
net: no fault found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from gnomon.core.machine.files import write_file
from gnomon.core.results import Finding, Level, Plot, Result
from gnomon.core.results.plain import HIDDEN
from gnomon.examination.inconclusive import Inconclusive, inconclusive
from gnomon.examination.step import Products
from gnomon.examination.summary import counted, facts, headline, shortcomings
from gnomon.report import Page, Section, html, markdown
from gnomon.report.page import Tile

SCHEMA = 3
"""Version of `Examination.to_dict`; a change of names or meanings raises it."""
TILES = (
    ("training", "Loss", "Loss, predicted and measured"),
    ("forecast", "", "Loss, predicted"),
    ("signal", "", "Signal through the layers"),
    ("kernel", "", "What it learns first"),
    ("regime", "", "Features: kept or learned"),
    ("margins", "Calibration", "How sure, how right"),
    ("margins", "Errors", "Size of the errors"),
    ("examples", "", "Worst examples"),
)
"""Small pictures of the first screen: the section, the title of its plot (the first where none is named), the words."""
PICTURES = ("training", "signal", "kernel")
"""Sections whose first picture stands for the examination."""


@dataclass(frozen=True, slots=True, eq=False)
class Examination(Result):
    """Sections in order, with their findings, and what it was all made from.

    ``products`` are the objects behind the numbers by their type (``result.products[Run]`` has the trained model), for
    those who want to go on from there. ``partial`` says that the examination was stopped before its end.
    """

    name: str
    sections: tuple[Section, ...]
    manifest: Mapping[str, Any]
    partial: bool = False
    products: Products = field(default_factory=Products, repr=False, metadata=HIDDEN)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found wrong or worth knowing, the gravest first."""
        return tuple(sorted((f for s in self.sections for f in s.findings), key=lambda finding: -finding.severity))

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Findings that must be mended before training or its result can be trusted."""
        return tuple(finding for finding in self.findings if finding.level is Level.FAULT)

    @property
    def healthy(self) -> bool:
        """Whether no fault was found, and the time, the data and the network allow to say so."""
        return not self.faults and self.inconclusive is None

    @property
    def inconclusive(self) -> Inconclusive | None:
        """Why the network cannot be called healthy even without a fault; None if it can.

        Too little time for the questions before training, too few examples, or a network that performs like random
        guessing.
        """
        return inconclusive(self.sections)

    @property
    def verdict(self) -> str:
        """A sentence or two: how many faults and the gravest, or that there is none and whether training was short."""
        return _verdict(self.name, self.sections, self.partial)

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"  {s.title}: {s.answer}" for s in self.sections if s.status != "skipped"]
        if self.findings:
            lines += ["", "What to do:"]
            lines += [f"  {i}. {finding.cure} {finding.what}" for i, finding in enumerate(self.findings, 1)]
        return "\n".join(lines).rstrip()

    def section(self, key: str) -> Section:
        """The section of a step, by its key."""
        return next(s for s in self.sections if s.key == key)

    def section_of(self, finding: Finding) -> Section:
        """The section that a finding comes from."""
        return next(s for s in self.sections if any(other is finding for other in s.findings))

    def plots(self) -> tuple[Plot, ...]:
        """The first picture of training, of signal propagation and of the kernel, where they are there."""
        shown = [s.content.plots[0] for key in PICTURES for s in self.sections if s.key == key and s.content.plots]
        return tuple(shown) or (Plot("No pictures", (), caption=self.verdict),)

    def to_dict(self) -> dict[str, Any]:
        """Everything but ``products``, as plain values for JSON; ``schema`` says which version of the names this is."""
        head = {"schema": SCHEMA, "name": self.name, "verdict": self.verdict, "healthy": self.healthy}
        return head | {"partial": self.partial} | self.page().to_dict()

    def page(self) -> Page:
        """The examination as a page."""
        note = "This report is partial: the examination was stopped before its end." if self.partial else ""
        return Page(
            f"Examination of {self.name}", self.verdict, self.sections, self.manifest, note, self._tiles(),
            headline(self.sections, partial=self.partial), facts(self.sections, str(self.manifest.get("budget", ""))),
        )  # fmt: skip

    def _tiles(self) -> tuple[Tile, ...]:
        """Those whose picture there is; the prediction alone where nothing was trained."""
        found: list[Tile] = []
        for key, wanted, words in TILES:
            content = next((s.content for s in self.sections if s.key == key), None)
            if content is None or (key == "forecast" and any(tile.key == "training" for tile in found)):
                continue
            plot = next((p for p in content.plots if wanted in ("", p.title)), None)
            if content.exhibits:
                found.append(Tile(key, words, exhibits=content.exhibits))
            elif plot is not None:
                found.append(Tile(key, words, plot))
        return tuple(found)

    def to_markdown(self) -> str:
        """A short summary as GitHub shows it: the verdict, what to do, one line for each section."""
        return markdown(self.page())

    def matching(self, kinds: Sequence[str]) -> tuple[Finding, ...]:
        """Findings of these kinds; "fault", "warning" and "note" stand for all of at least that level."""
        levels = [Level[kind.upper()] for kind in kinds if kind.upper() in Level.__members__]
        least = min(levels, default=None)
        return tuple(f for f in self.findings if f.kind in kinds or (least is not None and f.level >= least))

    def save(self, path: str | Path) -> Path:
        """Write the report as one HTML file; its folder is made if it is not there."""
        return write_file(path, html(self.page()), "Examination.save(path)")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(html(self.page()))}" style="width:100%;height:40rem;border:0"></iframe>'


def _verdict(name: str, sections: tuple[Section, ...], partial: bool) -> str:
    findings = sorted((f for s in sections for f in s.findings), key=lambda finding: -finding.severity)
    faults = [finding for finding in findings if finding.level is Level.FAULT]
    if faults:
        return f"{name}: {counted(len(faults), 'fault')} found. {faults[0].what}"
    if (reason := inconclusive(sections)) is not None:
        return f"{name}: {reason.text}"
    more = f" {counted(len(findings), 'thing')} could be better." if findings else ""
    more += "".join(f" {words[:1].upper()}{words[1:]}." for words in shortcomings(sections))
    return f"{name}: no fault found{' before it was stopped' if partial else ''}.{more}"
