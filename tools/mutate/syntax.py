"""Classifies expressions of Python source: the number they state, the function they call, whether they select a
dimension.
"""

import ast
import re
from dataclasses import dataclass

from tools.mutate.text import Source

REDUCERS = frozenset(
    "mean sum std var amax amin max min argmax argmin softmax log_softmax logsumexp cumsum cumprod prod all any sort"
    " argsort median nanmean nansum quantile norm diff flip unsqueeze squeeze cummax cummin".split()
)
JOINERS = frozenset("cat stack concatenate hstack_dim index_select gather".split())
RESHAPERS = frozenset("reshape view expand flatten unflatten repeat transpose movedim permute".split())
EVEN = frozenset("abs fabs absolute square norm svdvals var std".split())
"""Functions of x that do not change if x becomes -x."""
LINEAR = frozenset("double float flatten reshape view detach cpu sum mean diagonal trace transpose".split())
"""Functions f with f(-x) = -f(x) that often stand between a difference and its size."""
MODULES = frozenset("torch np numpy math F special scipy stats linalg".split())
PROBABILITY = re.compile(r"^_?(p|p_?values?|pvalue|delta|alpha|probability|risk|significance|fail(ure)?)$")
SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr, ast.Dict, ast.Set, ast.SetComp, ast.Starred)


@dataclass(frozen=True, slots=True)
class Place:
    """An expression in its source text, with the syntax nodes that contain it."""

    node: ast.expr | ast.AugAssign
    source: Source
    parents: dict[ast.AST, ast.AST]

    @property
    def parent(self) -> ast.AST:
        """Returns the syntax node that contains the expression."""
        return self.parents[self.node]


def called_name(node: ast.Call) -> str:
    """Returns the name of the called function or method; an empty text for other calls."""
    func = node.func
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def is_function(node: ast.Call) -> bool:
    """Checks whether a call has the form `torch.f(x)` or `f(x)`, not `x.f()`."""
    func = node.func
    while isinstance(func, ast.Attribute):
        func = func.value
        if isinstance(func, ast.Name):
            return func.id in MODULES
    return isinstance(node.func, ast.Name)


def reduces_or_joins(node: ast.Call) -> bool:
    """Checks whether a call reduces or joins along a dimension; Python's own max(a, 1) and sum(a, 0) do not."""
    builtin = isinstance(node.func, ast.Name) and node.func.id in {"max", "min", "sum", "all", "any"}
    return called_name(node) in REDUCERS | JOINERS and not builtin


def argument(node: ast.Call) -> ast.expr | None:
    """Returns the argument of a call: x in `torch.f(x)`, `f(x)` and `x.f()`."""
    if is_function(node):
        return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def literal(node: ast.AST) -> float | None:
    """Returns the number that a literal in the source states, with its sign; None for other expressions."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int(value) | float(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return -value
    return None


def is_float(node: ast.expr) -> bool:
    """Checks whether a number in the source is written with a decimal point."""
    return isinstance(literal(node), float)


def is_arithmetic(node: ast.BinOp) -> bool:
    """Checks whether an operator acts on numbers; operators such as + also join lists and strings."""
    sides = [node.left, node.right]
    texts = any(isinstance(side, ast.Constant) and isinstance(side.value, str | bytes) for side in sides)
    return not texts and not any(isinstance(side, SEQUENCES) for side in sides)


def is_divisor(place: Place) -> bool:
    """Checks whether an expression is a divisor, or part of `max(1, n - 1)`, which may be one."""
    parent = place.parent
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is place.node:
        return True
    return isinstance(parent, ast.Call) and called_name(parent) == "max"


def is_position(place: Place) -> bool:
    """Checks whether a number in the source is an index, a dimension or a divisor; each has its own kind of planted
    error.
    """
    node, parent = place.node, place.parent
    if isinstance(parent, ast.UnaryOp):
        node, parent = parent, place.parents[parent]
    if isinstance(parent, ast.Tuple) and isinstance(place.parents[parent], ast.Subscript | ast.Call | ast.keyword):
        return True
    if isinstance(parent, ast.Call):
        return literal(node) is not None and (reduces_or_joins(parent) or called_name(parent) in RESHAPERS)
    skipped = {"dim", "axis", "dims", "axes", "correction", "ddof", "start_dim", "seed", "dim0", "dim1"}
    return isinstance(parent, ast.Slice | ast.Subscript) or (isinstance(parent, ast.keyword) and parent.arg in skipped)


def loses_sign(place: Place) -> bool:
    """Whether an expression goes through linear functions into an absolute value, a square or a norm."""
    node = place.node
    while True:
        parent = place.parents[node]
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.left is node:
            return literal(parent.right) == 2
        call = place.parents[parent] if isinstance(parent, ast.Attribute) else parent
        if not isinstance(call, ast.Call) or argument(call) is not node:
            return False
        if called_name(call) in EVEN:
            return True
        if called_name(call) not in LINEAR:
            return False
        node = call


def is_probability(node: ast.expr) -> bool:
    """Checks whether an expression is a variable whose name means a p-value or failure probability."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return bool(PROBABILITY.match(name))
