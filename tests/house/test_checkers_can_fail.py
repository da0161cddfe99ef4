"""Every checker of the house passes on a small sound tree, and fails on the same tree with one fault planted."""

import doctest
import itertools
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError, install_import_hook

from gnomon.decisions.calibration import calibration
from tests.house import (
    assertions,
    bibliography,
    boundaries,
    budgets,
    call_paths,
    conventions,
    docs_true,
    examples,
    importing,
    layers,
    machine_paths,
    plain_words,
    public_errors,
    public_names,
    returns,
    shapes,
    tree,
    versions,
)

COUNT = itertools.count()


def plant(folder: Path, files: dict[str, str]) -> Path:
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return folder


def says(faults: list[str], words: str) -> bool:
    return any(words in fault for fault in faults)


HOUSE = {
    "gnomon/__init__.py": "from gnomon.kernels import limit\n",
    "gnomon/core/__init__.py": "from gnomon.core.errors import Lesson\n",
    "gnomon/core/errors.py": "class Lesson(Exception): ...\n",
    "gnomon/program/__init__.py": "",
    "gnomon/linalg/__init__.py": "from gnomon.core import errors\n",
    "gnomon/kernels/__init__.py": "from .limit import limit\n",
    "gnomon/kernels/limit.py": "from gnomon import program\nfrom ..core.errors import Lesson\ndef limit(): ...\n",
    "gnomon/cli/__init__.py": "import gnomon.kernels.limit\n",
}


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("core/errors.py", "from gnomon.kernels import limit", "'core' imports upward from 'kernels'"),
        ("core/errors.py", "from gnomon import kernels", "'core' imports upward from 'kernels' (gnomon.kernels)"),
        ("core/errors.py", "def f():\n    import gnomon.cli as c", "'core' imports upward from 'cli'"),
        ("core/errors.py", "from ..program import read", "'core' imports upward from 'program'"),
        ("core/errors.py", "x = import_module('gnomon.program')", "'core' imports upward from 'program'"),
        ("linalg/solve.py", "from gnomon.program import read", "'linalg' imports sideways from 'program'"),
        ("linalg/solve.py", "from .. import program", "'linalg' imports sideways from 'program'"),
        ("linalg/solve.py", "from gnomon import limit", "imports the package itself"),
        ("linalg/solve.py", "import gnomon", "imports the package itself"),
        ("linalg/solve.py", "from gnomon.core.nothing.here import x", "there is no module"),
        ("__init__.py", "from gnomon import attic", "gnomon, line 1: there is no module gnomon.attic"),
        ("core/errors.py", "from gnomon.core import Lesson", "import cycle: "),
        ("attic/__init__.py", "", "attic: this subpackage belongs to no layer"),
    ],
)
def test_layers(tmp_path, place, text, words):
    assert layers.faults(plant(tmp_path, HOUSE) / "gnomon") == []
    plant(tmp_path, {f"gnomon/{place}": text + "\n"})
    assert says(layers.faults(tmp_path / "gnomon"), words)


