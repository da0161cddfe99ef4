"""Expands the line ``::: gnomon.<room>`` of a page into the room's charter, files and public names.

Each name is asked for where it is defined: ``gnomon.kernels.limit`` alone would mean the file, not the function.
"""

import ast
import re
from pathlib import Path

CHARTER = "\n    options:\n      members: false\n      show_root_heading: false\n"
FILE = "\n    options:\n      members: false\n      show_root_full_path: true\n      show_root_toc_entry: false\n"
NAME = "\n    options:\n      heading_level: 3\n"


def on_page_markdown(markdown: str, *, config: object, **_: object) -> str:
    """The hook that mkdocs calls with the text of every page."""
    source = Path(config.config_file_path).parent / "src"
    return re.sub(r"^::: (gnomon(?:\.\w+)+)$", lambda match: expanded(match[1], source), markdown, flags=re.MULTILINE)


def expanded(room: str, source: Path) -> str:
    """The charter of a room; then file by file its docstring, where the equations are, and its public names."""
    body = ast.parse(source.joinpath(*room.split("."), "__init__.py").read_text(encoding="utf-8")).body
    names = next(ast.literal_eval(s.value) for s in body if isinstance(s, ast.Assign) and s.targets[0].id == "__all__")
    lines = [f"::: {room}{CHARTER}", *(f"::: {room}.{name}{NAME}" for name in names if name not in _imported(body))]
    for file in dict.fromkeys(_imported(body).values()):
        inside = [name for name in names if _imported(body).get(name) == file]
        if inside:
            lines += [f"::: {file}{FILE}", *(f"::: {file}.{name}{NAME}" for name in inside)]
    return "\n".join(lines)


def _imported(body: list[ast.stmt]) -> dict[str, str]:
    """Where each imported name comes from."""
    return {alias.name: node.module for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
