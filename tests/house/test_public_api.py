from tests.house import public_api
from tests.house.tree import ROOT, SOURCE, expect_none


def test_subpackages_export_few_names_and_each_is_on_a_page():
    expect_none(public_api.faults(SOURCE, ROOT / "docs" / "reference"))


def test_too_many_names_and_missing_pages_are_noticed(tmp_path, monkeypatch):
    source, reference = tmp_path / "gnomon", tmp_path / "reference"
    (source / "a").mkdir(parents=True)
    reference.mkdir()
    (source / "a/__init__.py").write_text(f"__all__ = {[f'name{i}' for i in range(27)]}\n")
    monkeypatch.setattr(public_api, "MOST_NAMES", 26)
    assert [fault.split(";")[0] for fault in public_api.faults(source, reference)] == [
        "a exports 27 names",
        "a has no page in the reference",
        "the subpackages export 27 names",
    ]
    (reference / "a.md").write_text("# a\n\n::: gnomon.a\n")
    (source / "a/__init__.py").write_text("__all__ = ['name']\n")
    assert public_api.faults(source, reference) == []
