"""Every section of a report names an existing page and heading of the documentation, and links to it on request."""

from pathlib import Path

import pytest

from gnomon.core.results import Value
from gnomon.examination import STEPS, Examination
from gnomon.examination.explanations import EXPLANATIONS
from gnomon.report import PageContent, Section

DOCS = Path(__file__).parents[2] / "docs"
RESULT = Examination("net", (Section("signal", "Signal", "?", PageContent("Yes.", values=(Value("x", 1),))),), {})


def test_every_step_has_an_explanation():
    assert set(EXPLANATIONS) == {step.key for step in STEPS}


@pytest.mark.parametrize("key", sorted(EXPLANATIONS))
def test_the_heading_is_on_the_page(key):
    about = EXPLANATIONS[key]
    lines = (DOCS / about.page).read_text("utf-8").splitlines()
    headings = [line.partition(" ")[2].strip() for line in lines if line.startswith("#" if about.whole else "##")]
    assert about.heading in (headings[:1] if about.whole else headings)


def test_links_are_made_only_if_the_address_is_known(tmp_path):
    plain = RESULT.save(tmp_path / "plain.html").read_text("utf-8")
    linked = RESULT.save(tmp_path / "linked.html", site="../<site>").read_text("utf-8")
    words = "“Signal propagation, measured” in the documentation (topics/robustness.html)"
    address = "../&lt;site&gt;/topics/robustness.html#signal-propagation-measured"
    assert words in plain and address not in plain
    assert f'<a href="{address}">What this means</a>' in linked and words not in linked
