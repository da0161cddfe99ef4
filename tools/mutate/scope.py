"""Decides in which code errors are planted: arithmetic that decides a result, not text, types, plots or timing."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["eligible", "parents", "sources", "subpackage"]

EXCLUDED_FILES = re.compile(
    r"^report/|^atlas/(claims|pages)/"  # pages; and claims, which test themselves with control experiments
    r"|^cli/(?!encoding|sources|tables)"  # the command line, except code that reads numbers from files
    r"|(^|/)__init__\.py$|^__main__\.py$"
    r"|^core/(machine/|clock\.py|memory\.py|typing\.py)"  # timing, memory
    r"|^core/results/(animation|drawing|labels|look|matrix|svg|ticks|plot)\.py"  # drawing
    r"|^core/results/(record|result)\.py$"  # code that prints records and results
    r"|^examination/(cost|timed|pictures|writers)\.py$"
    r"|^playground/fixtures\.py$"  # settings with which two implementations are compared
    r"|(^|/)(compile_time|layers_compile_time|cost|progress)\.py$"  # estimates of waiting time and memory
)
"""Files left out by default, as paths inside the package."""

EXCLUDED_FUNCTIONS = re.compile(
    r"^_?(plots?|plot_.*|pictures|verdict|to_dict|from_dict|words|title|caption|summary|latex|progress|.*_cost|.*seconds.*|.*bytes.*"
    r"|tile_sizes)$"  # functions that choose how many examples are in memory at a time
    r"|^__(repr|str|format|hash)__$"
)
"""Functions that format text, draw, or estimate time and memory."""

PERFORMANCE_NAMES = re.compile(
    r"^_?(tiles?|tile_.*|chunks?|strip|block|.*at_once|.*_per_(tile|pass)|workspace|threads|workers|jobs|ahead"
    # functions that choose sizes of temporary arrays, or one of two orders of summation
    r"|rows_per_strip|multiply_adds_per_pass"
    r"|.*(bytes|seconds|memory).*)$",
    re.IGNORECASE,
)
"""Variables and constants that change only speed or memory; their assignments are left out."""

SIZE_LADDERS = re.compile(r"^(SIZES|LADDER|EXAMPLES|PRODUCTS|.*EXAMPLE_COUNTS|.*_SIZES)$")
"""Tuples of sizes from which the time left chooses one; a different size on the ladder is as good."""

TIMING_NAMES = re.compile(r"(^|_)(seconds|clock|deadline|TIME_SHARE|TIMING|TIMED)(_|$)")
"""Names of times; an expression that computes or compares one is left out, because tests may not depend on speed."""

MESSAGE_NAMES = re.compile(r"^(what|cure|said|words)$")
"""Variables that hold parts of an error message; their assignments are left out."""

TEXT_CALLS = re.compile(
    r"^(warn|print|lesson|advance|progress|cast|Field|field|TypeVar|NewType|Line|Axis|Plot|Reference|Band|Scatter|Bars|Histogram|Image|Meter|RangeMeter|.*Error|.*Warning)$"
)
"""Calls whose arguments are messages, types, drawings or the position of a progress bar."""


def sources(package: Path, *, everything: bool = False) -> list[Path]:
    """Returns the Python files of a package in which errors are planted by default, or all of its files."""
    files = sorted(package.rglob("*.py"))
    return [f for f in files if everything or not EXCLUDED_FILES.search(f.relative_to(package).as_posix())]


def subpackage(file: Path, package: Path) -> str:
    """Returns the subpackage of a file: the first folder inside the package, or the package's name for top-level
    files.
    """
    inner = file.relative_to(package).parts
    return inner[0] if len(inner) > 1 else package.name


def eligible(tree: ast.Module) -> Iterator[ast.expr | ast.AugAssign]:
    """Yields expressions and augmented assignments in which an error may be planted, outer ones first."""
    yield from _visit(tree)


def parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """Returns a dict from each syntax node to the node that contains it."""
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _visit(node: ast.AST) -> Iterator[ast.expr | ast.AugAssign]:
    if _is_left_out(node):
        return
    if isinstance(node, ast.expr | ast.AugAssign):
        yield node
    for child in _children(node):
        yield from _visit(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the children of a syntax node, without annotations, decorators and type parameters."""
    hidden = {"annotation", "returns", "decorator_list", "type_params", "bases", "keywords"}
    keep = {"keywords"} if isinstance(node, ast.Call) else set()
    for name, value in ast.iter_fields(node):
        if name in hidden - keep:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Compare() | ast.BinOp() if _mentions_time(node):
            return True
        case ast.Call(func=ast.Name(id="min" | "max" | "int" | "largest_size_up_to")) if _mentions_time(node):
            return True
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return bool(EXCLUDED_FUNCTIONS.match(name))
        case ast.ClassDef(bases=bases):
            return any(_name(base) in {"Protocol", "TypedDict", "Enum", "NamedTuple"} for base in bases)
        case ast.If(test=test):
            return _name(test) == "TYPE_CHECKING"
        case ast.Assign(targets=targets, value=value):
            ladder = isinstance(value, ast.Tuple) and any(SIZE_LADDERS.match(_name(target)) for target in targets)
            return ladder or any(_is_uninteresting(target) for target in targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _is_uninteresting(target)
        case ast.keyword(arg=arg):
            return arg is not None and bool(PERFORMANCE_NAMES.match(arg))
        case ast.Subscript(value=ast.Call(func=ast.Name(id="repr" | "str")), slice=ast.Slice()):
            return True  # A slice repr(x)[:n] only shortens a displayed text.
        case ast.Call(func=func):
            return bool(TEXT_CALLS.match(_name(func)))
    return False


def _mentions_time(node: ast.expr) -> bool:
    """Checks whether an expression uses a time on the clock."""
    return any(
        TIMING_NAMES.search(_name(part)) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)
    )


def _is_uninteresting(target: ast.expr) -> bool:
    name = _name(target)
    return (name.startswith("__") and name.endswith("__")) or bool(
        PERFORMANCE_NAMES.match(name) or MESSAGE_NAMES.match(name)
    )


def _name(node: ast.expr) -> str:
    """Returns the last part of a dotted name in the syntax tree; an empty text for other expressions."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
