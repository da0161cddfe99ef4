"""Renders a tutorial and its stored outputs as a page of the website, and all tutorials as a gallery."""

from tools.tutorials.parse import HEADING, Cell, Tutorial
from tools.tutorials.store import Stored

FIRST_SCREEN_WORDS = 130
FIRST_SCREEN_CODE_LINES = 14
"""A first picture below more words or lines of code than these is repeated at the top of the page."""


def page(tutorial: Tutorial, stored: Stored) -> str:
    """Returns the Markdown of a tutorial's page on the website."""
    parts, outputs, number = [], iter(stored.cells), 0
    for cell in tutorial.cells:
        if cell.kind == "markdown":
            parts.append(cell.text)
            continue
        output = next(outputs)
        parts.append(f"```python\n{cell.text}\n```")
        if output.text:
            parts.append(output_block(output.text))
        for alt, ending in zip(alts(cell, len(output.pictures)), output.pictures, strict=True):
            number += 1
            parts.append(picture(f"outputs/{tutorial.slug}/{number}", ending, alt))
    rest = HEADING.sub("", parts[0]).split("\n\n", 1)
    parts[0] = "\n\n".join([f"# {tutorial.title}", f"*{tutorial.question}*{{ .question }}", _links(tutorial, stored)])
    if repeats_thumbnail(tutorial, stored):
        ending = _endings(stored)[tutorial.thumbnail - 1]
        alt = _all_alts(tutorial, stored)[tutorial.thumbnail - 1]
        parts[0] += "\n\n" + picture(f"outputs/{tutorial.slug}/{tutorial.thumbnail}", ending, alt)
    front = f"---\ntitle: {_yaml_string(tutorial.title)}\n---\n\n"
    return front + "\n\n".join([parts[0], *rest[1:], *parts[1:]]) + "\n"


def gallery(tutorials: list[tuple[Tutorial, Stored]], opening: str) -> str:
    """Returns the Markdown of the gallery page: a thumbnail, the title and the question of each tutorial."""
    cards = []
    for tutorial, stored in tutorials:
        place = f"outputs/{tutorial.slug}/{tutorial.thumbnail}"
        image = picture(place, _endings(stored)[tutorial.thumbnail - 1], "") if stored.pictures() else ""
        title = f"**[{int(tutorial.slug[:2])}. {tutorial.title}]({tutorial.slug}.md)**"
        cards.append(f'<div class="card" markdown>\n\n{image}\n\n{title}\n\n{tutorial.question}\n\n</div>')
    return opening.rstrip() + '\n\n<div class="gallery" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>\n"


def output_block(text: str) -> str:
    """Returns the HTML and Markdown of printed text, to show below a block of code."""
    fence = "````" if "```" in text else "```"
    return f'<div class="output" markdown>\n\n{fence}text\n{text}\n{fence}\n\n</div>'


def picture(place: str, ending: str, alt: str) -> str:
    """Returns the Markdown of a picture in its light and its dark version; the page shows one of them."""
    alt = alt.replace("[", "(").replace("]", ")")
    return f"![{alt}]({place}-light.{ending}#only-light)\n![{alt}]({place}-dark.{ending}#only-dark)"


def alts(cell: Cell, count: int) -> list[str]:
    """Returns the text descriptions of a cell's pictures, one for each picture, empty if missing."""
    return [*cell.alts[:count], *[""] * (count - len(cell.alts))]


def repeats_thumbnail(tutorial: Tutorial, stored: Stored) -> bool:
    """Checks whether the page starts with the tutorial's thumbnail, because its first own picture is further down."""
    endings = _endings(stored)
    if len(endings) < tutorial.thumbnail:
        return False
    words = lines = 0
    outputs = iter(stored.cells)
    for cell in tutorial.cells:
        if cell.kind == "markdown":
            words += len(cell.text.split())
        else:
            lines += len(cell.text.splitlines())
            if next(outputs).pictures:
                break
    return words > FIRST_SCREEN_WORDS or lines > FIRST_SCREEN_CODE_LINES


def _links(tutorial: Tutorial, stored: Stored) -> str:
    minutes = f"{stored.seconds:.0f} seconds" if stored.seconds < 90 else f"{stored.seconds / 60:.1f} minutes"
    return (
        f"Download: [notebook](download/{tutorial.slug}.ipynb){{ download }} · "
        f"[script](download/{tutorial.slug}.py){{ download }}. Runs in about {minutes} on one core.\n{{ .download }}"
    )


def _endings(stored: Stored) -> list[str]:
    return [ending for cell in stored.cells for ending in cell.pictures]


def _all_alts(tutorial: Tutorial, stored: Stored) -> list[str]:
    code = [cell for cell in tutorial.cells if cell.kind == "code"]
    return [alt for cell, kept in zip(code, stored.cells, strict=True) for alt in alts(cell, len(kept.pictures))]


def _yaml_string(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
