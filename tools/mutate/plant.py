"""Plants an error into a running Python process, so that nothing has to be imported again.

The mutated source is compiled. A change inside a function replaces the code of that function; a change of a constant or
of a default value replaces it everywhere it was imported. What cannot be replaced raises `CannotPlant`.
"""

import ast
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tools.mutate.mutants import Mutant, plant_error

__all__ = ["CannotPlant", "class_attribute", "concerned_lines", "is_constant", "is_default", "plant"]

PLAIN_VALUES = (int, float, complex, str, tuple, frozenset, list, dict, set)
"""Types of constants that are compared and replaced."""


class CannotPlant(Exception):
    """Raised if an error cannot be planted into a running process, because it needs a new process."""


def plant(mutant: Mutant, root: Path) -> None:
    """Replaces functions and constants of this process as if the source contained the planted error."""
    path = root / mutant.file
    data = path.read_bytes()
    if b"numba" in data:
        raise CannotPlant("compiled functions keep their machine code")
    module = _module(path)
    new = _compile(module, plant_error(mutant, data), path)
    if _outer_function(ast.parse(data), mutant.line) is not None:
        old = _compile(module, data, path)
        if _without_functions(old) == _without_functions(new):
            _replace_code(path, old, new)
            return
    _replace_constants(module, new)


