"""Every piece of English in the project, with its place: docstrings, comments, messages and pages."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Text", "constants", "function_names", "pages", "python_files", "texts"]

CODE_IN_PROSE = re.compile(
    r"```.*?```|``[^`]*``|`[^`\n]*`|^\s*(?:>>>|\.\.\.)[^\n]*$|\]\([^)]*\)", re.MULTILINE | re.DOTALL
)
DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pragma|fmt:|ruff|\(\d+[a-z]?\)\s*$)")


@dataclass(frozen=True, slots=True)
class Text:
    """One piece of English: where it is, what kind it is, and its words without code."""

    place: str
    kind: str
    words: str


def python_files(root: Path) -> Iterator[Path]:
    """Python files of the package and of the tools, in order."""
    for folder in ("src/gnomon", "tools"):
        yield from sorted(
            path for path in (root / folder).rglob("*.py") if "plain_english" not in path.relative_to(root).parts
        )


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a file; each file is read once per process."""
    return ast.parse(path.read_text(encoding="utf-8"))


def pages(root: Path) -> Iterator[Path]:
    """Markdown pages that users and contributors read."""
    yield from (path for name in ("README.md", "CONTRIBUTING.md") if (path := root / name).exists())
    yield from sorted(path for path in (root / "docs").rglob("*.md") if path.name != "plain-english.md")


def texts(root: Path) -> Iterator[Text]:
    """All docstrings, comments, strings with several words, and pages of a project folder."""
    for path in python_files(root):
        place, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        tree = parse(path)
        docstrings: set[int] = set()
        notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if text := ast.get_docstring(node):
                    docstrings.add(id(node.body[0].value))  # type: ignore[attr-defined]
                    yield Text(f"{place}:{node.body[0].lineno}", "docstring", without_code(text))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                docstrings.update(id(part) for part in node.values)
            elif not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
                continue
            kind, words = "note" if id(node) in notes else "string", string_of(node)
            if " " in words.strip():
                yield Text(f"{place}:{node.lineno}", kind, without_code(words))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not DIRECTIVE.match(token.string):
                yield Text(f"{place}:{token.start[0]}", "comment", without_code(token.string.lstrip("# ")))
    for path in pages(root):
        yield Text(path.relative_to(root).as_posix(), "page", without_code(path.read_text(encoding="utf-8")))


def string_of(node: ast.JoinedStr | ast.Constant) -> str:
    """The text of a string; values inside an f-string become three dots.

    >>> string_of(ast.parse("f'{n} rows'", mode="eval").body)
    '... rows'
    """
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)


def without_code(text: str) -> str:
    """A text without code blocks, inline code, doctest lines and link targets.

    >>> without_code("Use `where` if [needed](where.md).")
    'Use   if [needed .'
    """
    return CODE_IN_PROSE.sub(" ", text)


def function_names(root: Path) -> Iterator[tuple[str, str]]:
    """Place and name of every function and method of the package, outside the claims."""
    for path in python_files(root):
        if "claims" not in path.relative_to(root).parts:
            for node in ast.walk(parse(path)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{path.relative_to(root).as_posix()}:{node.lineno}", node.name


def constants(root: Path) -> Iterator[tuple[str, str, bool, bool]]:
    """Place and name of each module constant outside the claims, whether it shares its line, whether it is a number."""
    for path in python_files(root):
        if "claims" in path.relative_to(root).parts:
            continue
        for node in parse(path).body:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets, value = [node.target], node.value
            else:
                continue
            place = f"{path.relative_to(root).as_posix()}:{node.lineno}"
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                values = value.elts if isinstance(value, ast.Tuple) and several else [value] * len(names)
                for name, part in zip(names, values, strict=False):
                    if isinstance(name, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name.id):
                        yield place, name.id, several, is_number(part)


def is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, or arithmetic of numbers.

    >>> is_number(ast.parse("-2 * 1e-3", mode="eval").body), is_number(ast.parse("'a'", mode="eval").body)
    (True, False)
    """
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return (
        isinstance(value, ast.Constant) and isinstance(value.value, int | float) and not isinstance(value.value, bool)
    )
