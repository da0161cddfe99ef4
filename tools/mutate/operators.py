"""Defines the kinds of error that the mutation tester plants; each replaces the text of one expression."""

import ast
import re
from collections.abc import Callable, Iterator

from tools.mutate.syntax import (
    JOINERS,
    SEQUENCES,
    Place,
    argument,
    called_name,
    is_arithmetic,
    is_divisor,
    is_float,
    is_function,
    is_position,
    is_probability,
    literal,
    loses_sign,
    reduces_or_joins,
)
from tools.mutate.text import Edit

__all__ = ["KINDS", "edits"]

NUMERIC = frozenset("sum mean sqrt exp log norm var std square abs trace diagonal prod logsumexp".split())
DROPPED = frozenset("abs fabs clamp clamp_min clamp_max clip exp expm1 log log1p log2 log10 relu clamp_ abs_".split())
EXCHANGED = {"max": "min", "amax": "amin", "argmax": "argmin", "maximum": "minimum", "mean": "sum", "nanmean": "nansum"}
EXCHANGED |= {after: before for before, after in EXCHANGED.items()}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
OPPOSITE_OPERATOR = {"+": "-", "-": "+", "*": "/", "/": "*"}
OPPOSITE_COMPARISON = {ast.Lt: ("<", ">"), ast.Gt: (">", "<"), ast.LtE: ("<=", ">="), ast.GtE: (">=", "<=")}
OTHER_AXIS = {0: "1", 1: "0", -1: "0", -2: "-1", 2: "1", 3: "2"}
# Functions whose arguments are not swapped: the result would stay the same, or every call would raise a type error.
NOT_SWAPPED = re.compile(
    r"^(max|min|maximum|minimum|add|mul|dot|hypot|gcd|lcm|isclose|allclose|equal|isinstance|issubclass|hasattr|getattr"
    r"|logaddexp|zip|zeros|ones|empty|full|eye|map|filter|sorted|replace|append|get|setdefault|partial|reshape|view|expand)$"
)
ROUNDING = 1e-6  # smaller floats only guard against rounding, so tests need not notice a change of them
HUGE = 1e9  # larger floats stand for infinity, so tests need not notice a change of them


def edits(place: Place) -> Iterator[tuple[str, Edit]]:
    """Yields every error that can be planted into an expression: its kind, and the replacement of the text."""
    for kind, operator in KINDS.items():
        for edit in operator(place):
            yield kind, edit


def _factor(place: Place) -> Iterator[Edit]:
    """Plants an error: adds a superfluous factor 2, or removes a factor 2."""
    node, source = place.node, place.source
    match node:
        case ast.BinOp(left=ast.Constant(value=2 | 2.0 | 0.5), op=ast.Mult(), right=right):
            yield source.edit(node, source.in_parentheses(right))
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=ast.Constant(value=2 | 2.0 | 0.5)):
            yield source.edit(node, source.in_parentheses(left))
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.MatMult()) if is_arithmetic(node):
            if not isinstance(place.parent, ast.BinOp):
                yield source.edit(node, f"(2 * {source[node]})")
        case ast.Call() if called_name(node) in NUMERIC and isinstance(place.parent, ast.Return | ast.Assign):
            yield source.edit(node, f"(2 * {source[node]})")


def _sign(place: Place) -> Iterator[Edit]:
    """Plants an error: adds a superfluous minus sign, or removes one."""
    node, source = place.node, place.source
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not is_position(place):
            yield source.edit(node, source.in_parentheses(operand))
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.MatMult()) if is_arithmetic(node):
            if isinstance(place.parent, ast.Return | ast.Assign):
                yield source.edit(node, f"-({source[node]})")


def _root(place: Place) -> Iterator[Edit]:
    """Plants an error: removes a square root, so that sqrt(x) becomes x."""
    node, source = place.node, place.source
    if (
        isinstance(node, ast.Call)
        and called_name(node) in {"sqrt", "rsqrt", "sqrt_", "isqrt"}
        and (x := argument(node))
    ):
        yield source.edit(node, f"(1 / ({source[x]}))" if called_name(node) == "rsqrt" else source.in_parentheses(x))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and literal(node.right) == 0.5:
        yield source.edit(node, source.in_parentheses(node.left))


