"""Shows the examples of docstrings as code: Markdown would take ``>>>`` for a quotation."""

import re

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^[ ]*(?:>>>|\.\.\.).*\n?(?:^(?![ ]*$|[ ]*>>>).+\n?)*)+", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with its runs of ``>>>`` lines and their output between fences."""
    return EXAMPLE.sub(lambda match: f"\n```pycon\n{match[0].rstrip()}\n```\n", text)


class Fences(Extension):
    """Fences the examples of every object that is documented."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite one docstring."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
