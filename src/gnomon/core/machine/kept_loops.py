"""Guesses whether compiled code of a function is cached on disk, without importing numba, which takes a second.

>>> is_compiled_code_cached("gnomon.core.machine.kept_loops", "no_such_loop")
False
"""

import os
from importlib.util import find_spec
from pathlib import Path

__all__ = ["is_compiled_code_cached"]


def is_compiled_code_cached(module: str, function: str) -> bool:
    """Checks whether numba has cached compiled code of a function on disk; the code may be outdated.

    Cost: one or two folders are listed.

    >>> is_compiled_code_cached("no_such_package", "loop")
    False
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return False
    name, folder = f"{module.rsplit('.', 1)[1]}.{function}-*.nbi", os.environ.get("NUMBA_CACHE_DIR")
    places = Path(folder).glob(f"*/{name}") if folder else Path(spec.origin).with_name("__pycache__").glob(name)
    return any(places)