def concerned_lines(mutant: Mutant, root: Path) -> Iterator[tuple[str, int]]:
    """Yields the lines whose tests may notice a planted error: its statement, and the users of a changed constant."""
    data = (root / mutant.file).read_text(encoding="utf-8")
    tree = ast.parse(data)
    statement = _statement(tree, mutant.line)
    if _outer_function(tree, mutant.line) is not None:
        yield from ((mutant.file, line) for line in _header(statement))
        outer = _enclosing(tree, mutant.line)
        if outer is not None and mutant.line < outer.body[0].lineno:  # a default value
            yield from ((mutant.file, line) for line in range(outer.body[0].lineno, (outer.end_lineno or 0) + 1))
        return
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {statement.name} if isinstance(statement, ast.ClassDef | ast.FunctionDef) else set()
    for file in sorted((root / "src").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        inside = file.relative_to(root).as_posix()
        if inside != mutant.file and Path(mutant.file).stem not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            found = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
            if found in names:
                yield inside, node.lineno  # type: ignore[attr-defined]


def is_constant(mutant: Mutant, root: Path) -> bool:
    """Checks whether the planted error is outside functions: in a constant of a module, or the default of a field."""
    return _outer_function(ast.parse((root / mutant.file).read_text(encoding="utf-8")), mutant.line) is None


def is_default(mutant: Mutant, root: Path) -> bool:
    """Whether the change is in the arguments of a function or in the fields of a class, which signatures show."""
    tree = ast.parse((root / mutant.file).read_text(encoding="utf-8"))
    outer = _enclosing(tree, mutant.line)
    if outer is not None:
        return mutant.line < outer.body[0].lineno
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return any(node.lineno <= mutant.line <= (node.end_lineno or 0) for node in classes)


def class_attribute(mutant: Mutant, root: Path) -> str | None:
    """Returns the name of the class attribute whose value a planted error changes; None if it changes anything else."""
    data = (root / mutant.file).read_bytes()
    tree = ast.parse(data)
    inside = any(isinstance(n, ast.ClassDef) and n.lineno < mutant.line <= (n.end_lineno or 0) for n in tree.body)
    statement = _statement(tree, mutant.line)
    if not inside or _outer_function(tree, mutant.line) is not None:
        return None
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if not isinstance(statement, ast.Assign):
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        place = mutant.line, mutant.start - data.rfind(b"\n", 0, mutant.start) - 1
        pairs = zip(target.elts, value.elts, strict=True)
        target = next((name for name, it in pairs if place < (it.end_lineno or 0, it.end_col_offset or 0)), target)
    return target.id if isinstance(target, ast.Name) else None


def _module(path: Path) -> ModuleType:
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    raise CannotPlant("the module is not imported")


def _compile(module: ModuleType, data: bytes, path: Path) -> CodeType:
    loader: Any = getattr(module.__spec__, "loader", None)
    code = (
        loader.source_to_code(data, str(path))
        if hasattr(loader, "source_to_code")
        else compile(data, str(path), "exec")
    )
    if not isinstance(code, CodeType):
        raise CannotPlant("the source cannot be compiled")
    return code


def _codes(code: CodeType) -> list[CodeType]:
    """Returns the compiled code objects of all functions and classes, in the order of the source."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [each for child in inner for each in (child, *_codes(child))]


def _without_functions(code: CodeType) -> tuple[object, ...]:
    """Returns the parts of compiled code that run when a module or class is defined, without the bodies of
    functions.
    """
    parts: list[object] = [code.co_code, code.co_names]
    for const in code.co_consts:
        if isinstance(const, CodeType):
            is_class = "__qualname__" in const.co_names
            parts.append(_without_functions(const) if is_class else const.co_name)
        else:
            parts.append((type(const), const))
    return tuple(parts)


def _replace_code(path: Path, old: CodeType, new: CodeType, *, required: bool = True) -> None:
    """Replaces the compiled code of every function that differs between two versions of a source file."""
    before, after = _codes(old), _codes(new)
    if [code.co_qualname for code in before] != [code.co_qualname for code in after]:
        raise CannotPlant("the mutant adds or removes a function")
    changed = {
        (code.co_qualname, code.co_firstlineno): other
        for code, other in zip(before, after, strict=True)
        if code != other
    }
    replaced = 0
    gc.unfreeze()  # `get_objects` leaves out frozen objects, and conftest.py freezes all that pytest has collected.
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == str(path):
            key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
            if key in changed and len(function.__code__.co_freevars) == len(changed[key].co_freevars):
                function.__code__ = changed[key]
                replaced += 1
    if required and not replaced:
        raise CannotPlant("no function of this process has that code")


def _replace_constants(module: ModuleType, new: CodeType) -> None:
    """Runs the changed module as a second copy, and carries over the constants and defaults that differ."""
    fresh = dict.fromkeys(("__builtins__",), module.__dict__.get("__builtins__"))
    fresh |= {
        k: module.__dict__[k]
        for k in ("__name__", "__package__", "__file__", "__spec__", "__path__")
        if k in module.__dict__
    }
    try:
        exec(new, fresh)
    except Exception as error:
        raise CannotPlant(f"the mutated module cannot be run a second time: {error}") from error
    replaced = 0
    for name, value in fresh.items():
        old = module.__dict__.get(name)
        if name.startswith("__") or old is None:
            continue
        if isinstance(value, PLAIN_VALUES) and type(old) is type(value):
            replaced += _replace_global(name, old, value) if _differs(old, value) else 0
        elif isinstance(value, type) and isinstance(old, type):
            replaced += _replace_members(old, value)
        elif isinstance(value, FunctionType) and isinstance(old, FunctionType):
            replaced += _replace_defaults(old, value)
    if not replaced:
        raise CannotPlant("no constant or default of the module differs")


def _differs(old: Any, value: Any) -> bool:
    try:
        return bool(old != value)
    except Exception:
        return False


def _replace_global(name: str, old: Any, value: Any) -> int:
    """Sets a constant in its module and in all modules that imported it; returns the number of places."""
    places = 0
    for module in list(sys.modules.values()):
        known = getattr(module, "__dict__", {})
        for other in [key for key, it in known.items() if it is old and (key == name or key.endswith(name))]:
            known[other] = value
            places += 1
    return places


def _replace_members(old: type, new: type) -> int:
    places = 0
    for name, value in vars(new).items():
        before = vars(old).get(name)
        if isinstance(value, FunctionType) and isinstance(before, FunctionType):
            places += _replace_defaults(before, value)
        elif isinstance(value, int | float | str | tuple) and type(before) is type(value) and _differs(before, value):
            if not name.startswith("__"):
                setattr(old, name, value)
                places += 1
    return places


def _replace_defaults(old: FunctionType, new: FunctionType) -> int:
    places = 0
    while hasattr(old, "__wrapped__") and hasattr(new, "__wrapped__"):
        places += _same_shape(old, new)
        old, new = old.__wrapped__, new.__wrapped__
    return places + _same_shape(old, new)


def _same_shape(old: FunctionType, new: FunctionType) -> int:
    if not (isinstance(old, FunctionType) and isinstance(new, FunctionType)):
        return 0
    plain = (int, float, str, tuple, bool, type(None))
    places = 0
    if old.__defaults__ and new.__defaults__ and len(old.__defaults__) == len(new.__defaults__):
        pairs = list(zip(old.__defaults__, new.__defaults__, strict=True))
        if any(isinstance(b, plain) and _differs(a, b) for a, b in pairs):
            old.__defaults__ = tuple(b if isinstance(b, plain) else a for a, b in pairs)
            places += 1
    for name, value in (new.__kwdefaults__ or {}).items():
        before = (old.__kwdefaults__ or {}).get(name)
        if isinstance(value, plain) and type(before) is type(value) and _differs(before, value):
            old.__kwdefaults__[name] = value  # type: ignore[index]
            places += 1
    return places


def _statement(tree: ast.Module, line: int) -> ast.stmt:
    """Returns the innermost statement at a line of the source."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    return max(found, key=lambda node: (node.lineno, -(node.end_lineno or 0)))


def _header(statement: ast.stmt) -> range:
    """Returns the lines of a statement without the statements inside it."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(last, statement.lineno) + 1)


def _enclosing(tree: ast.Module, line: int) -> ast.FunctionDef | None:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno <= line <= (n.end_lineno or 0)]
    return max(found, key=lambda node: node.lineno, default=None)


def _outer_function(tree: ast.Module, line: int) -> str | None:
    """Returns the name of the function that contains a line; None at the level of the module or of a class."""
    found = _enclosing(tree, line)
    return found.name if found else None
