"""Docstrings as Markdown: examples in fences, equations as formulas, references as links, their parts as paragraphs.

Of the charter of a part of the package its pages show the first sentence; what may import what is told in the design
pages.
"""

import re
import sys
from pathlib import Path

from griffe import Extension, Object

sys.path.insert(0, str(Path(__file__).parent))

import citations
import equations

EXAMPLE = re.compile(r"(?:^[ ]*(?:>>>|\.\.\.).*\n?(?:^(?![ ]*$|[ ]*>>>).+\n?)*)+", re.MULTILINE)
VERBATIM = re.compile(r"(^```.*?^```|``[^`]+``|`[^`\n]+`|<div class='equations'>.*?</div>)", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"<(?=[A-Za-z/!?])")
PART = re.compile(r"^(Hypothes[ei]s|References?|Cost|Memory|Raises|Returns|Note):(?=[ ]\S)", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with its runs of ``>>>`` lines and their output between fences."""
    return EXAMPLE.sub(lambda match: f"\n```pycon\n{match[0].rstrip()}\n```\n", text)


def parted(text: str) -> str:
    """A docstring whose hypotheses, references and cost are paragraphs of their own, with their names in bold."""
    return PART.sub(lambda match: f"\n**{match[1]}.**", text)


def escaped(text: str) -> str:
    """A docstring whose prose has no HTML: in ``<A, B>`` the bracket stays a bracket."""
    parts = VERBATIM.split(text)
    parts[::2] = [TAG.sub("&lt;", part) for part in parts[::2]]
    return "".join(parts)


def opening(text: str) -> str:
    """The first paragraph of a charter, without the name of its floor."""
    first = text.split("\n\n")[0].partition(": ")[2] or text.split("\n\n")[0]
    return first[:1].upper() + first[1:]


def markdown(text: str) -> str:
    """A docstring as the pages show it."""
    return citations.replaced(parted(escaped(equations.replaced(fenced(text)))))


class Docstrings(Extension):
    """Rewrites the docstring of every object that is documented."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite one docstring."""
        if obj.docstring:
            charter = obj.is_module and obj.path.count(".") == 1 and "May import" in obj.docstring.value
            obj.docstring.value = markdown(opening(obj.docstring.value) if charter else obj.docstring.value)
