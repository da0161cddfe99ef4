"""Random draws of names, docstring lines, comments and sentences, for readers who have never seen the project."""

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tools.plain_english.source import Text, python_files, texts

__all__ = ["draw", "readable_items"]

SENTENCE = re.compile(r"[A-Z0-9'\"][^.!?\n]{15,}?[.!?](?=\s|$)")


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
    written = list(texts(root))
    return {
        "public names": sorted(set(public_names(root))),
        "docstring first lines": sorted(set(first_lines(root))),
        "comments": sorted({f"{text.place}: {text.words}" for text in written if is_comment(text)}),
        "user-facing sentences": sorted(set(user_sentences(written))),
    }


def is_comment(text: Text) -> bool:
    """Whether a text is a comment of at least four words."""
    return text.kind == "comment" and len(text.words.split()) > 3


def public_names(root: Path) -> Iterator[str]:
    """Names that subpackages export, and public names of their modules, outside the claims."""
    for path in python_files(root):
        if {"claims", "tools"} & set(path.relative_to(root).parts):
            continue
        module = ".".join(path.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{module}.{node.name}({', '.join(a.arg for a in [*node.args.args, *node.args.kwonlyargs])})"
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield f"class {module}.{node.name}"
            elif (
                isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper()
            ):
                yield f"{module}.{node.targets[0].id} = {ast.unparse(node.value)[:60]}"


def first_lines(root: Path) -> Iterator[str]:
    """First lines of docstrings, with the name of what they describe."""
    for path in python_files(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                place = f"{path.relative_to(root).as_posix()} {getattr(node, 'name', '')}".strip()
                yield f"{place}: {text.splitlines()[0]}"


def user_sentences(written: list[Text]) -> Iterator[str]:
    """Sentences that users read: rows of the findings table, messages, help texts, README and pages."""
    for text in written:
        user_page = text.kind == "page" and not text.place.startswith(
            ("docs/design", "docs/contributing", "CONTRIBUTING")
        )
        message = (
            text.kind == "string"
            and len(text.words.split()) > 4
            and "claims" not in text.place
            and not text.place.startswith("tools")
        )
        if user_page:
            yield from (
                f"{text.place}: {' '.join(match[0].split())}"
                for match in SENTENCE.finditer(text.words.replace("\n", " "))
            )
        elif message:
            yield f"{text.place}: {' '.join(text.words.split())}"
