"""The verbs, as typed: exit codes, files, and what hostile files can do (nothing)."""

import json
import pickle
import sys
from functools import partial
from importlib import import_module

import numpy as np
import pytest
import torch

from gnomon.cli import run, sources, tables
from gnomon.examination import STEPS
from tests.examination.patients import examined

MODEL = """
import torch
from torch import nn

def build():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))

def deep():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))

def one():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

class Raises(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(4, 3)
    def forward(self, x):
        raise RuntimeError("no luck today")

class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(4, 3)
    def forward(self, x):
        return "words"

number = 3

def fails():
    return 1 / 0

def arrays():
    x, y = points()
    return x.numpy(), y.numpy()

def points():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(60, 4, generator=g)
    return x, (x[:, 0] > 0).long()
"""


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(MODEL)
    g = np.random.default_rng(0)
    x = g.standard_normal((80, 4)).astype(np.float32)
    np.savez("d.npz", x=x, y=(x[:, 0] > 0).astype(int) + (x[:, 1] > 1))
    return tmp_path


def gnomon(monkeypatch, *words):
    """Exit code of a command; examinations run on a clock that the speed of the machine does not move."""
    monkeypatch.setattr(sys, "argv", ["gnomon", *map(str, words)])
    monkeypatch.setattr(import_module("gnomon.examination"), "examine", examined)
    with pytest.raises(SystemExit) as end:
        run()
    return end.value.code or 0


QUICK = ("--budget", "2s", "--no-fit")


def shortly(monkeypatch, *words):
    """As `gnomon`, with the sections on the network and on the data alone."""
    short = partial(examined, examination_steps=STEPS[:2])
    monkeypatch.setattr(import_module("gnomon.examination.compare"), "examine", _without_clock(short))
    monkeypatch.setattr(sys, "argv", ["gnomon", *map(str, words)])
    monkeypatch.setattr(import_module("gnomon.examination"), "examine", short)
    with pytest.raises(SystemExit) as end:
        run()
    return end.value.code or 0


def _without_clock(function):
    return lambda *given, clock, **options: function(*given, **options)


def test_a_report_is_written_where_asked_and_nowhere_else(here, monkeypatch, capsys):
    assert gnomon(monkeypatch, "examine", "m.py:build", "--data", "d.npz", "--out", "sub/r.html", *QUICK) == 0
    assert (here / "sub" / "r.html").stat().st_size < 1_000_000
    assert "What it learns first" in capsys.readouterr().out
    left = {str(p.relative_to(here)) for p in here.rglob("*") if "__pycache__" not in str(p)}
    assert left == {"m.py", "d.npz", "sub", "sub/r.html"}


def test_json_is_only_json(here, monkeypatch, capsys):
    assert gnomon(monkeypatch, "examine", "m.py:build", "--data", "d.npz", "--json", *QUICK) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 5 and "examine m.py:build" in found["manifest"]["command"]


def test_a_saved_result_is_shown_again(here, monkeypatch, capsys):
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "d.npz", "--json", *QUICK) == 0
    (here / "r.json").write_text(capsys.readouterr().out, "utf-8")
    assert gnomon(monkeypatch, "show", "r.json", "--out", "again.html") == 0
    assert "m.py:build on d.npz" in " ".join(capsys.readouterr().out.split())
    assert (here / "again.html").read_text("utf-8") == (here / "report.html").read_text("utf-8")


def test_the_traceback_of_a_factory_is_kept_and_every_step_is_printed(here, monkeypatch, capsys):
    assert shortly(monkeypatch, "examine", "m.py:fails", "--data", "d.npz", *QUICK) == 2
    said = capsys.readouterr().err
    assert "in fails" in said and "return 1 / 0" in said and "default" not in said
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "d.npz", *QUICK) == 0
    said = capsys.readouterr().out
    assert "1/2  The network: " in said and "2/2  The data: " in said and "It has" not in said
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "d.npz", "--verbose", *QUICK) == 0
    assert "It has" in capsys.readouterr().out


