"""The page that is shipped is the one that the sources give, and it is one file that needs nothing else."""

import gzip
import hashlib
import re

from gnomon.playground import page_path

LARGEST_PAGE = 150_000
"""Bytes of the page after gzip."""

LONGEST_SOURCE = 350
"""Lines of a TypeScript file."""

WEB = page_path().with_name("web")


def page():
    return page_path().read_text(encoding="utf-8")


def hash_of_sources(folder):
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(files):
        digest.update(f"{name}\0".encode() + files[name].read_bytes())
    return digest.hexdigest()


def test_the_page_was_built_from_the_sources():
    stated = re.search(r'<meta name="gnomon-sources" content="(\w+)">', page())[1]
    assert stated == hash_of_sources(WEB), "the sources have changed: run `make playground` and commit playground.html"


def test_a_changed_source_changes_the_hash(tmp_path):
    (tmp_path / "a.ts").write_text("1")
    before = hash_of_sources(tmp_path)
    (tmp_path / "a.ts").write_text("2")
    assert hash_of_sources(tmp_path) != before


def test_the_page_is_small():
    assert len(gzip.compress(page_path().read_bytes(), 9)) <= LARGEST_PAGE


def test_the_page_asks_for_nothing():
    text = page()
    assert not re.search(r'(?:src|href)="(?!data:|#)[^"]+"', text)
    assert "@import" not in text and "url(http" not in text


def test_no_source_file_is_longer_than_others_may_be():
    long = {p.name: n for p in WEB.rglob("*.ts") if (n := len(p.read_text("utf-8").splitlines())) > LONGEST_SOURCE}
    assert not long
