import pytest

from tests.house import plain_words
from tests.house.allowances import BREACHES
from tests.house.tree import ROOT, expect_at_most


@pytest.mark.rules
def test_users_read_plain_words():
    texts = list(plain_words.texts(ROOT))
    assert len(texts) > 1000, "little text was read: the check would pass on nothing"
    expect_at_most(BREACHES.get("plain words", 0), plain_words.faults(texts))