def test_the_page_of_layers(tmp_path):
    rows = [f"| {layer} | {names[0]} |" for layer, names in layers.LAYERS.items()]
    page, source = tmp_path / "page.md", tmp_path / "gnomon"
    plant(source, {f"{names[0]}/__init__.py": "" for names in layers.LAYERS.values()})
    page.write_text("\n".join(rows))
    assert layers.page_faults(page, source) == []
    plant(source, {"linalg/__init__.py": ""})
    assert says(layers.page_faults(page, source), "the row 'foundation' should list ['linalg', 'program']")
    page.write_text("\n".join(rows[1:]))
    assert says(layers.page_faults(page, source), "the row 'core' should list ['core']")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("No list.", "linalg: its docstring has no line 'May import: ...'"),
        ("May import: core, program.", "linalg: says that it imports program, and does not"),
        ("May import: no other subpackage.", "linalg: imports core, and does not say so"),
    ],
)
def test_the_stated_imports(tmp_path, stated, words):
    files = {"core/__init__.py": '"""May import: no other subpackage."""\n', "core/a.py": "x = 1\n"}
    files |= {"linalg/__init__.py": '"""May import: core."""\nfrom gnomon.core.a import x\n'}
    assert layers.stated_faults(plant(tmp_path / "gnomon", files)) == []
    plant(tmp_path / "gnomon", {"linalg/__init__.py": f'"""{stated}"""\nfrom gnomon.core.a import x\n'})
    assert says(layers.stated_faults(tmp_path / "gnomon"), words)


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("long.py", "x = 1\n" * 351, "351 lines"),
        ("tall.py", "class A:\n    def f():\n" + "        x = 1\n" * 80, "f has 81 lines"),
        ("room/utils.py", "", "'utils' says nothing"),
        ("_helpers/__init__.py", "", "'_helpers' says nothing"),
    ],
)
def test_budgets(tmp_path, place, text, words):
    sound = {
        "long.py": "x = 1\n" * 350,
        "short.py": "x = 1\n",
        "brief.py": "",
        "tall.py": "def f():\n" + "    x = 1\n" * 79,
    }
    assert budgets.faults(plant(tmp_path, sound)) == []
    assert says(budgets.faults(plant(tmp_path, {place: text})), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from __future__ import annotations\n", "turns off the shape checks"),
        ("def f():\n    global state\n", "mutable module state"),
        ("x = 1  # TO" + "DO later\n", "unfinished work"),
        ('"""y = 2 x   (1)"""\ny = 2  # (2)\n', "no docstring of this file has an equation (2)"),
        ("class A: ...\n", "class A is defined 2 times: "),
        ("def f():\n    class A: ...\n", "class A is defined 2 times: "),
    ],
)
def test_conventions(tmp_path, text, words):
    sound = {"a.py": '"""y = 2 x   (1)"""\ny = 2  # (1)\n', "b.py": "class A: ...\nclass B: ...\n"}
    assert conventions.faults(plant(tmp_path, sound)) == []
    assert says(conventions.faults(plant(tmp_path, {"a.py": text})), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "@add_call_to_errors\ndef ntk(): raise InputError('x [H: finite]')",
            "kernels.ntk, line 2: a message has a code",
        ),
        ("@add_call_to_errors\ndef ntk(): f(f'{x} [H: {y}]')", "kernels.ntk, line 2: a message has a code"),
        ("@add_call_to_errors\ndef ntk(call: str): ...", "kernels.ntk, line 2: 'call' is passed down"),
        ("@add_call_to_errors\ndef ntk(*, call: str | None = None): ...", "kernels.ntk, line 2: 'call' is passed down"),
        ("def ntk(): ...", "gnomon.kernels.ntk.ntk: is exported and has no @add_call_to_errors"),
        ("@torch.no_grad()\ndef ntk(): ...", "gnomon.kernels.ntk.ntk: is exported and has no @add_call_to_errors"),
    ],
)
def test_public_errors(tmp_path, text, words):
    sound = {
        "__init__.py": "__all__ = ['ntk', 'stream']\nfrom gnomon.kernels import ntk, stream\n",
        "core/__init__.py": "__all__ = ['free']\ndef free(call: Call): ...\n",
        "kernels/__init__.py": "__all__ = ['ntk', 'stream']\nfrom gnomon.kernels.ntk import ntk, stream as stream\n",
        "kernels/ntk.py": "@property\n@add_call_to_errors('a.ntk()')\ndef ntk(): ...\ndef stream():\n    yield 1\n",
    }
    assert public_errors.faults(plant(tmp_path / "gnomon", sound)) == []
    plant(tmp_path / "gnomon", {"kernels/ntk.py": text + "\n"})
    assert says(public_errors.faults(tmp_path / "gnomon"), words)


def test_the_median_file_is_short(tmp_path):
    assert budgets.faults(plant(tmp_path, {"a.py": "x = 1\n" * 130, "b.py": "x = 1\n" * 130, "c.py": ""})) == []
    assert says(
        budgets.faults(plant(tmp_path, {"c.py": "x = 1\n" * 131, "b.py": "x = 1\n" * 131})), "median file has 131"
    )


def test_lines_of_code_leave_out_prose_and_claims(tmp_path):
    text = '"""One.\n\nTwo."""\n\n# three\nx = 1  # four\ny = """a\nb"""\n"""Five."""\n'
    assert budgets.lines_of_code(plant(tmp_path, {"a.py": text, "claims/b.py": "z = 1\n", "c.py": "w = 2\n"})) == 4