def _square(place: Place) -> Iterator[Edit]:
    """Plants an error: removes a square, so that x ** 2 becomes x."""
    node, source = place.node, place.source
    if isinstance(node, ast.Call) and called_name(node) in {"square", "square_"} and (x := argument(node)):
        yield source.edit(node, source.in_parentheses(x))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and literal(node.right) == 2:
        yield source.edit(node, source.in_parentheses(node.left))


def _off_by_one(place: Place) -> Iterator[Edit]:
    """Plants an off-by-one error: n + 1 becomes n; bounds of ranges and slices move by one."""
    node, source, parent = place.node, place.source, place.parent
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)) if not is_float(node.right):
            yield source.edit(node, source.in_parentheses(left))
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)) if not is_divisor(place):
            if not is_float(node.right):
                yield source.edit(node, source.in_parentheses(left))
        case ast.BinOp(op=ast.FloorDiv()):
            yield source.edit(node, f"({source[node]} + 1)")
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int(value)) if isinstance(parent, ast.Slice):
            yield source.edit(node, str(value + 1))
        case ast.Call() if called_name(node) == "range" and len(node.args) == 1 and not node.keywords:
            yield source.edit(node.args[0], f"({source[node.args[0]]}) - 1")


def _axis(place: Place) -> Iterator[Edit]:
    """Plants an error: uses a wrong dimension in a reduction, a concatenation or a transposition."""
    node, source, parent = place.node, place.source, place.parent
    match node:
        case ast.Attribute(attr="T" | "mT", value=value):
            yield source.edit(node, source[value])
        case ast.Call(args=args) if reduces_or_joins(node):
            place_of_axis = 1 if called_name(node) in JOINERS or is_function(node) else 0
            if len(args) > place_of_axis and literal(args[place_of_axis]) in OTHER_AXIS:
                yield source.edit(args[place_of_axis], OTHER_AXIS[int(literal(args[place_of_axis]) or 0)])
    if isinstance(parent, ast.keyword) and parent.arg in {"dim", "axis"} and literal(node) in OTHER_AXIS:
        yield source.edit(node, OTHER_AXIS[int(literal(node) or 0)])


def _degrees(place: Place) -> Iterator[Edit]:
    """Plants an error: divides by n instead of n - 1, or the other way around."""
    node, source, parent = place.node, place.source, place.parent
    if isinstance(parent, ast.keyword) and parent.arg in {"correction", "ddof"} and literal(node) in (0, 1):
        yield source.edit(node, "1" if literal(node) == 0 else "0")
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1 | 2)) if is_divisor(place):
            yield source.edit(node, source[left])
        case ast.Call(func=ast.Attribute(attr="var" | "std", value=value)) if not is_function(node):
            if not any(k.arg in {"correction", "ddof", "unbiased"} for k in node.keywords):
                comma = ", " if node.args or node.keywords else ""
                inside = source[node][len(source[value]) :].rstrip().removesuffix(")").rstrip().rstrip(",")
                yield source.edit(node, f"{source[value]}{inside}{comma}correction=0)")


def _swap(place: Place) -> Iterator[Edit]:
    """Plants an error: exchanges two operands, so that f(a, b) becomes f(b, a) and a - b becomes b - a."""
    node, source = place.node, place.source
    match node:
        case ast.BinOp(op=ast.Sub()) if loses_sign(place):
            return
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.MatMult(), left=left, right=right) if is_arithmetic(node):
            yield source.swap(node, left, right)
        case ast.Call(args=[first, second], keywords=[]) if not NOT_SWAPPED.match(called_name(node)):
            plain = not any(isinstance(x, ast.Starred | ast.Constant | ast.Lambda | ast.JoinedStr) for x in node.args)
            if plain and source[first] != source[second]:
                yield source.swap(node, first, second)


