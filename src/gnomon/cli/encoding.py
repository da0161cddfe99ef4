"""Encodes the columns of a table as numbers: words one-hot, dates as days, targets as classes or values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.results.record import Record

MAX_CATEGORIES = 100
"""Maximum number of distinct words in a column that is one-hot encoded."""
MAX_DISTINCT_SHARE = 0.5
"""Maximum number of distinct words per row; a column with more holds names, not categories."""
MAX_CLASS_NUMBERS = 20
"""Maximum number of distinct integer targets that always count as classes."""
MIN_ROWS_PER_CLASS = 5
"""With more distinct integers, the minimum number of rows per integer for classes."""
GAPS = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""Texts that mean a missing value, in lower case."""
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?")
MAX_LISTED_CLASSES = 10
"""Maximum number of classes that a message lists."""
Columns = dict[str, list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Feature(Record):
    """A table column encoded as a matrix of numbers; also records the number of words, or the first date."""

    x: Tensor
    words: int = 0
    since: str = ""


def encode_column(name: str, values: list[str]) -> Feature:
    """Encodes a table column as numbers: words one-hot, two words as a single 0/1 column, dates as days.

    >>> encode_column("size", ["1", "2.5"]).x.tolist(), encode_column("color", ["red", "blue"]).x.tolist()
    ([[1.0], [2.5]], [[1.0], [0.0]])
    >>> encode_column("when", ["2024-01-31", "2024-02-02"]).x.tolist()
    [[0.0], [2.0]]
    """
    _check_gaps(name, values)
    bad = next((i for i, v in enumerate(values) if not is_number(v)), None)
    if bad is None:
        return Feature(torch.tensor([float(v) for v in values], dtype=torch.float32)[:, None])
    words = sorted(set(values))
    if any(map(is_number, words)):
        what = f"column '{name}' contains '{values[bad]}' among numbers, in row {bad + 2}"
        raise InputError(what, accepted="columns of numbers or of words", fix="Correct that row, or drop the column")
    if days := _days(values):
        return Feature(torch.tensor(days, dtype=torch.float32)[:, None], since=min(values)[:10])
    if len(words) > MAX_CATEGORIES or (
        len(words) > MAX_CLASS_NUMBERS and len(words) > MAX_DISTINCT_SHARE * len(values)
    ):
        what = f"column '{name}' holds {len(words):,} distinct words in {len(values):,} rows"
        kinds = f"at most {MAX_CATEGORIES} words, each in several rows"
        raise InputError(what, accepted=kinds, fix="Drop this column, or group its words")
    places = torch.tensor([words.index(v) for v in values])
    x = places[:, None].float() if len(words) <= 2 else torch.nn.functional.one_hot(places, len(words)).float()
    return Feature(x, len(words))


def encode_labels(words: list[str], name: str) -> tuple[Tensor, str]:
    """Encodes a target column: words and few distinct integers as classes, other numbers as values; also returns a
    sentence on this.

    >>> encode_labels(["cat", "dog", "cat"], "animal")
    (tensor([0, 1, 0]), "the target 'animal' has 2 classes, numbered from 0: cat, dog")
    >>> encode_labels(["0.5", "2"], "price")[1]
    "the target 'price' is a number to predict"
    """
    _check_gaps(name, words)
    if all(map(is_number, words)):
        whole = all(re.fullmatch(r"[+-]?\d+", w) for w in words)
        kinds: Sequence[Any] = sorted({int(w) for w in words}) if whole else ()
        if not whole or len(kinds) > max(MAX_CLASS_NUMBERS, len(words) // MIN_ROWS_PER_CLASS):
            told = f", with {len(kinds)} distinct integers" if whole else ""
            return torch.tensor([float(w) for w in words]), f"the target '{name}' is a number to predict{told}"
        places = {str(number): i for i, number in enumerate(kinds)}
        y = torch.tensor([places[str(int(w))] for w in words])
    else:
        places = {word: i for i, word in enumerate(sorted(set(words)))}
        y = torch.tensor([places[w] for w in words])
        if len(places) > max(MAX_CLASS_NUMBERS, MAX_DISTINCT_SHARE * len(words)):
            what = f"the target '{name}' holds {len(places):,} distinct words in {len(words):,} rows"
            raise InputError(what, accepted="classes with several examples each", fix="Choose another column")
    return y, f"the target '{name}' has {list_classes(tuple(places))}"


def list_classes(classes: tuple[str, ...]) -> str:
    """Lists class names in one phrase such as "3 classes, numbered from 0: cat, dog, owl"; only counts classes named 0,
    1, 2.

    >>> list_classes(("cat", "dog")), list_classes(("0", "1"))
    ('2 classes, numbered from 0: cat, dog', '2 classes')
    """
    count = f"{len(classes)} class{'es' if len(classes) > 1 else ''}"
    if classes == tuple(map(str, range(len(classes)))):
        return count
    more = ", ..." if len(classes) > MAX_LISTED_CLASSES else ""
    return f"{count}, numbered from 0: {', '.join(classes[:MAX_LISTED_CLASSES])}{more}"


def is_number(word: str) -> bool:
    """Checks whether a word can be read as a finite number.

    >>> is_number("1e-3"), is_number("red"), is_number("inf")
    (True, False, False)
    """
    try:
        return abs(float(word)) < float("inf")
    except ValueError:
        return False


def _check_gaps(name: str, values: list[str]) -> None:
    gaps = [i for i, v in enumerate(values) if v.lower() in GAPS]
    if gaps:
        count = f"{len(gaps):,} missing value{'s' if len(gaps) > 1 else ''}"
        what = f"column '{name}' has {count} in {len(values):,} rows, the first in row {gaps[0] + 2}"
        fix = "Fill in the values or drop these rows, for example with pandas: fillna, dropna"
        raise InputError(what, accepted="a value in every field", fix=fix)


def _days(values: list[str]) -> list[float]:
    """Converts dates to days since the earliest one; returns an empty list if a value is not an ISO 8601 date."""
    if not all(DATE.fullmatch(v) for v in values):
        return []
    try:
        times = [datetime.fromisoformat(v) for v in values]
    except ValueError:
        return []
    stamps = [(t if t.tzinfo else t.replace(tzinfo=UTC)).timestamp() for t in times]
    return [(stamp - min(stamps)) / 86400 for stamp in stamps]