def test_ignored_types_are_counted_and_allowances_end(tmp_path):
    sound = {"a.py": 's = "# type: ignore"\n'}
    assert budgets.types_ignored(plant(tmp_path, sound)) == []
    faults = budgets.types_ignored(plant(tmp_path, {"a.py": "x = 1  # type: ignore[misc]\ny = 2  # type: ignore\n"}))
    assert [fault.split(":")[0] for fault in faults] == ["a.py, line 1", "a.py, line 2"]
    tree.expect_at_most(2, faults)
    with pytest.raises(pytest.fail.Exception, match="2 breaches, 1 are allowed"):
        tree.expect_at_most(1, faults)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("assert a == 1 and b == 2 or c", "'a and b or c'"),
        ("assert (a == 1, 'a')", "whatever happens"),
        ("assert (a == b for a in c)", "whatever happens"),
        ("assert a == 1 or 'b'", "whatever happens"),
        ("assert map(str, a)", "whatever happens"),
        ("assert len(a), b == 2", "is its message"),
        ("assert len(a), 2", "is its message"),
        ("a == 1", "is lost"),
        ("same(a, b) and same(b, c)", "is lost"),
    ],
)
def test_assertions(tmp_path, text, words):
    sound = (
        "assert a == 1 and (b or c)\nassert a is b and b is c or f(a)\nassert a, (b, c)\nassert a, 'b'\nassert [*a]\n"
    )
    assert assertions.faults(plant(tmp_path, {"a.py": sound})) == []
    assert says(assertions.faults(plant(tmp_path, {"b.py": f"def f():\n    {text}\n"})), words)


ROOMS = {
    "gnomon/__init__.py": "",
    "gnomon/core/__init__.py": '__all__ = ["one"]\nfrom gnomon.core.errors import one\n',
    "gnomon/core/errors.py": '__all__ = ["one"]\none = two = _three = 1\n',
    "gnomon/core/inner.py": "from gnomon.core.errors import two\n",
    "gnomon/linalg/a.py": "from gnomon.core.errors import one\nfrom gnomon.core import errors, one\n",
}


@pytest.mark.parametrize(
    "text",
    [
        "from gnomon.core.errors import two",
        "from gnomon.core.errors import _three",
        "from gnomon.core.inner import two",
        "def f():\n    from ..core.errors import two",
        "if TYPE_CHECKING:\n    from gnomon.core import two",
    ],
)
def test_boundaries(tmp_path, text):
    assert boundaries.faults(plant(tmp_path, ROOMS) / "gnomon") == []
    assert says(boundaries.faults(plant(tmp_path, {"gnomon/linalg/a.py": text}) / "gnomon"), "is not in the __all__ of")


