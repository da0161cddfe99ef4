"""Chapters contain every kind of claim, and the reading paths are complete and in the order of their courses."""

import json
from collections import Counter

from gnomon.atlas import catalog
from gnomon.atlas.catalog import claim_kinds
from gnomon.atlas.pages.overview import path_html, refuted_claims, refuted_html
from gnomon.atlas.reading import _rank, chapters, claims_of_chapter, reading_paths

ANYWHERE = ("place not fixed", "Elsewhere")
"""Lists of a course whose statements have no fixed place."""


def test_ten_chapters_contain_every_claim_once():
    assert len(chapters()) == 10
    assert sorted(kind for chapter in chapters() for kind in chapter.kinds) == claim_kinds()
    names = [name for chapter in chapters() for name in claims_of_chapter(chapter.slug)]
    assert sorted(names) == sorted(catalog())
    assert all(chapter.introduction.count(". ") == 1 for chapter in chapters())  # two sentences


def test_a_chapter_is_in_the_order_of_the_longest_path():
    order = [step.claim for step in max(reading_paths(), key=lambda path: len(path.steps)).steps]
    names = [name for name in claims_of_chapter("sequences") if name in order]
    assert names == sorted(names, key=order.index) and len(names) > 25


def test_every_step_leads_somewhere_with_a_sentence_of_its_own():
    for path in reading_paths():
        sentences = [step.sentence for step in path.steps]
        assert all(len(sentence) > 10 and sentence[-1] in ".?!" for sentence in sentences)
        assert not [sentence for sentence, count in Counter(sentences).items() if count > 1]
        for step in path.steps:
            assert (step.claim in catalog()) or step.function.startswith("gnomon.") or len(step.note) > 40, step.id


def test_the_paths_are_complete_and_in_the_order_of_the_courses(shared):
    courses = json.loads((shared / "scope" / "courses.json").read_text("utf-8"))["courses"]
    assert [path.title for path in reading_paths()] == [course["title"] for course in courses]
    for path, course in zip(reading_paths(), courses, strict=True):
        ids = [step.id for step in path.steps]
        fixed = [i for part in course["chapters"] if part["title"] not in ANYWHERE for i in part["ids"]]
        assert len(set(ids)) == len(ids) and set(ids) == {i for part in course["chapters"] for i in part["ids"]}
        assert [i for i in ids if i in fixed] == list(dict.fromkeys(fixed))


def test_statements_that_failed_have_a_page():
    assert refuted_claims()
    page = refuted_html({name: "The numbers." for name in refuted_claims()})
    assert all(f'href="{name}.html"' in page for name in refuted_claims()) and "The numbers." in page


def test_the_page_of_a_path_has_every_step():
    path = reading_paths()[1]
    assert path_html(path).count("<li") == len(path.steps)


def test_claims_are_ranked_by_the_longest_path_first():
    paths = sorted(reading_paths(), key=lambda path: len(path.steps))
    claims = list(dict.fromkeys(step.claim for path in reversed(paths) for step in path.steps if step.claim))
    first, last = paths[-1], paths[0]
    rank = _rank.__wrapped__()
    assert sorted(rank, key=rank.__getitem__)[: len(first.steps) // 2] == claims[: len(first.steps) // 2]
    assert sorted(rank.values()) == list(range(len(claims))) and set(rank) == set(claims)
    assert min(rank[step.claim] for step in first.steps if step.claim) == 0 and last is not first