def test_strict_tells_by_its_exit_code(here, monkeypatch):
    x = np.load("d.npz")["x"] * 1000
    np.savez("large.npz", x=x, y=np.load("d.npz")["y"])
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "large.npz", "--strict", *QUICK) == 1
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "large.npz", *QUICK) == 0


@pytest.mark.full
def test_a_checkpoint_is_loaded(here, monkeypatch, capsys):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    torch.save(net.state_dict(), "w.pt")
    words = ("examine", "m.py:build", "--data", "d.npz", "--checkpoint", "w.pt", "--budget", "2s", "--json")
    assert gnomon(monkeypatch, *words) == 0
    sections = {s["key"]: s for s in json.loads(capsys.readouterr().out)["sections"]}
    assert sections["training"]["status"] == "skipped"


def test_tables_with_a_target(here, monkeypatch):
    x = np.load("d.npz")["x"]
    rows = [",".join([*(f"{v:.4f}" for v in r), "up" if r[0] > 0 else "down"]) for r in x]
    (here / "t.csv").write_text("a,b,c,d,way\n" + "\n".join(rows))
    assert gnomon(monkeypatch, "examine", "m.py:build", "--data", "t.csv", "--target", "way", *QUICK) == 0


@pytest.mark.full
def test_a_parquet_table(here, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    x = np.load("d.npz")["x"]
    columns = {name: x[:, i] for i, name in enumerate("abcd")} | {"way": (x[:, 0] > 0).astype(int)}
    parquet.write_table(pyarrow.table(columns), "t.parquet")
    assert gnomon(monkeypatch, "examine", "m.py:build", "--data", "t.parquet", "--target", "way", *QUICK) == 0


def test_a_missing_extra_is_named(here, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (here / "t.parquet").write_bytes(b"")
    assert gnomon(monkeypatch, "rank", "m.py:build", "--data", "t.parquet", "--target", "way") == 2
    assert "pip install 'gnomon[parquet]'" in capsys.readouterr().err


def test_columns_of_words_are_encoded_and_that_is_said(here, monkeypatch, capsys):
    rows = [f"{i % 7},{('red', 'green', 'blue')[i % 3]},{('no', 'yes')[i % 2]},{i % 2}" for i in range(40)]
    (here / "t.csv").write_text("a,color,old,y\n" + "\n".join(rows))
    given = sources.load_data("t.csv", "y", 0)
    x, y = given.train
    assert x.shape == (32, 5) and y.unique().tolist() == [0, 1] and set(x[:, 1:].unique().tolist()) == {0.0, 1.0}
    assert bool((x[:, 1:4].sum(1) == 1).all()) and torch.equal(x[:, 4].long(), y)  # blue, green, red; then old
    (here / "five.py").write_text("from torch import nn\ndef build():\n    return nn.Linear(5, 2)\n")
    assert shortly(monkeypatch, "examine", "five.py:build", "--data", "t.csv", "--target", "y", *QUICK) == 0
    told = " ".join(capsys.readouterr().out.split())
    said = "one-hot encoded: color (3 words), old (2 words); 5 inputs in total"
    assert said in told and said in (here / "report.html").read_text("utf-8")


def pictures(folder, classes=("cat", "dog"), n=12, size=(8, 8), mode="L"):
    from PIL import Image

    g = np.random.default_rng(0)
    for c, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for i in range(n):
            noise = g.integers(0, 60, (*size, *((3,) if mode == "RGB" else ()))).astype(np.uint8) + np.uint8(150 * c)
            Image.fromarray(noise).save(folder / name / f"{i}.{'png' if i % 2 else 'jpg'}")


def test_a_folder_of_images_by_class(here, monkeypatch, capsys):
    pictures(here / "zoo")
    given = sources.load_data("zoo", None, 0)
    assert given.train[0].shape == (20, 1, 8, 8) and given.train[0].dtype == torch.uint8 and len(given.test[1]) == 4
    bright = given.train[0].float().mean((1, 2, 3)) > 100
    assert torch.equal(bright.long(), given.train[1])
    (here / "c.py").write_text(
        "from torch import nn\ndef build():\n    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(144, 2))\n"
    )
    assert shortly(monkeypatch, "examine", "c.py:build", "--data", "zoo", *QUICK) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "2 classes, numbered from 0: cat, dog" in told and "scaled to [0, 1]" in told


def test_folders_of_training_and_test_images_in_color_and_of_other_sizes(here):
    pictures(here / "zoo" / "train", n=3, mode="RGB")
    pictures(here / "zoo" / "test", n=2, size=(10, 6), classes=("dog",))
    given = sources.load_data("zoo", None, 0)
    assert given.train[0].shape == (6, 3, 8, 8) and given.test[0].shape == (2, 3, 8, 8)
    assert given.test[1].tolist() == [1, 1] and "test: 2 of 2 images were resized to 8 x 8" in given.notes


def test_arrays_as_keras_has_them(here, monkeypatch, capsys):
    g = np.random.default_rng(0)
    images, labels = g.integers(0, 255, (40, 8, 8)).astype(np.uint8), g.integers(0, 2, (40, 1)).astype(np.uint8)
    np.savez("k.npz", x_train=images, y_train=labels, x_test=images[:9], y_test=labels[:9])
    np.savez("rgb.npz", x_train=np.stack([images] * 3, -1), y_train=labels)
    for channels, file in ((1, "k.npz"), (3, "rgb.npz")):
        net = f"nn.Sequential(nn.Conv2d({channels}, 4, 3), nn.Flatten(), nn.Linear(144, 2))"
        (here / "c.py").write_text(f"from torch import nn\ndef build():\n    return {net}\n")
        assert shortly(monkeypatch, "examine", "c.py:build", "--data", file, *QUICK) == 0
        told = " ".join(capsys.readouterr().out.split())
        axis = "a channel axis was added" if channels == 1 else "the channel axis was moved"
        assert f"uint8 inputs were scaled to [0, 1] and {axis}" in told


@pytest.mark.parametrize("x", ["x", "X"])
def test_test_arrays_beside_x_and_y_are_used(here, x):
    images, labels = np.zeros((8, 3), np.float32), np.arange(8) % 2
    np.savez("both.npz", **{x: images, "y": labels, f"{x}_test": images[:3] + 1, "y_test": labels[:3]})
    given = sources.load_data("both.npz", None, 0)
    assert len(given.train[0]) == 8 and given.test[0].tolist() == [[1.0] * 3] * 3 and not given.notes


def test_what_fails_is_chosen_by_kind_or_level(here, monkeypatch, capsys):
    np.savez("large.npz", x=np.load("d.npz")["x"] * 1000, y=np.load("d.npz")["y"])
    words = ("examine", "m.py:build", "--data", "large.npz", *QUICK, "--fail-on")
    assert shortly(monkeypatch, *words, "input-scale,overfit") == 1
    assert "Failed for: input-scale" in " ".join(capsys.readouterr().err.split())
    assert shortly(monkeypatch, *words, "overfit") == 0


def test_a_summary_in_markdown_is_only_that(here, monkeypatch, capsys):
    assert shortly(monkeypatch, "examine", "m.py:build", "--data", "d.npz", "--markdown", *QUICK) == 0
    assert capsys.readouterr().out.startswith("### ")


def test_two_networks_side_by_side(here, monkeypatch, capsys):
    words = ("compare", "m.py:build", "m.py:deep", "--data", "d.npz", "--no-fit", "--budget", "2s", "--out", "c.html")
    rule = ("--optimizer", "sgd", "--lr", "0.1", "--momentum", "0.9", "--batch", "16", "--epochs", "2")
    assert shortly(monkeypatch, *words, *rule) == 0
    assert "build deep parameters 259 4,675" in " ".join(capsys.readouterr().out.split()) and "class=pair" in (
        here / "c.html"
    ).read_text("utf-8")


def test_words_have_the_same_numbers_in_train_and_test(here):
    x = np.zeros((6, 4), np.float32)
    np.savez("w.npz", x_train=x, y_train=np.array(["a", "b", "c"] * 2), x_test=x[:2], y_test=np.array(["c", "b"]))
    read = sources.load_data("w.npz", None, 0)
    assert read.train[1].tolist() == [0, 1, 2, 0, 1, 2] and read.test[1].tolist() == [2, 1]
    np.savez("o.npz", x=x, y=np.eye(3)[[0, 1, 2, 0, 1, 2]])
    read = sources.load_data("o.npz", None, 0)
    assert sorted([*read.train[1].tolist(), *read.test[1].tolist()]) == [0, 0, 1, 1, 2, 2]
    assert "one-hot targets were converted to class numbers" in read.notes


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_tables_as_they_come(here, separator):
    rows = [["size", "kind", "when", "price"]]
    rows += [[f"{i}.5", "ab"[i % 2], f"2024-01-{i + 1:02}", str(10 * i)] for i in range(25)]
    text = "\n".join(separator.join(row) for row in rows)
    (here / "t.csv").write_text(text.replace(".", ",") if separator == ";" else text, encoding="utf-8-sig")
    x, y, notes, names = tables.from_csv(here / "t.csv", "price")
    assert names == ("size", "kind", "when")
    assert x[3].tolist() == [3.5, 1.0, 3.0] and y[3] == 30.0 and y.is_floating_point()
    assert "the target 'price' is a number to predict, with 25 distinct integers" in notes
    assert "dates were converted to days: when (since 2024-01-01)" in notes
    assert "columns of words were one-hot encoded: kind (2 words); 3 inputs in total" in notes


def test_the_only_example_of_a_class_is_trained_on(here):
    y = torch.tensor([0] * 20 + [1])
    for seed in range(30):
        split = sources.split_off_test_examples(torch.arange(21.0)[:, None], y, seed)
        assert int(split.train[1].sum()) == 1 and len(split.test[1]) == 3


def test_a_function_gives_data(here, monkeypatch):
    for name in ("points", "arrays"):
        assert shortly(monkeypatch, "examine", "m.py:build", "--data", f"m.py:{name}", *QUICK) == 0


def files(here):
    """Files that something is wrong with."""
    (here / "evil.pt").write_bytes(pickle.dumps(Evil(str(here / "owned"))))
    np.savez("objects.npz", x=np.array([Evil(str(here / "owned")), None], dtype=object), y=np.zeros(2))
    (here / "text.csv").write_text("a,b,c,d,y\n1,2,3,4,0\n1,2,red,4,1\n")
    (here / "gap.csv").write_text("a,b,c,d,y\n1,2,3,4,0\n1,,3,4,1\n")
    (here / "ragged.csv").write_text("a,b,c,d,y\n1,2,3,4,0\n1,2\n")
    (here / "unlabeled.csv").write_text("a,y\n1,0\n2,\n")
    (here / "twice.csv").write_text("a,a,y\n1,2,0\n3,4,1\n")
    (here / "bare.csv").write_text("1,2,0\n3,4,1\n")
    (here / "header.csv").write_text("a,y\n")
    arrow = pytest.importorskip("pyarrow")
    import_module("pyarrow.parquet").write_table(arrow.table({"a": [[1, 2]] * 4, "y": [0, 1] * 2}), "lists.parquet")
    x, y = np.zeros((6, 4), np.float32), np.array(["cat", "dog"] * 3)
    np.savez("strange.npz", x_train=x, y_train=y, x_test=x[:2], y_test=np.array(["cat", "bird"]))
    np.savez("shapes.npz", x_train=x, y_train=y, x_test=x[:2, :3], y_test=y[:2])
    np.savez("nan.npz", x=np.full((20, 4), np.nan, np.float32), y=np.zeros(20, int))
    np.savez("floats.npz", x=np.zeros((20, 4), np.float32), y=np.arange(20) % 3.0)
    np.savez("names.npz", a=np.zeros(3))
    (here / "not.npz").write_bytes(b"hello")
    (here / "broken.py").write_text("def build(:\n")
    (here / "words.csv").write_text("name,y\n" + "\n".join(f"name{i},{i % 2}" for i in range(200)))
    (here / "latin.csv").write_bytes(b"a,y\n\xff\xfe,1\n")
    (here / "bad.parquet").write_bytes(b"PAR1 no table PAR1")
    for folder in ("empty", "zoo/cat"):
        (here / folder).mkdir(parents=True)
    (here / "zoo" / "cat" / "1.png").write_bytes(b"no picture")


HOSTILE = [
    (("m.py:build", "--data", "d.npz", "--checkpoint", "evil.pt"), "weights_only"),
    (("m.py:build", "--data", "d.npz", "--checkpoint", "absent.pt"), "File not found: "),
    (("m.py:deep", "--data", "d.npz", "--checkpoint", "w.pt"), "does not fit the model"),
    (("m.py:build", "--data", "objects.npz"), "which cannot be read without executing code"),
    (("m.py:build", "--data", "not.npz"), "is not an npz file"),
    (("m.py:build", "--data", "names.npz"), "inputs x and targets y"),
    (("m.py:build", "--data", "text.csv", "--target", "y"), "column 'c' contains 'red' among numbers, in row 3"),
    (
        ("m.py:build", "--data", "gap.csv", "--target", "y"),
        "column 'b' has 1 missing value in 2 rows, the first in row 3",
    ),
    (("m.py:build", "--data", "ragged.csv", "--target", "y"), "row 3"),
    (("m.py:build", "--data", "unlabeled.csv", "--target", "y"), "column 'y' has 1 missing value in 2 rows"),
    (("m.py:build", "--data", "twice.csv", "--target", "y"), "several columns called 'a'"),
    (("m.py:build", "--data", "bare.csv", "--target", "y"), "The first row contains numbers: add a header"),
    (("m.py:build", "--data", "header.csv", "--target", "y"), "has a header and no rows"),
    (("m.py:build", "--data", "text.csv", "--target", "Y"), "Write --target y"),
    (("m.py:build", "--data", "text.csv"), "no target column was given"),
    (("m.py:build", "--data", "text.csv", "--target", "z"), "has no column 'z'"),
    (("m.py:build", "--data", "absent.npz"), "File not found: absent.npz."),
    (("m.py:build", "--data", "words.csv", "--target", "y"), "column 'name' holds 200 distinct words"),
    (("m.py:build", "--data", "latin.csv", "--target", "y"), "Save it as UTF-8"),
    (("m.py:build", "--data", "bad.parquet", "--target", "y"), "bad.parquet cannot be read as a table"),
    (("m.py:build", "--data", "empty"), "contains no PNG or JPEG"),
    (("m.py:build", "--data", "zoo"), "1.png cannot be read as an image"),
    (("m.py:build", "--data", "data.xyz"), "not a known kind of data"),
    (("m.py:build", "--data", "m.py:fails"), "raised ZeroDivisionError"),
    (("m.py:build", "--data", "nan.npz"), "20 of 20 inputs hold NaN or infinity, the first at index 0"),
    (("m.py:build", "--data", "strange.npz"), "y_test contains 'bird', which is not in y_train"),
    (("m.py:build", "--data", "shapes.npz"), "test inputs have shape (3,), but the network accepts only"),
    (("m.py:build", "--data", "lists.parquet", "--target", "y"), "column 'a' of lists.parquet holds values of type"),
    (("m.py:build", "--data", "floats.npz"), "y.long()"),
    (("m.py:Raises", "--data", "d.npz"), "no luck today"),
    (("m.py:Words", "--data", "d.npz"), "the module returned a str"),
    (("m.py:number", "--data", "d.npz"), "a module or a function"),
    (("m.py:absent", "--data", "d.npz"), "has no 'absent'"),
    (("absent.py:build", "--data", "d.npz"), "File not found: absent.py."),
    (("broken.py:build", "--data", "d.npz"), "SyntaxError"),
    (("m.py", "--data", "d.npz"), "write m.py:name. The file has: build, deep"),
    (("m.py:build", "--data", "d.npz", "--budget", "soon"), "Write 60s"),
    (("m.py:build", "--data", "d.npz", "--device", "abacus"), "--device"),
    (("m.py:build", "--data", "d.npz", "--optimizer", "newton"), "sgd, adam, adamw or file.py:function"),
]


@pytest.mark.parametrize(
    "words, told", HOSTILE, ids=[w[0][-1] if len(w[0]) == 3 else "-".join(w[0][3:]) for w in HOSTILE]
)
def test_hostile_input_is_told_in_a_sentence(here, monkeypatch, capsys, words, told):
    files(here)
    torch.save({"a": torch.ones(1)}, "w.pt")
    assert gnomon(monkeypatch, "examine", *words) == 2
    shown = capsys.readouterr()
    assert told in " ".join(shown.err.split()), shown.err
    own_code = words[0] in ("m.py:Raises", "broken.py:build") or words[-1] == "m.py:fails"  # keeps its traceback
    assert ("Traceback" in shown.err + shown.out) is own_code
    assert not (here / "owned").exists()


def test_rank_orders_candidates(here, monkeypatch, capsys):
    assert gnomon(monkeypatch, "rank", "m.py:build", "m.py:deep", "--data", "d.npz", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {c["name"] for c in found["candidates"]} == {"m.py:build", "m.py:deep"} and found["unranked"] == []


def test_rank_keeps_to_its_budget(here, monkeypatch, capsys):
    words = ("rank", "m.py:build", "m.py:deep", "--data", "d.npz", "--budget", "0.000001s")
    assert gnomon(monkeypatch, *words) == 0
    assert "Not ranked within 0.000001s: m.py:deep" in " ".join(capsys.readouterr().out.split())
    assert gnomon(monkeypatch, *words[:-1], "soon") == 2


def test_the_doctor_says_that_all_is_well_and_what_it_does_meanwhile(monkeypatch, capsys):
    assert gnomon(monkeypatch, "doctor", "--json") == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["well"] and found["versions"]["torch"]
    assert [line.split()[0] for line in said.err.splitlines()][:3] == ["loading", "testing", "comparing"]


@pytest.mark.parametrize("verb", [("examine", "m.py:build"), ("compare", "m.py:build", "m.py:deep")])
def test_a_full_disk_loses_neither_the_results_nor_the_previous_report(here, monkeypatch, capsys, full_disk, verb):
    (here / "r.html").write_text("the previous report")
    assert shortly(monkeypatch, *verb, "--data", "d.npz", "--out", "r.html", *QUICK) == 2
    said = capsys.readouterr()
    assert said.err.strip().splitlines()[-1] == (
        "cannot write r.html: File too large. The previous file is unchanged. "
        "Free some disk space, or pass another path."
    )
    assert "The network" in said.out or "parameters" in said.out
    assert (here / "r.html").read_text() == "the previous report"
    assert {p.name for p in here.iterdir()} - {"__pycache__"} == {"m.py", "d.npz", "r.html"}


def test_usage_is_two(monkeypatch):
    assert gnomon(monkeypatch, "examine", "--nonsense") == 2
