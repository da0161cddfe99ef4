"""Whole messages that users of the package read: errors and findings with their fix, and other sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from tools.plain_english.source import python_files

__all__ = ["messages"]

FEWEST_WORDS = 5  # shorter strings are labels and keys
LONGEST_VALUE = 30  # characters; a longer expression inside a message becomes three dots
MARKUP = re.compile(r"<[^>]*>|--\w+:|\[/?(?:red|bold|dim)\]")
STYLE_SHEET = re.compile(r"[{;]\s*[\w-]+:\s*[^;]+;")
SENTENCE = re.compile(r"[A-Z0-9{'\"].*[.!?]")  # labels of numbers and plots are left out: they stand next to a value
FIELDS = {"accepted": " (expected {})", "reason": "; required: {}", "fix": ". {}."}


def messages(root: Path) -> Iterator[str]:
    """Errors, findings and other strings of several words, outside the claims and the tools."""
    for path in python_files(root):
        if {"claims", "tools"} & set(path.relative_to(root).parts):
            continue
        place = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = Named(tree)
        used: set[int] = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (text := composed(node, named)):
                used |= {id(part) for part in ast.walk(node)} | named.parts_used
                yield f"{place}: {text}"
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                used |= {id(part) for value in node.values for part in ast.walk(value)}
            if id(node) in used or not is_text(node):
                continue
            text = " ".join(MARKUP.sub(" ", shown(cast(ast.expr, node), named)).split())
            if len(text.split()) >= FEWEST_WORDS and SENTENCE.fullmatch(text) and not STYLE_SHEET.search(text):
                yield f"{place}: {text}"


class Named:
    """Strings that a module gives a name, so that a message that uses the name can be shown whole."""

    def __init__(self, tree: ast.Module) -> None:
        self.assigned = [
            (node.lineno, target.id, value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target, value in named_values(node)
            if any(is_text(part) for part in ast.walk(value))
        ]
        self.parts_used: set[int] = set()

    def text(self, name: str, line: int) -> str | None:
        """The string that a name has at a line: the nearest assignment before it."""
        before = [(row, value) for row, known, value in self.assigned if known == name and row < line]
        if not before:
            return None
        row, value = max(before, key=lambda pair: pair[0])
        if not isinstance(value, ast.Constant | ast.JoinedStr | ast.IfExp | ast.BinOp):
            return None
        self.parts_used |= {id(part) for part in ast.walk(value)}
        return shown(value, self)


def named_values(node: ast.Assign) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Names and values of an assignment; ``a, b = 1, 2`` has two."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from ((t, v) for t, v in zip(target.elts, value.elts, strict=False) if isinstance(t, ast.Name))


def is_text(node: ast.AST) -> bool:
    """Whether a node is a string or an f-string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def composed(call: ast.Call, named: "Named | None" = None) -> str:
    """The whole message of a call that makes an error or a kind of finding; empty for other calls.

    >>> composed(ast.parse("InputError('x is 3', accepted='a list', fix='Pass [x]')", mode="eval").body)
    'x is 3 (expected a list). Pass [x].'
    """
    name = ast.unparse(call.func)
    if name.endswith("Error") and call.args:
        fields = {keyword.arg: shown(keyword.value, named) for keyword in call.keywords}
        text = shown(call.args[0], named)
        for field, form in FIELDS.items():
            text += form.format(fields[field].removesuffix(".")) if field in fields else ""
        return " ".join(text.split()) if len(text.split()) >= FEWEST_WORDS else ""
    if name.startswith("_") and len(call.args) >= 4 and ast.unparse(call.args[1]).startswith("Level."):
        return f"{shown(call.args[2], named)} {shown(call.args[3], named)}"
    return ""


def shown(node: ast.expr, named: "Named | None" = None) -> str:
    """A string as it is read; named strings are inserted, and other values become ``{expression}``.

    >>> shown(ast.parse("f'{n} rows'", mode="eval").body)
    '{n} rows'
    """
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part, named) for part in node.values)
    if isinstance(node, ast.IfExp):
        return shown(node.body, named)
    if isinstance(node, ast.BinOp):
        return shown(node.left, named) + shown(node.right, named)
    value = node.value if isinstance(node, ast.FormattedValue) else node
    words = ast.unparse(value)
    text = named.text(words, value.lineno) if named and isinstance(value, ast.Name) else None
    return text or (f"{{{words}}}" if len(words) <= LONGEST_VALUE else "...")