SINGLE = """
__all__ = ["f", "Table"]

def f(x: Tensor, name: str) -> Tensor | None: ...

def _hidden(x: Tensor, *, full: bool) -> Tensor | dict: ...

class Table:
    def row(self, x: Tensor | dict) -> Tensor | dict: ...
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Tensor | None", "Tensor | dict[str, Tensor] | None"),
        ("name: str) -> Tensor | None", "*, full: bool = False) -> 'Tensor | dict'"),
        ("name: str) -> Tensor | None", 'method: Literal["a", "b"] = "a") -> Union[Exact, Sampled]'),
        ("x: Tensor | dict)", "x: Tensor | dict, name: str | None = None)"),
    ],
)
def test_returns(tmp_path, old, new):
    assert old in SINGLE
    assert returns.faults(plant(tmp_path, {"gnomon/core/a.py": SINGLE}) / "gnomon") == []
    assert says(returns.faults(plant(tmp_path, {"gnomon/core/a.py": SINGLE.replace(old, new)}) / "gnomon"), "decides")
    inner, front = (
        SINGLE.replace(old, new).replace("__all__", "listed"),
        "from gnomon.core.a import {0}\n__all__ = ['{0}']",
    )
    name = "Table" if "self" in old or old.startswith("x:") else "f"
    plant(tmp_path, {"gnomon/core/a.py": inner, "gnomon/core/__init__.py": front.format(name)})
    assert says(returns.faults(tmp_path / "gnomon"), "decides")


PLAIN = {
    "README.md": "See [layers](docs/topics/a.md) and `lesson`.\n\n```python\nroom = 1\n```\n",
    "docs/page.md": "There is room for four numbers; floor(x) is whole; note it to know whether it holds.",
    "docs/design/floors.md": "The cellar has one room.",
    "src/gnomon/core/__init__.py": '"""Cellar: what every room stands on."""\n',
    "src/gnomon/core/a.py": '"""A module.\n\n>>> room = 1\n"""\nx = "room"\n\n\ndef _f():\n    """The door."""\n',
}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("README.md", "Each room has a door."),
        ("docs/page.md", "How an error dies."),
        ("docs/page.md", "does the network change its mind on the way"),
        ("docs/page.md", "To know: nothing."),
        ("src/gnomon/core/a.py", '"""The door of the room."""\n'),
        ("src/gnomon/core/a.py", 'def f():\n    """It sits in the cellar."""\n'),
        ("src/gnomon/core/a.py", 'message = f"{1} more in company"\n'),
    ],
)
def test_plain_words(tmp_path, place, text):
    assert plain_words.faults(plain_words.texts(plant(tmp_path, PLAIN))) == []
    assert says(
        plain_words.faults(plain_words.texts(plant(tmp_path, {place: text}))), place.removesuffix(".py").split("/")[-1]
    )


FUNCTION = '''"""A module."""
__all__ = ["double"]


def double(x, *, loud: bool = False):
    """Twice a number.

        y = 2 x        (1)

    Hypotheses: none.
    Reference: arithmetic.
    Cost: one product.

    >>> double(2)
    4
    """
    return 2 * x  # (1)
'''
CLASS = '''"""A module.