def _operator(place: Place) -> Iterator[Edit]:
    """Plants an error: exchanges + and -, or * and /."""
    node, source = place.node, place.source
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and is_arithmetic(node):
        sign = OPERATORS[type(node.op)]
        yield source.edit_between(node.left, node.right, sign, OPPOSITE_OPERATOR[sign])
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS and not isinstance(node.value, SEQUENCES):
        sign = OPERATORS[type(node.op)]
        yield source.edit_between(node.target, node.value, f"{sign}=", f"{OPPOSITE_OPERATOR[sign]}=")


def _constant(place: Place) -> Iterator[Edit]:
    """Plants an error: makes a constant, threshold or default three times as large; a small count one larger."""
    node, source, parent = place.node, place.source, place.parent
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool | complex) or is_position(place):
        return
    if isinstance(parent, ast.Slice | ast.Subscript):
        return
    match node.value:
        case float(value) if ROUNDING <= abs(value) < HUGE:
            yield source.edit(node, repr(float(f"{3 * value:.6g}")))
        case int(value) if value > 2:
            named = isinstance(parent, ast.Assign | ast.AnnAssign)
            yield source.edit(node, str(3 * value if named else value + 1))


def _comparison(place: Place) -> Iterator[Edit]:
    """Plants an error: reverses a comparison, so that < becomes >."""
    node, source = place.node, place.source
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operation, right in zip(operands, node.ops, operands[1:], strict=False):
            if type(operation) in OPPOSITE_COMPARISON:
                yield source.edit_between(left, right, *OPPOSITE_COMPARISON[type(operation)])


def _union_bound(place: Place) -> Iterator[Edit]:
    """Plants an error: drops the correction for several tests; log(k / delta) becomes log(1 / delta), p * k becomes
    p.
    """
    node, source = place.node, place.source
    match node:
        case ast.Call(args=[ast.BinOp(left=left, op=ast.Div())]) if called_name(node) in {"log", "log2"}:
            if literal(left) != 1 and (is_function(node) or isinstance(node.func, ast.Name)):
                yield source.edit(left, "1")
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            if is_probability(left) or is_probability(right):
                yield source.edit(node, source.in_parentheses(left if is_probability(left) else right))
        case ast.BinOp(left=left, op=ast.Div()) if is_probability(left):
            yield source.edit(node, source[left])
        case ast.BinOp(left=ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub()), op=ast.Pow()):
            yield source.edit(node, source.in_parentheses(node.left))


def _drop(place: Place) -> Iterator[Edit]:
    """Plants an error: removes a call of abs, clamp, exp or log."""
    node, source = place.node, place.source
    if isinstance(node, ast.Call) and called_name(node) in DROPPED and (x := argument(node)):
        yield source.edit(node, source.in_parentheses(x))
    if isinstance(node, ast.Call) and called_name(node) in {"max", "min"} and isinstance(node.func, ast.Name):
        bounds = [x for x in node.args if literal(x) is not None]
        if len(node.args) == 2 and len(bounds) == 1 and not node.keywords:
            yield source.edit(node, source.in_parentheses(next(x for x in node.args if x is not bounds[0])))


def _exchange(place: Place) -> Iterator[Edit]:
    """Plants an error: exchanges max and min, or mean and sum."""
    node, source = place.node, place.source
    if isinstance(node, ast.Call) and called_name(node) in EXCHANGED:
        if called_name(node) == "sum" and isinstance(node.func, ast.Name):
            return  # The error "mean instead of sum" needs a function mean, which Python does not have built in.
        yield source.edit_name(node.func, EXCHANGED[called_name(node)])


KINDS: dict[str, Callable[[Place], Iterator[Edit]]] = {
    "factor 2": _factor,
    "sign": _sign,
    "missing root": _root,
    "missing square": _square,
    "off by one": _off_by_one,
    "wrong axis": _axis,
    "n for n - 1": _degrees,
    "swapped": _swap,
    "operator": _operator,
    "constant": _constant,
    "comparison": _comparison,
    "union bound": _union_bound,
    "dropped function": _drop,
    "max for min": _exchange,
}
"""Name of each kind of error, and the function that finds its places."""
