"""Pages whose content comes from other files: the words of reports, the scoreboard of benchmarks, the atlas."""

import re
from pathlib import Path

from gnomon.atlas.catalog import catalog
from gnomon.report.glossary import GLOSSARY

GLOSSARY_LINE = re.compile(r"^::: glossary$", re.MULTILINE)
SCOREBOARD_LINE = re.compile(r"^::: scoreboard$", re.MULTILINE)
ATLAS_LINE = re.compile(r"^::: atlas$", re.MULTILINE)
SCOREBOARD = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "README.md"
CLAIMS_IN_OVERVIEW = 6
"""Number of claims shown for each chapter."""


def glossary() -> str:
    """All words with their meaning, in alphabetical order."""
    words = sorted(GLOSSARY.items(), key=lambda item: item[0].lower())
    return "\n\n".join(f"**{word[:1].upper()}{word[1:]}**\n:   {meaning}" for word, meaning in words)


def scoreboard() -> str:
    """The table of the benchmarks."""
    rows = [line for line in SCOREBOARD.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return "\n".join(re.sub(r"\[([^\]]+)\]\([\w-]+\.md\)", r"\1", row) for row in rows)


def atlas() -> str:
    """The chapters of the atlas with some of their questions."""
    kinds: dict[str, list[str]] = {}
    for name, entry in catalog().items():
        kinds.setdefault(entry.kind, []).append(f"- [{entry.claim.question or entry.claim.title}](claim:{name})")
    chapters = []
    for kind, links in kinds.items():
        title = kind.replace("-", " ").capitalize()
        chosen = links[:: max(len(links) // CLAIMS_IN_OVERVIEW, 1)][:CLAIMS_IN_OVERVIEW]
        chapters.append(f"## {title}\n\n{len(links)} claims, for example:\n\n" + "\n".join(chosen))
    return "\n\n".join(chapters)