>>> Point(1).twice()
2
"""
__all__ = ["Point", "Gram", "PointError"]
Gram = dict[str, int]
"""A table."""


class PointError(Exception):
    """A point went wrong."""


class Point:
    """A number with a method."""

    def __init__(self, x):
        self.x = x

    def twice(self):
        """Twice the number."""
        return 2 * self.x
'''
CHARTER = '"""A room.\n\nContains: numbers.\nMay import: nothing.\n"""\n__all__ = []\n'


@pytest.mark.parametrize(
    ("place", "old", "new", "words"),
    [
        ("function", '__all__ = ["double"]', '__all__ = ["double", "triple"]', "does not exist"),
        ("function", "Twice a number.", "Twice a number", "does not open with a sentence"),
        ("function", "Cost: one product.", "Cost: none.", "says nothing"),
        ("function", "    >>> double(2)\n    4\n", "", "has no example"),
        ("function", "    Hypotheses: none.\n", "", "without 'Hypothes'"),
        ("function", "    Reference: arithmetic.\n", "", "without 'Reference'"),
        ("function", "*, loud: bool = False", "**options", "takes **options"),
        ("function", "*, loud: bool = False", "loud=False", "takes the boolean loud by position"),
        ("kind", ">>> Point(1).twice()\n2\n", "", "has an example"),
        ("kind", '"""A number with a method."""', "", "has no docstring"),
        ("kind", '        """Twice the number."""\n', "", "twice: has no docstring"),
        ("kind", "def __init__(self, x)", "def __init__(self, x, **more)", "__init__: takes **more"),
        ("kind", "def twice(self)", "def twice(self, loud=True)", "twice: takes the boolean loud"),
        ("kind", '"""A point went wrong."""', "...", "PointError: has no docstring"),
        ("kind", '"""A table."""', "", "Gram: is a constant or an alias"),
        ("room/__init__", "Contains: numbers.\n", "", "does not say 'Contains'"),
        ("room/__init__", "May import: nothing.\n", "", "does not say 'May import'"),
        ("room/__init__", "May import", "\n" * 20 + "May import", "over 20 lines"),
        ("room/__init__", "__all__ = []\n", "", "says in __all__ what is public"),
    ],
)
def test_public_names(tmp_path, monkeypatch, place, old, new, words):
    monkeypatch.syspath_prepend(tmp_path)
    sound = {"__init__": '"""A package."""\n', "function": FUNCTION, "kind": CLASS, "room/__init__": CHARTER}
    assert old in sound[place]
    assert public_names.faults(importable(tmp_path, sound)) == []
    assert says(public_names.faults(importable(tmp_path, sound | {place: sound[place].replace(old, new)})), words)


def test_examples(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    sound = {"__init__": "", "function": FUNCTION, "kind": CLASS}
    assert examples.faults(importable(tmp_path, sound)) == []
    hidden = FUNCTION + "\n\ndouble = type(double)(double.__code__, {})\n"  # foreign globals, like a bare wrapper
    assert says(examples.faults(importable(tmp_path, {"__init__": "", "function": hidden})), "double: its example")


def importable(folder: Path, files: dict[str, str]) -> str:
    """Plant the files as a package with a name never used before, since Python imports a name once."""
    package = f"planted_{next(COUNT)}"
    plant(folder, {f"{package}/{name}.py": text for name, text in files.items()})
    return package


ENTRY = "@article{doe2000title,\n  title = {A Title},\n  author = {Doe, Jane and Roe, Richard},\n  year = {2000},\n}\n"


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("docs/page.md", "See [doe2000title] and [roe2001other].", "roe2001other: cited in docs/page.md"),
        ("src/gnomon/a.py", '"""As [roe2001other, Theorem 2] shows."""', "roe2001other: cited in gnomon.a"),
        ("src/gnomon/a.py", 'Definition("a", "b", "roe2001other")', "roe2001other: cited in gnomon.a"),
        ("src/gnomon/a.py", 'Definition("a", "b", reference="roe2001other")', "roe2001other: cited in gnomon.a"),
        ("docs/page.md", "See nothing.", "doe2000title: in references.bib, and cited nowhere"),
        ("src/gnomon/references.bib", ENTRY.replace("{2000}", "{2001}"), "does not agree with its year"),
        ("src/gnomon/references.bib", ENTRY.replace("Doe, Jane", "Poe, Jane"), "does not agree with its author"),
        ("src/gnomon/references.bib", ENTRY.replace("A Title", "A Name"), "does not agree with its title"),
        ("src/gnomon/references.bib", ENTRY.replace("  year = {2000},\n", ""), "has no year"),
        ("src/gnomon/references.bib", ENTRY.replace("doe2000title", "Doe00"), "a key is surname, year, word"),
    ],
)
def test_bibliography(tmp_path, place, text, words):
    plant(tmp_path, {"docs/page.md": "See [doe2000title].", "src/gnomon/references.bib": ENTRY, "src/gnomon/a.py": ""})
    assert bibliography.faults(tmp_path) == []
    assert says(bibliography.faults(plant(tmp_path, {place: text})), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for i in range(200_000): abs(i)", "calls beyond json"),
        ("import xml.dom.minidom, xml.sax, email.mime.text, http.server, unittest.mock", "modules of others"),
        ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "starts 1 threads"),
        ("open('trace.txt', 'w').close()", "trace.txt"),
        ("import scipy", "imports scipy"),
    ],
)
def test_import(tmp_path, text, words):
    plant(tmp_path, {"sound.py": "x = 1\n", "faulty.py": text + "\n", "empty/x": ""})
    (tmp_path / "empty" / "x").unlink()
    where = {"path": tmp_path, "folder": tmp_path / "empty", "beyond": "json"}
    assert importing.faults("sound", **where) == []
    assert says(importing.faults("faulty", **where), words)


@pytest.mark.parametrize("place", machine_paths.PLACES)
def test_machine_paths(tmp_path, place):
    sound = {"a.md": f"https://example.org/{place}/ and a/{place}/b", ".gitignore": ".venv/\n", ".venv/x": f"/{place}/"}
    assert machine_paths.faults(plant(tmp_path, sound)) == []
    assert says(machine_paths.faults(plant(tmp_path, {"b.toml": f'x = "/{place}/x"'})), "b.toml, line 1: machine path")


@pytest.mark.parametrize("text", [".libr" + "ary", "pypi" + ".org"])
def test_machine_names(tmp_path, text):
    assert machine_paths.faults(plant(tmp_path, {"a.md": "library"})) == []
    assert says(machine_paths.faults(plant(tmp_path, {"a.md": f"\nsee {text}"})), "a.md, line 2")


PROJECT = {
    "README.md": "`make demo` and `make test`; [license](LICENSE)",
    "Makefile": "demo:\n\ntest: .venv\n",
    "LICENSE": "",
    "src/gnomon/core/__init__.py": "",
    "src/gnomon/core/typing.py": '"""Sizes.\n\n    n, m  points     d  features\n"""\n',
    "docs/reference/core.md": "",
    "docs/notation.md": "## Sizes\n| `n` | a |\n| `m` | b |\n| `d` | c |\n## More\n| `z` | d |\n",
}


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("README.md", "`make demo`", "does not name `make test`"),
        ("README.md", "`make demo`, `make test`, `make tea`", "no target 'tea'"),
        ("README.md", "`make demo`, `make test`, [a](gone.md)", "links to gone.md"),
        ("Makefile", "demo:\n", "no target 'test'"),
        ("docs/reference/attic.md", "", "attic.md has no room"),
        ("src/gnomon/attic/__init__.py", "", "no page for the room 'attic'"),
        ("docs/notation.md", "## Sizes\n| `n` | a |\n| `m` | b |\n", "disagree on 'd'"),
        ("docs/notation.md", PROJECT["docs/notation.md"].replace("`d`", "`e`"), "disagree on 'e'"),
    ],
)
def test_docs(tmp_path, place, text, words):
    assert docs_true.faults(plant(tmp_path, PROJECT)) == []
    assert says(docs_true.faults(plant(tmp_path, {place: text})), words)


def test_pages_are_executed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\nthen\n```python\n>>> x + x\n4\n```\nand\n```text\nnot run\n```\n")
    docs_true.run(page)
    page.write_text("```python\nx = 2\n```\nthen\n```python\n>>> x + x\n5\n```\n")
    with pytest.raises(doctest.DocTestFailure):
        docs_true.run(page)
    page.write_text("```python\nx = 2\n```\nthen\n```python\nassert x == 3\n```\n")
    with pytest.raises(AssertionError):
        docs_true.run(page)
    with pytest.raises(FileNotFoundError):
        docs_true.run(tmp_path / "README.md")


VERSIONS = {
    "pyproject.toml": '[project]\nversion = "1.2.3"\nlicense = "MIT"\n',
    "src/gnomon/__init__.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "cff-version: 1.2.0\nmessage: m\ntitle: t\nauthors:\n  - name: n\nversion: 1.2.3\nlicense: MIT\n",
}


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("src/gnomon/__init__.py", '__version__ = "1.2.4"\n', "__init__.py says 1.2.4"),
        ("src/gnomon/__init__.py", "", "__init__.py says None"),
        ("CITATION.cff", VERSIONS["CITATION.cff"].replace("version: 1.2.3", "version: 1.2"), "CITATION.cff says 1.2,"),
        ("CITATION.cff", VERSIONS["CITATION.cff"].replace("title: t\n", ""), "has no title"),
        ("CITATION.cff", VERSIONS["CITATION.cff"].replace("MIT", "GPL"), "different licenses"),
    ],
)
def test_versions(tmp_path, place, text, words):
    assert versions.faults(plant(tmp_path, VERSIONS)) == []
    assert says(versions.faults(plant(tmp_path, {place: text})), words)


@pytest.mark.parametrize("tested", ["torch==2.6.1\nzarr==3.0.8\n", "zarr==3.0.8\n", "torch==2.6\nzarr==3.0.10\n"])
def test_lowest_versions(tmp_path, tested):
    bounds = '[project]\ndependencies = ["torch>=2.6"]\noptional-dependencies = {dev = ["zarr>=3.0.8", "ruff>=1"], docs = ["x>=1"]}\n'
    files = {"pyproject.toml": bounds, "constraints-lowest.txt": "torch==2.6.0\nzarr==3.0.8\n"}
    assert versions.lowest(plant(tmp_path, files)) == []
    assert says(versions.lowest(plant(tmp_path, {"constraints-lowest.txt": tested})), "allows")


RECORD = """
from dataclasses import dataclass
from jaxtyping import Float
from torch import Tensor

