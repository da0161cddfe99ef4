"""No public function returns one of several kinds of result as a string or a flag decides: that is two functions.

The rule: a function or method whose name is public (in the ``__all__`` of its module, or of a package that imports it
from there, or a public method of a class that is) is at fault where the union that it returns has two members or more, None and plain scalars aside, and one of its
parameters is annotated with ``bool``, ``str`` or ``Literal``. A function whose result follows the type of its data has
no such parameter, or takes it through ``typing.overload``, which is exempt.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.boundaries import exported
from tests.house.layers import imports
from tests.house.tree import modules, parse

SCALARS = {"None", "int", "float", "bool", "str", "complex", "Any", "object"}
CHOICES = {"bool", "str", "Literal"}


def faults(source: Path) -> list[str]:
    """Every public function of a package folder whose kind of result is chosen by a string or a flag."""
    found, public = [], public_names(source)
    for name, path in modules(source).items():
        for place, function in _functions(parse(path), public[name]):
            kinds = [kind for kind in members(function.returns) if kind not in SCALARS]
            by = choices(function)
            if len(kinds) > 1 and by:
                found.append(f"{name}.{place}: returns {' | '.join(kinds)}, as {', '.join(by)} decides")
    return found


def public_names(source: Path) -> dict[str, set[str]]:
    """The public names of every module: in its own ``__all__``, or in that of a package that imports them from it."""
    known = modules(source)
    public = {name: exported(path) for name, path in known.items()}
    for name, path in known.items():
        if path.name == "__init__.py":
            for _, target in imports(name, path, source.name):
                owner, _, taken = target.rpartition(".")
                if target not in known and owner in known and taken in exported(path):
                    public[owner].add(taken)
    return public


def members(annotation: ast.expr | None) -> list[str]:
    """The members of a union without their parameters; one for an annotation that is no union."""
    match annotation:
        case None:
            return []
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*members(left), *members(right)]
        case ast.Constant(value=str(text)):
            return members(ast.parse(text, mode="eval").body)
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=inner)):
            return [member for one in inner for member in members(one)]
        case ast.Subscript(value=value):
            return [ast.unparse(value)]
    return [ast.unparse(annotation)]


def choices(function: ast.FunctionDef) -> list[str]:
    """Parameters that are strings or flags."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [a.arg for a in arguments if CHOICES & set(members(a.annotation))]


def _functions(tree: ast.Module, public: set[str]) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if getattr(node, "name", None) not in public:
            continue
        if isinstance(node, ast.FunctionDef) and not _overloaded(node):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not _overloaded(method):
                    yield f"{node.name}.{method.name}", method


def _overloaded(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator).split(".")[-1] == "overload" for decorator in function.decorator_list)
