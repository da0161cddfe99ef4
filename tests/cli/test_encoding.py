"""Columns as numbers: which are words, dates, classes or values, on both sides of each threshold."""

import pytest
import torch

from gnomon.cli.encoding import encode_column, encode_labels, is_number, list_classes
from gnomon.core.errors import InputError


def words(distinct, rows):
    """A column with this many distinct words."""
    return [f"w{i % distinct:03}" for i in range(rows)]


def test_words_are_one_hot_and_two_words_are_one_column():
    assert encode_column("c", ["b", "a", "c", "a"]).x.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert encode_column("c", ["no", "yes", "no"]).x.tolist() == [[0], [1], [0]]
    assert encode_column("c", ["b", "a", "c", "a"]).words == 3


@pytest.mark.parametrize(
    ("distinct", "rows", "accepted"),
    [(100, 1000, True), (101, 1000, False), (20, 20, True), (21, 42, True), (21, 41, False)],
)
def test_a_column_holds_names_beyond_a_hundred_words_or_half_of_the_rows(distinct, rows, accepted):
    if accepted:
        assert encode_column("c", words(distinct, rows)).x.shape == (rows, distinct)
    else:
        with pytest.raises(InputError, match=f"{distinct} distinct words in {rows:,} rows"):
            encode_column("c", words(distinct, rows))


def test_dates_are_days_since_the_first():
    found = encode_column("when", ["2024-03-01", "2024-02-28", "2024-02-29T12:00"])
    assert found.x.flatten().tolist() == [2.0, 0.0, 1.5]
    assert found.since == "2024-02-28"
    zones = encode_column("when", ["2024-01-01T00:00+00:00", "2024-01-01T06:00+03:00"])
    assert zones.x.flatten().tolist() == [0.0, 0.125]
    assert encode_column("when", ["2024-01-02T00:00", "2024-01-01T06:00"]).since == "2024-01-01"  # without the hour
    assert encode_column("when", ["2024-13-01", "2024-01-01"]).words == 2  # not a date: a word


@pytest.mark.parametrize(
    ("distinct", "rows", "classes"),
    [(20, 20, True), (21, 105, True), (21, 104, False), (30, 150, True), (30, 149, False)],
)
def test_integers_are_classes_up_to_twenty_or_with_five_rows_each(distinct, rows, classes):
    y, said = encode_labels([str(3 * (i % distinct)) for i in range(rows)], "t")
    if classes:
        assert y.dtype == torch.int64 and y[:distinct].tolist() == list(range(distinct)) and "classes" in said
    else:
        assert y.dtype == torch.float32 and y[1] == 3.0 and f"with {distinct} distinct integers" in said


@pytest.mark.parametrize(("distinct", "rows", "accepted"), [(20, 20, True), (30, 60, True), (30, 59, False)])
def test_words_are_classes_up_to_half_of_the_rows(distinct, rows, accepted):
    if accepted:
        assert encode_labels(words(distinct, rows), "t")[0].tolist() == [i % distinct for i in range(rows)]
    else:
        with pytest.raises(InputError, match="30 distinct words in 59 rows"):
            encode_labels(words(distinct, rows), "t")


def test_rows_in_messages_are_numbered_as_in_a_file_with_a_header():
    with pytest.raises(InputError, match="2 missing values in 4 rows, the first in row 3"):
        encode_column("c", ["1", "", "2", "NA"])
    with pytest.raises(InputError, match="1 missing value in 2 rows, the first in row 2"):
        encode_labels(["?", "1"], "t")
    with pytest.raises(InputError, match="'x' among numbers, in row 4"):
        encode_column("c", ["1", "2", "x"])


def test_at_most_ten_classes_are_listed():
    ten = tuple("abcdefghij")
    assert list_classes(ten).endswith("i, j") and list_classes((*ten, "k")).endswith("i, j, ...")
    assert list_classes(("1",)) == "1 class, numbered from 0: 1"
    assert not is_number("-inf") and not is_number("nan") and is_number("-1e5")