@dataclass(frozen=True, slots=True)
class Record:
    gram: Float[Tensor, "n n"]

def half(x: float) -> float:
    return x / 2
"""
COMPILED = """
from numba import njit

@njit
def double(x):
    return 2 * x
"""
TRACED = """
from torch import Tensor, nn

class Net(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + x
"""


def test_shapes_are_checked_and_what_cannot_be_wrapped_is_left_whole(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = importable(tmp_path, {"__init__": "", "record": RECORD, "compiled": COMPILED, "traced": TRACED})
    assert shapes.checked(tmp_path / package) == [f"{package}.record"]
    with install_import_hook(shapes.checked(tmp_path / package), shapes.CHECKER):
        record, compiled, traced = (import_module(f"{package}.{name}") for name in ("record", "compiled", "traced"))
    assert record.Record(torch.eye(2)).gram.shape == (2, 2)
    assert record.half(3) == 1.5
    with pytest.raises(TypeCheckError):
        record.Record(torch.ones(2, 3))
    with pytest.raises(TypeCheckError):
        record.half("3")
    assert compiled.double(2) == 4
    assert torch.fx.symbolic_trace(traced.Net())(torch.ones(1)) == 2


def test_shapes_are_checked_in_this_run():
    with pytest.raises(TypeCheckError):
        calibration(torch.ones(2), torch.zeros(2, dtype=torch.long))


CALLED = {
    "called/__init__.py": "",
    "called/core/__init__.py": "",
    "called/core/checks.py": "def check(x, then):\n    return then(x)\n",
    "called/helper.py": "def half(x):\n    return x / 2\n",
    "called/first.py": "from called import core, helper, second\nfrom called.core import checks\n"
    "def start(x):\n    return checks.check(helper.half(x), second.middle)\n",
    "called/second.py": "from called import third\ndef middle(x):\n    return third.work(x)\n",
    "called/third.py": "def work(x):\n    return 2 * x\n",
}
CALLED_PAGE = (
    "## `start(x)`\n\n| | file |\n|---|---|\n| 1 | `first.py` | a |\n| 2 | `second.py` | b |\n| 3 | `third.py` | c |\n"
)


@pytest.mark.parametrize(
    ("files", "page", "most", "words"),
    [
        ({}, CALLED_PAGE, 3, None),
        ({}, CALLED_PAGE, 2, "3 files, 2 are allowed"),
        ({}, CALLED_PAGE.replace("second.py", "helper.py"), 3, "the page lists ['first.py', 'helper.py', 'third.py']"),
        ({}, CALLED_PAGE.replace("start(x)", "stop(x)"), 3, "the page lists []"),
        ({"called/second.py": "def middle(x):\n    return x\n"}, CALLED_PAGE, 3, "is never entered"),
        (
            {"called/second.py": "def middle(x):\n    from called.first import again\n    return again(x)\n",
             "called/first.py": CALLED["called/first.py"] + "def again(x):\n    from called import third\n"
             "    return third.work(x)\n"},
            CALLED_PAGE, 3, "a file is left and entered again: first.py -> second.py -> first.py -> third.py",
        ),
        (
            {"called/first.py": CALLED["called/first.py"] + "start_ = start\ndef start(x):\n    from called import third\n"
             "    return third.deep(start_(x))\n",
             "called/third.py": CALLED["called/third.py"] + "def deep(x):\n    from called import second\n"
             "    return second.last(x)\n",
             "called/second.py": CALLED["called/second.py"] + "def last(x):\n    return x\n"},
            CALLED_PAGE, 3, "goes back to an earlier file: first.py -> third.py -> second.py",
        ),
    ],
)  # fmt: skip
def test_call_paths(tmp_path, monkeypatch, files, page, most, words):
    plant(tmp_path, CALLED | files)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "called"]:
        monkeypatch.delitem(sys.modules, name)
    first = import_module("called.first")
    ends = (("third.py", "work"), ("second.py", "last")) if "last" in str(files) else (("third.py", "work"),)
    path = call_paths.CallPath("start(x)", ends, most)
    found = call_paths.faults(path, call_paths.traced(lambda: first.start(1.0), ends, tmp_path / "called"), page)
    assert found == [] if words is None else says(found, words)
