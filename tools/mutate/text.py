"""Edits a source file at exact positions, without changing the rest of the file."""

import ast
import re
from dataclasses import dataclass

__all__ = ["Edit", "Source"]

COMPOUND = (
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.GeneratorExp,
    ast.Tuple,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a source file: the bytes ``start`` to ``end`` are replaced by ``text``."""

    start: int
    end: int
    text: str


class Source:
    """Text of a source file, whose parts are found by their syntax nodes; columns count bytes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.expr | ast.AugAssign) -> tuple[int, int]:
        """Returns the position of a syntax node in the file: its first byte, and the byte after its last."""
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("The node has no end position; take it from ast.parse.")
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def __getitem__(self, node: ast.expr | ast.AugAssign) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def in_parentheses(self, node: ast.expr) -> str:
        """Returns the source text of a syntax node, in parentheses if the text around it could break it up."""
        return f"({self[node]})" if isinstance(node, COMPOUND) else self[node]

    def edit(self, node: ast.expr | ast.AugAssign, text: str) -> Edit:
        """Returns the edit that replaces a syntax node by another text."""
        return Edit(*self.span(node), text)

    def edit_between(self, left: ast.expr, right: ast.expr, before: str, after: str) -> Edit:
        """Returns the edit that replaces the operator ``before`` between two syntax nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.data[start:end])
        at = start + gap.index(before.encode())
        return Edit(at, at + len(before), after)

    def edit_name(self, func: ast.expr, name: str) -> Edit:
        """Returns the edit that replaces the name of a function, or the last part of a dotted name."""
        start, end = self.span(func)
        if isinstance(func, ast.Attribute):
            start = end - len(func.attr.encode())
        return Edit(start, end, name)

    def swap(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Edit:
        """Returns the edit that exchanges two parts of a syntax node."""
        start, end = self.span(node)
        (left_start, left_end), (right_start, right_end) = self.span(left), self.span(right)
        pieces = [self.data[start:left_start].decode(), self.data[left_end:right_start].decode()]
        argument = isinstance(node, ast.Call)
        first, second = (
            (self[right], self[left]) if argument else (self.in_parentheses(right), self.in_parentheses(left))
        )
        return Edit(start, end, f"{pieces[0]}{first}{pieces[1]}{second}{self.data[right_end:end].decode()}")

    def apply(self, edit: Edit) -> str:
        """Returns the text of the whole file after an edit."""
        return (self.data[: edit.start] + edit.text.encode() + self.data[edit.end :]).decode()
