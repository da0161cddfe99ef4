"""Names in backticks as links to the reference: `gnomon.ntk`, `landscape.sharpness(net, x, y)`, `suspect_labels`."""

import posixpath
import re
from functools import cache

import names

CODE = re.compile(r"(^ *```.*?^ *```|^ {4,}[^\n]*$|\[[^\]\n]*\]\([^)]*\)|\[[^\]\n]*\]\[[^\]]*\]|<a .*?</a>|^#[^\n]*$)",
                  re.MULTILINE | re.DOTALL)  # fmt: skip
SPAN = re.compile(r"`((?:gnomon\.)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\([^`\n]*\))?((?:\.\w+)*)`")


def linked(markdown: str, page: str) -> str:
    """A page whose names in backticks lead to their pages; headings, code and other links stay."""
    pieces = CODE.split(markdown)
    folder = posixpath.dirname(page)
    pieces[::2] = [SPAN.sub(lambda match: _link(match, folder, page), piece) for piece in pieces[::2]]
    return "".join(pieces)


def _link(match: re.Match[str], folder: str, page: str) -> str:
    target = pages().get(match[1])
    if target is None or target == page:
        return match[0]
    return f"[{match[0]}]({posixpath.relpath(target, folder or '.')})"


@cache
def pages() -> dict[str, str]:
    """The page of each way to write a name; a name alone counts if one part has it and it is not an ordinary word."""
    import gnomon

    found: dict[str, str] = {}
    alone: dict[str, set[str]] = {}
    by_place = {name.defined: name.page for name in names.names()}
    for part in names.parts():
        for name in names.names_of(part):
            target = by_place[name.defined]
            found[name.public] = found[name.public.removeprefix("gnomon.")] = found[name.defined] = target
            alone.setdefault(name.name, set()).add(target)
    for name in gnomon.__all__:
        value = getattr(gnomon, name)
        place = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if place in by_place:
            found[f"gnomon.{name}"] = by_place[place]
    for part in names.parts():
        found.setdefault(part, f"reference/{part.removeprefix('gnomon.').split('.')[0]}.md")
    unusual = {name: places for name, places in alone.items() if "_" in name or re.match(r"[A-Z]\w*[a-z][A-Z]", name)}
    return found | {name: next(iter(places)) for name, places in unusual.items() if len(places) == 1}
