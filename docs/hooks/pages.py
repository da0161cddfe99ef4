"""The hooks that mkdocs calls: what the pages ask for is put in, and formulas are set.

A page may write ``$...$`` and ``$$...$$`` in TeX, or equations in plain characters as docstrings do; both become MathML
when the pages are built.
"""

import logging
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import citations
import claims
import commands
import equations
import links
import names
import outputs
import reference
import search
import tables
import tags
import tutorials
from mkdocs.plugins import event_priority

from gnomon.atlas.pages.formulas import formula_html

LOG = logging.getLogger("mkdocs.hooks.pages")  # a warning below "mkdocs" fails a strict build
GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"
PLAYGROUND = Path(__file__).parents[2] / "src" / "gnomon" / "playground" / "playground.html"
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
ANCHOR = re.compile(r'<a href="" (id="[^"]+")></a>')
"""An anchor of Markdown, `[](){#name}`: a link without text, which screen readers announce."""
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_config(config: Any) -> Any:
    """Called first: the navigation lists the tutorials."""
    config["nav"] = [
        {"Tutorials": tutorials.navigation()} if "Tutorials" in entry else entry for entry in config["nav"]
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Called with the list of files: pages that are made from scripts are added."""
    tutorials.add_files(files, config)
    reference.add_files(files, config)
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Called with the text of every page."""
    markdown = outputs.shown(markdown, page.file)
    if page.file.src_uri == tutorials.GALLERY:
        markdown = tutorials.gallery(markdown)
    if markdown.strip() == "::: contributing":
        markdown = GUIDE.read_text(encoding="utf-8").replace("](docs/", "](../")
    search.set_boost(page)
    place = page.file.src_uri
    text = tables.GLOSSARY_LINE.sub(lambda _: tables.glossary(), markdown)
    text = tables.SCOREBOARD_LINE.sub(lambda _: tables.scoreboard(), text)
    text = tables.ATLAS_LINE.sub(lambda _: tables.atlas(), text)
    if not place.startswith("reference/"):
        text = links.linked(text, place)
    text = citations.replaced(equations.replaced(claims.linked(text, place)))
    text = citations.LINE.sub(lambda _: citations.bibliography(), text)
    text = commands.LINE.sub(lambda _: commands.commands(), text)
    text = names.PUBLIC.sub(lambda _: names.public(), text)
    if place.count("/") > 1 and place.startswith("reference/"):
        return text
    return names.LINE.sub(lambda match: names.table_of(match[1]), text)


def on_page_content(html: str, page: Any, **_: object) -> str:
    """Called with the HTML of every page: formulas in TeX become MathML; source code is left out of the search."""
    for tag in tags.unknown(html):
        LOG.warning(f"{page.file.src_uri}: '{tag}' is read as HTML and not shown; put it in backticks")
    html = html.replace(
        '<details class="mkdocstrings-source"', '<details class="mkdocstrings-source" data-search-exclude'
    )
    html = ANCHOR.sub(r"<span \1></span>", html)
    html = DISPLAY.sub(lambda match: f'<div class="equations">{formula_html(unescape(match[1]).strip())}</div>', html)
    return INLINE.sub(lambda match: formula_html(unescape(match[1]).strip(), display="inline"), html)


def on_post_page(output: str, **_: object) -> str:
    """Called with every finished page: the dialog of the search gets a name."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


@event_priority(-200)  # after the index of the search is written, and made a script for pages from disk
def on_post_build(config: Any, **_: object) -> None:
    """Called when the pages are written: the playground is copied beside them."""
    shutil.copy(PLAYGROUND, Path(config["site_dir"]) / PLAYGROUND.name)
