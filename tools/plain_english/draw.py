"""Random draws of names, docstring lines, comments and sentences, for readers who have never seen the project.

An item is shown the way a reader of the project meets it, so that a misunderstanding is the fault of the words:

- A public name is in ``__all__`` of its module or of a package that exports it, which is how this project declares a
  name public. It is shown with its module and its arguments; a constant is shown with its value.
- A docstring is shown up to the end of its first paragraph, with the name of what it describes.
- A comment is shown whole, also if it spans several lines, with the line of code that it belongs to.
- A sentence for users is shown whole: an error with what it expects and its fix, a finding with its fix, the sentences
  of README and of the pages with their code in backticks. A row of a table that has a sentence is shown with the heads
  of its columns. Values in a message stand as ``{expression}``. Markup, code blocks and fragments are left out.
"""

import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tools.plain_english.messages import messages
from tools.plain_english.source import DIRECTIVE, pages, python_files

__all__ = ["draw", "readable_items", "sentences"]

CODE_BLOCK = re.compile(r"^ *```.*?^ *```|^ {4,}\S[^\n]*$|^(?:>>>|\.\.\.)[^\n]*$", re.MULTILINE | re.DOTALL)
MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>`\n]*>|(?<!`)\[(?=[^\]]*\]\()|\*\*")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+(?=[A-Z0-9'\"`(\[])")
SENTENCE = re.compile(r"[A-Z0-9'\"`(].{15,}[.!?][)\"']?")
TRAILING_DIRECTIVE = re.compile(r"\s*# (?:fmt: skip|noqa\b.*|type: ignore\b.*)$")
FEWEST_WORDS_IN_COMMENT = 4  # shorter comments are labels such as "(n, k)" or a number of an equation
LONGEST_VALUE = 60  # characters of the value of a constant


def draw(groups: dict[str, list[str]], seed: int, count: int = 40) -> dict[str, list[str]]:
    """``count`` random items of each group, reproducible from the seed.

    >>> draw({"names": ["a", "b", "c"]}, seed=1, count=2) == draw({"names": ["a", "b", "c"]}, seed=1, count=2)
    True
    """
    return {
        name: random.Random(f"{seed} {name}").sample(items, min(count, len(items))) for name, items in groups.items()
    }


def readable_items(root: Path) -> dict[str, list[str]]:
    """Everything that can be drawn: public names, first lines of docstrings, comments, sentences that users read."""
    return {
        "public names": sorted(set(public_names(root))),
        "docstring first lines": sorted(set(first_lines(root))),
        "comments": sorted(set(comments(root))),
        "user-facing sentences": sorted({*page_sentences(root), *messages(root)}),
    }


def public_names(root: Path) -> Iterator[str]:
    """Names that ``__all__`` of their module or of a package lists, outside the claims; functions with arguments."""
    bodies = {
        ".".join(path.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text(encoding="utf-8")
        ).body
        for path in python_files(root)
        if not {"claims", "tools"} & set(path.relative_to(root).parts)
    }
    exported = {f"{module}.{name}" for module, body in bodies.items() for name in listed_names(body)}
    for body in bodies.values():
        listed = listed_names(body)
        for node in body:
            if isinstance(node, ast.ImportFrom):
                exported |= {f"{node.module}.{part.name}" for part in node.names if part.name in listed}
    for module, body in bodies.items():
        for node in body:
            if isinstance(node, ast.FunctionDef) and f"{module}.{node.name}" in exported:
                yield f"{module}.{node.name}({', '.join(a.arg for a in [*node.args.args, *node.args.kwonlyargs])})"
            elif isinstance(node, ast.ClassDef) and f"{module}.{node.name}" in exported:
                yield f"class {module}.{node.name}"
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if f"{module}.{node.targets[0].id}" in exported:
                    yield f"{module}.{node.targets[0].id} = {ast.unparse(node.value)[:LONGEST_VALUE]}"


def listed_names(body: list[ast.stmt]) -> set[str]:
    """Names in the ``__all__`` of a module."""
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return {str(part.value) for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
    return set()


def first_lines(root: Path) -> Iterator[str]:
    """First paragraphs of docstrings, with the name of what they describe."""
    for path in python_files(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                place = f"{path.relative_to(root).as_posix()} {getattr(node, 'name', '')}".strip()
                first = text.split("\n\n")[0]
                yield f"{place}: {' '.join(first.split())}"


def comments(root: Path) -> Iterator[str]:
    """Comments with their line of code; consecutive comment lines are one comment."""
    for path in python_files(root):
        source = path.read_text(encoding="utf-8")
        place, lines = path.relative_to(root).as_posix(), source.splitlines()
        block: list[str] = []
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type != tokenize.COMMENT or DIRECTIVE.match(token.string):
                continue
            row, code = token.start[0], token.line[: token.start[1]].strip()
            words = TRAILING_DIRECTIVE.sub("", token.string).lstrip("# ")
            block.append(words)
            following = lines[row].strip() if row < len(lines) else ""
            if not code and following.startswith("#"):
                continue
            text, block = " ".join(block), []
            if len(text.split()) >= FEWEST_WORDS_IN_COMMENT:
                yield f"{place}:{row}: {text}   [{(code or following)[:100]}]"


def page_sentences(root: Path) -> Iterator[str]:
    """Sentences of README and of the pages for users."""
    for path in pages(root):
        place = path.relative_to(root).as_posix()
        if not place.startswith(("docs/design", "docs/contributing", "CONTRIBUTING")):
            yield from (f"{place}: {text}" for text in sentences(path.read_text(encoding="utf-8")))


def sentences(page: str) -> Iterator[str]:
    """Sentences of a Markdown page as its readers see them, with code in backticks; rows of tables with their heads.

    >>> list(sentences("`fit` needs a [loss](loss.md) and Python 3.11. It takes\\na minute, e.g. on a laptop."))
    ['`fit` needs a loss and Python 3.11.', 'It takes a minute, e.g. on a laptop.']
    >>> list(sentences("| call | effect |\\n|---|---|\\n| `stop` | The training ends at once. |"))
    ['call: `stop`; effect: The training ends at once.']
    """
    words = MARKUP.sub("", CODE_BLOCK.sub("\n\n", page))
    heads: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-|#*+>]|\d+\.)\s*)", words):
        text = " ".join(paragraph.split())
        if text.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", text.strip("|"))]
            if not heads:
                heads = cells
            elif any(SENTENCE.fullmatch(part) for cell in cells for part in END_OF_SENTENCE.split(cell)):
                yield "; ".join(f"{head}: {cell}" for head, cell in zip(heads, cells, strict=False) if cell)
            continue
        heads = []
        text = re.sub(r"^(?:[-#*+>]+|\d+\.)\s+", "", text)
        yield from (part for part in END_OF_SENTENCE.split(text) if SENTENCE.fullmatch(part))
