"""The checks of a release notice what is wrong with archives, environments and versions."""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tools.release import archives, documentation, environments, smoke

METADATA = """Metadata-Version: 2.4
Name: gnomon
Version: 1.0
Summary: A summary.
Requires-Python: >=3.11
License-Expression: MIT
Description-Content-Type: text/markdown

# gnomon
"""


@pytest.fixture
def project(tmp_path):
    """A project of one module, tracked by git, and its correct archives."""
    root = tmp_path / "project"
    (root / "src/gnomon").mkdir(parents=True)
    (root / "src/gnomon/__init__.py").write_text("")
    (root / "pyproject.toml").write_text(
        '[project]\nname = "gnomon"\nversion = "1.0"\ndescription = "A summary."\nrequires-python = ">=3.11"\nlicense = "MIT"\n'
    )
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    return root


def archived(root: Path, wheel=("gnomon/__init__.py",), source=("src/gnomon/__init__.py",), metadata=METADATA):
    made = archives.Archives(root / "gnomon-1.0.whl", root / "gnomon-1.0.tar.gz")
    with zipfile.ZipFile(made.wheel, "w") as file:
        file.writestr("gnomon-1.0.dist-info/METADATA", metadata)
        for name in wheel:
            file.writestr(name, "")
    with tarfile.open(made.source, "w:gz") as file:
        for name in source:
            file.addfile(tarfile.TarInfo(f"gnomon-1.0/{name}"), io.BytesIO())
    return made


def test_correct_archives_have_no_problem(project):
    assert archives.problems(project, archived(project)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"wheel": ()}, "the wheel lacks gnomon/__init__.py"),
        (
            {"wheel": ("gnomon/__init__.py", "gnomon/note.txt")},
            "the wheel has gnomon/note.txt, which git does not track",
        ),
        ({"source": ()}, "the source archive lacks src/gnomon/__init__.py"),
        ({"source": ("src/gnomon/__init__.py", ".venv/a")}, "an archive has .venv/a"),
        ({"metadata": METADATA.replace("1.0", "0.9")}, "metadata: Version is '0.9' (expected '1.0')"),
        ({"metadata": METADATA.replace("# gnomon\n", "")}, "metadata: the description is empty"),
    ],
)
def test_each_problem_of_an_archive_is_reported(project, changes, problem):
    assert archives.problems(project, archived(project, **changes)) == [problem]


def test_the_newest_version_leads(tmp_path, monkeypatch):
    (tmp_path / "site" / "0.9.0").mkdir(parents=True)
    monkeypatch.setattr(
        documentation.subprocess, "run", lambda command, **_: Path(command[-1]).mkdir(parents=True, exist_ok=True)
    )
    documentation.build_version(tmp_path, tmp_path / "site", "0.10.0", Path("mkdocs"))
    assert "url=0.10.0/index.html" in (tmp_path / "site/index.html").read_text()
    assert '"version": "0.9.0"' in (tmp_path / "site/versions.json").read_text()


def test_packages_for_gpus_are_seen_before_they_are_downloaded(monkeypatch):
    report = '{"install": [{"metadata": {"name": "NVIDIA-cublas"}}, {"metadata": {"name": "numpy"}}]}'
    done = subprocess.CompletedProcess([], 0, stdout=f"a line before the report\n{report}")
    monkeypatch.setattr(environments.subprocess, "run", lambda *_, **__: done)
    assert environments.cuda_packages(Path("python"), Path("c.txt"), Path("p.whl")) == ["nvidia-cublas"]


def test_the_first_steps_run_the_blocks_of_the_readme(monkeypatch):
    text = (ROOT / "README.md").read_text("utf-8")
    monkeypatch.setattr(smoke, "metadata", lambda name: {"Description": text})
    assert smoke.readme_blocks()[0].lstrip().startswith("import torch")
    assert len(smoke.readme_blocks()) == text.count("```python")
