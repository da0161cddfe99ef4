"""The hook that adds the atlas to the site: one entry of the search for each of its pages, and no others of the atlas."""

import sys
from runpy import run_path

import pytest

from gnomon.atlas import catalog
from tests.house.tree import ROOT

pytest.importorskip("mkdocs.plugins")


@pytest.fixture(scope="module")
def hook():
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / "docs" / "hooks"))
    yield run_path(str(ROOT / "docs" / "hooks" / "atlas.py"))
    sys.path[:] = before


def test_the_search_has_every_page_of_the_atlas_once(hook):
    docs = [{"location": "index.html", "title": "Start", "text": ""}, {"location": "atlas/claims/softmax.html"}]
    found = hook["with_atlas"](docs)
    places = [entry["location"] for entry in found]
    assert places[0] == "index.html" and len(places) == len(set(places))
    assert {f"atlas/{name}.html" for name in catalog()} <= set(places) and "atlas/claims/softmax.html" not in places
    assert len(places) == 1 + len(catalog()) + 10 + 5 + 1
    entry = found[places.index("atlas/perceptron-novikoff.html")]
    assert entry["title"].endswith("?") and "perceptron-novikoff" in entry["text"] and "$" not in entry["text"]


def test_the_hook_runs_after_the_index_is_written(hook):
    assert hook["on_post_build"].mkdocs_priority < -100


@pytest.mark.full
def test_functions_lead_to_the_reference(hook):
    shown = hook["with_links"]("<code>gnomon.checks.unit_activity(module, x)</code> <code>gnomon.nothing</code>")
    call = "<code>gnomon.checks.unit_activity(module, x)</code>"
    assert shown == f'<a href="../reference/checks/unit_activity.html">{call}</a> <code>gnomon.nothing</code>'
