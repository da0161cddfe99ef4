"""Which modules have their annotations checked at run time, and by what.

Files that annotate no array are left to mypy: wrapping all their functions cost most of the time of collecting the tests.
Two kinds of file are left out, because wrapping their functions breaks them: numba cannot compile a wrapped function,
and torch.fx calls ``forward`` with proxies, which are no tensors. A single function is left out of the checks by
``typing.no_type_check`` above its other decorators.
"""

import re
from pathlib import Path

from tests.house.tree import modules

# An int where a float is asked for is right by the rules of typing, and by mypy; beartype must be told so.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"

HOT = (
    "gnomon.core.modules.outputs",
    "gnomon.core.losses",
    "gnomon.bounds.learning_curve",
    "gnomon.landscape.curvature",
)
"""Modules with functions that tests call tens of thousands of times: checking those took a tenth of the tests' time."""

SHAPES = re.compile(r"^from jaxtyping import", re.MULTILINE)
UNWRAPPABLE = re.compile(r"^\s*(import|from) numba\b|^\s+def forward\(", re.MULTILINE)


def checked(source: Path) -> list[str]:
    """The modules of a package folder that the import hook shall instrument.

    The hook matches by prefix, so packages are left out too: naming one would name all it holds. Their ``__init__``
    only re-exports.
    """
    return [
        name
        for name, path in modules(source).items()
        if name not in HOT and path.name != "__init__.py" and _annotated(path.read_text(encoding="utf-8"))
    ]


def _annotated(text: str) -> bool:
    return bool(SHAPES.search(text)) and not UNWRAPPABLE.search(text)
