"""Claims state their question and name what their plot shows; the numbers of claims that do not yet only fall."""

import pytest

from gnomon.atlas import catalog

MAX_CLAIMS_WITHOUT_AXES = 0
MAX_CLAIMS_WITHOUT_QUESTION = 0
EMPTY_LABELS = {"value", "number", "observed", "x", "y"}
"""Labels that say nothing about what is shown."""


@pytest.mark.parametrize("field, limit", [("axes", MAX_CLAIMS_WITHOUT_AXES), ("question", MAX_CLAIMS_WITHOUT_QUESTION)])
def test_the_number_of_claims_without_it_only_falls(field, limit):
    missing = [name for name, entry in catalog().items() if not getattr(entry.claim, field)]
    assert len(missing) == limit, f"{len(missing)} claims have no {field}: set the limit to this number if it fell"


def test_axes_say_what_is_shown():
    empty = [name for name, entry in catalog().items() if EMPTY_LABELS & set(entry.claim.axes[:2])]
    assert not empty


def test_every_claim_has_a_title_and_a_question_ends_as_one():
    claims = [entry.claim for entry in catalog().values()]
    assert not [claim.id for claim in claims if not claim.title or claim.title.endswith(".")]
    assert not [claim.id for claim in claims if claim.question and not claim.question.endswith("?")]
