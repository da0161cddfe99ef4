"""Names and sentences are plain: counts of dialect markers and unclear names stay below limits that only fall."""

from functools import cache

import pytest

from tests.house.allowances import PLAIN_ENGLISH
from tests.house.tree import ROOT
from tools.plain_english.count import MARKERS, breaches, is_participle
from tools.plain_english.draw import draw, readable_items, sentences


@cache
def found_in_project():
    """All breaches, searched when the first test needs them: every worker imports this file."""
    return breaches(ROOT)


@pytest.mark.rules
def test_every_count_has_a_limit():
    assert set(PLAIN_ENGLISH) == set(found_in_project())


@pytest.mark.rules
def test_counts_stay_below_their_limits():
    too_many = [
        line
        for kind, limit in PLAIN_ENGLISH.items()
        if len(places := found_in_project()[kind]) > limit
        for line in (f"{kind}: {len(places)} found, at most {limit} allowed", *places[:200])
    ]
    assert not too_many, "\n".join(too_many)


SAMPLE = {
    "where (for: if)": "Left out where it is absent.",
    "that of, those of": "The loss, and that of the test set.",
    "told, tells": "The network is told the labels.",
    ", for (for: because)": "Skipped, for it has no weights.",
    "is no, are no": "There is no layer.",
    "beside": "The kernel beside the limit.",
    "alike": "All units are alike.",
    "so many": "Draws so many examples.",
    "from which on": "The size from which on it is large.",
    "grave": "The graver fault.",
    "dear": "A dear attack.",
    "mend": "Mend the layer.",
    "cure": "The cure is simple.",
    "withstand": "It withstands the attack.",
    "come about": "Training did not come about.",
    "asked of": "This is asked of the network.",
    "the like, and so on": "Lists and the like.",
    "as it comes": "Use the model as it comes.",
    "[H:": "x holds NaN [H: finite inputs].",
}


@pytest.mark.parametrize("kind", MARKERS)
@pytest.mark.parametrize("form", ["docstring", "comment", "string", "page"])
def test_the_counter_finds_each_marker_in_each_kind_of_text(tmp_path, kind, form):
    sentence = SAMPLE[kind]
    source = {
        "docstring": f'"""{sentence}"""\n',
        "comment": f"x = 1  # {sentence}\n",
        "string": f'x = "{sentence}"\n',
        "page": "",
    }
    (tmp_path / "src/gnomon").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "src/gnomon/a.py").write_text(source[form])
    (tmp_path / "docs/a.md").write_text(sentence if form == "page" else "")
    assert len(breaches(tmp_path)[kind]) == 1


def test_code_in_prose_is_not_counted(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Call `torch.where`.\n\n```python\nwhere it is  # beside\n```\n")
    assert sum(len(places) for places in breaches(tmp_path).values()) == 0


def test_the_counter_finds_unclear_names(tmp_path):
    (tmp_path / "src/gnomon").mkdir(parents=True)
    lines = [
        "LEAST = 3",
        "FEW, MANY = 2, 32",
        "MIN_ROWS = 3",
        "WORDS = 'a b'",
        "def settled(): ...",
        "def _told(): ...",
        "def fit(): ...",
    ]
    (tmp_path / "src/gnomon/a.py").write_text("\n".join(lines) + "\n")
    found = breaches(tmp_path)
    assert len(found["numbers named by one word"]) == 3
    assert len(found["constants that share a line"]) == 2
    assert len(found["functions named by a bare participle"]) == 2


@pytest.mark.parametrize(
    ("name", "expected"), [("blamed", True), ("kept", True), ("read_examples", False), ("speed", False)]
)
def test_participles(name, expected):
    assert is_participle(name) is expected


def test_draws_are_reproducible_and_differ_by_seed():
    items = {"names": [f"name {i}" for i in range(200)], "comments": [f"comment {i}" for i in range(60)]}
    first, again, other = draw(items, 1), draw(items, 1), draw(items, 2)
    assert first == again != other
    assert {name: len(set(drawn)) for name, drawn in first.items()} == {"names": 40, "comments": 40}


PAGE = """# A page

`fit` needs a [loss](loss.md), e.g. **cross-entropy**, and Python 3.11. Is it
slow? No, it is fast!

| call | effect |
|---|---|
| `stop` | The training ends at once. |
| `go` | start |

```python
Some(code).that_is.no_sentence.
```

- A list item is a sentence too.
"""


def test_sentences_are_drawn_as_users_see_them():
    assert list(sentences(PAGE)) == [
        "`fit` needs a loss, e.g. cross-entropy, and Python 3.11.",
        "call: `stop`; effect: The training ends at once.",
        "A list item is a sentence too.",
    ]


@pytest.mark.full
def test_the_project_has_enough_items_of_every_group():
    assert {name: len(items) for name, items in draw(readable_items(ROOT), 1).items()} == {
        "public names": 40, "docstring first lines": 40, "comments": 40, "user-facing sentences": 40,
    }  # fmt: skip


def test_an_equation_number_before_a_directive_is_no_comment_for_readers(tmp_path):
    (tmp_path / "src" / "gnomon").mkdir(parents=True)
    code = "f = [\n    1,\n]  # (2)  # fmt: skip\ng = 2  # twice the width of a layer  # noqa: E741\n"
    (tmp_path / "src" / "gnomon" / "a.py").write_text(code)
    assert readable_items(tmp_path)["comments"] == ["src/gnomon/a.py:4: twice the width of a layer   [g = 2]"]
