"""Every claim has an explanation with all sections; its symbols, links and functions exist.

`without_prose.txt` lists the claims that have none yet. The list only shrinks: a claim with a complete file must be
removed from it.
"""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from gnomon.atlas import catalog
from gnomon.atlas.grids.records import stored_record
from gnomon.atlas.prose import explanation_of_claim, parse_explanation
from gnomon.core.errors import InputError
from tests.atlas.symbols import letters, undefined_symbols

ENTRIES = catalog()
WITHOUT = frozenset((Path(__file__).parent / "without_prose.txt").read_text("utf-8").split())
TEXT = """## Symbols
- $n$: number of examples.
- $x$ and $y$: input and target,
  both numbers.
## Why it holds
Because $n > 1$.
## Where it fails
At $n = 1$.
## Exercise
Which $n$?
## Answer
Two.
## Related
- softmax: the same map.
## Measure
`gnomon.landscape.sharpness(module, data)`: the largest
eigenvalue; `gnomon.ntk` is another.
"""


def test_the_list_of_claims_without_prose_only_shrinks():
    assert WITHOUT <= set(ENTRIES)
    finished = [name for name in WITHOUT if explanation_of_claim(name) is not None]
    assert not finished, f"remove from tests/atlas/without_prose.txt: {' '.join(sorted(finished))}"


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in WITHOUT])
def test_an_explanation_is_complete(name):
    prose = explanation_of_claim(name)
    assert prose is not None, f"{name} has no Markdown file"
    assert not undefined_symbols(ENTRIES[name].claim.equation, prose.symbols)
    assert [other for other, _ in prose.related if other not in ENTRIES or other == name] == []
    for call, _ in prose.measure:
        assert exists(call), f"{call} does not exist"


def undefined_sliders(grid, symbols):
    """Sliders with a short name, such as n, that the list of symbols does not define; everybody knows lr."""
    defined = {part.strip() for tex, _ in symbols for part in re.sub(r"\\mathrm\{(\w+)\}|\\", r"\1", tex).split(",")}
    defined |= {"lr"} | ({"eps"} if defined & {"epsilon", "varepsilon"} else set())
    short = {"eps", "std", "rho"}
    return [name for name in grid["names"] if (len(name) < 3 or name in short) and name not in defined]


def test_the_symbols_of_a_claim_define_its_sliders():
    assert undefined_sliders({"names": ["n", "d", "width", "lr"]}, (("n, m", "sizes"), (r"\eta", "rate"))) == ["d"]
    missed = {}
    for name in set(ENTRIES) - WITHOUT:
        record = stored_record(name)
        grid = record["grid"] if record else None
        if grid and (short := undefined_sliders(grid, explanation_of_claim(name).symbols)):
            missed[name] = short
    assert missed == {}, "define them in the section Symbols"


def exists(call):
    """Whether the function of a call such as ``gnomon.a.b(module, data)`` exists."""
    path = re.match(r"[\w.]+", call)[0].split(".")
    for cut in range(len(path), 0, -1):
        try:
            found = importlib.import_module(".".join(path[:cut]))
        except ImportError:
            continue
        for part in path[cut:]:
            found = getattr(found, part, None)
        return callable(found) or inspect.ismodule(found)
    return False


def test_the_sections_are_read():
    prose = parse_explanation(TEXT, "a-claim")
    assert prose.symbols == (
        ("n", "number of examples."),
        ("x", "input and target, both numbers."),
        ("y", "input and target, both numbers."),
    )
    assert prose.related == (("softmax", "the same map."),) and prose.why == "Because $n > 1$."
    assert [call for call, _ in prose.measure] == ["gnomon.landscape.sharpness(module, data)"]
    assert parse_explanation(TEXT.partition("## Measure")[0], "a-claim").measure == ()


@pytest.mark.parametrize(
    "changed, message",
    [
        (TEXT.replace("## Answer\nTwo.\n", ""), 'no section "Answer"'),
        (TEXT.replace("Two.", ""), 'section "Answer" of its Markdown file is empty'),
        (TEXT.replace("## Answer", "## Solution"), "unknown section 'Solution'"),
        (
            TEXT.replace("## Exercise\nWhich $n$?\n", "").replace("## Related", "## Exercise\nWhich?\n## Related"),
            "in order",
        ),
        (TEXT.replace("- $n$: number", "- $n$ number"), "expected '- $symbol$: meaning'"),
        (TEXT.replace("`gnomon.landscape.sharpness(module, data)`: the", "Call the"), "in Measure"),
        ("Hello\n" + TEXT, "must begin with a section"),
    ],
)
def test_an_error_says_what_is_missing(changed, message):
    with pytest.raises(InputError, match="a-claim: .*" + re.escape(message)):
        parse_explanation(changed, "a-claim")


def test_undefined_symbols_and_missing_functions_are_noticed():
    assert letters(r"\mathrm{ReLU}(x) \le \alpha \hat{y}_{flat} + \pi") == {"x", "alpha", "y"}
    assert undefined_symbols(r"t \le R^2 / \gamma^2", (("t", "number of updates"),)) == {"gamma"}
    assert not undefined_symbols(r"t \le \gamma", ((r"t, \gamma", "both"),))
    assert exists("gnomon.landscape.sharpness(module)") and not exists("gnomon.landscape.no_such(module)")
