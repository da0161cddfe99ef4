"""Stores the outputs of tutorials on disk: ``outputs/<slug>/outputs.json``, with the pictures in the same folder."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.tutorials.execute import CellOutput
from tools.tutorials.parse import FOLDER, Tutorial


@dataclass(frozen=True, slots=True)
class StoredCell:
    """Stored output of one code cell: its printed text, and the file endings (svg or png) of its pictures."""

    text: str
    pictures: list[str]


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored outputs of one tutorial, with the hash of the code that produced them."""

    hash: str
    seconds: float
    cells: list[StoredCell]

    def pictures(self) -> list[str]:
        """Returns the file names of a tutorial's pictures for light pages, in order."""
        endings = [ending for cell in self.cells for ending in cell.pictures]
        return [f"{number}-light.{ending}" for number, ending in enumerate(endings, 1)]


def write(tutorial: Tutorial, outputs: list[CellOutput], seconds: float, folder: Path = FOLDER) -> None:
    """Replaces the stored outputs of a tutorial by new ones."""
    place = folder / "outputs" / tutorial.slug
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    pictures = [picture for output in outputs for picture in output.pictures]
    for number, picture in enumerate(pictures, 1):
        (place / f"{number}-light.{picture.suffix}").write_bytes(picture.light)
        (place / f"{number}-dark.{picture.suffix}").write_bytes(picture.dark)
    cells = [StoredCell(output.text, [picture.suffix for picture in output.pictures]) for output in outputs]
    stored = Stored(tutorial.hash, round(seconds, 1), cells)
    (place / "outputs.json").write_text(json.dumps(asdict(stored), indent=1, ensure_ascii=False) + "\n", "utf-8")


def load(tutorial: Tutorial, folder: Path = FOLDER) -> Stored | None:
    """Returns the stored outputs of a tutorial; None if the tutorial's code has changed since."""
    path = folder / "outputs" / tutorial.slug / "outputs.json"
    if not path.exists():
        return None
    fields = json.loads(path.read_text(encoding="utf-8"))
    if fields["hash"] != tutorial.hash:
        return None
    return Stored(fields["hash"], fields["seconds"], [StoredCell(**cell) for cell in fields["cells"]])


def missing(tutorial: Tutorial) -> str:
    """Returns a message that says how to create a tutorial's outputs if they are missing or out of date."""
    return (
        f"docs/tutorials/{tutorial.slug}.py has no current outputs. "
        f"Run `python -m tools.tutorials run {tutorial.slug}` and commit docs/tutorials/outputs/{tutorial.slug}."
    )
