import inspect

import pytest
import torch
from torch import nn

import gnomon
from evaluation.published import __main__ as command
from evaluation.published import examine
from evaluation.published.case import PublishedCase, Recipe, adam, sgd
from evaluation.published.plain import plain_score
from evaluation.published.registry import all_cases, select
from evaluation.published.scores import balanced_accuracy, label_jaccard, mean_iou, r2
from evaluation.published.verify import verify


def line(slope=2.0, n=60):
    x = torch.linspace(-1, 1, n)[:, None]
    return x, slope * x


def recipe(optimizer):
    return Recipe(
        network=lambda: nn.Linear(1, 1),
        train=line(),
        test=line(),
        optimizer=optimizer,
        batch=10,
        epochs=20,
        columns=("x",),
    )


def case(kind, build, **changes):
    given = {"id": "tiny", "kind": kind, "source": "here", "cause": "slow", "fix": "faster", "build": build}
    return PublishedCase(**(given | changes))


def test_there_are_enough_cases_and_each_cites_a_source_and_a_cause():
    cases = all_cases().values()
    assert sum(c.kind == "faulty" for c in cases) >= 100
    assert sum(c.kind == "healthy" for c in cases) >= 60
    for c in cases:
        assert c.source and c.cause.endswith("."), c.id
        assert bool(c.fix) == (c.kind == "faulty"), c.id
        assert (c.score > 0) == (c.kind == "healthy"), c.id


def test_select_finds_parts_of_ids_of_one_kind():
    assert {c.id for c in select("healthy", ["wine"])} == {"wine-mlp"}
    assert select("faulty", ["wine-mlp"]) == []


def test_recipes_pass_only_options_that_examine_knows():
    options = recipe(adam()).options()
    assert set(options) <= set(inspect.signature(gnomon.examine).parameters)
    assert options["columns"] == ("x",) and "loss" not in options


def test_a_plain_loop_learns_a_line_and_reports_divergence():
    assert plain_score(recipe(adam(0.1))) > 0.99
    assert plain_score(recipe(sgd(1e9))) == -1


def test_a_fault_is_verified_only_if_the_fix_helps():
    slow, fast = recipe(adam(1e-6)), recipe(adam(0.1))
    assert verify(case("faulty", lambda: (slow, fast)), seeds=1)["ok"]
    assert not verify(case("faulty", lambda: (fast, slow)), seeds=1)["ok"]
    assert verify(case("faulty", lambda: (fast, slow), harm="inflated"), seeds=1)["ok"]


def test_a_healthy_case_is_verified_only_if_it_reaches_its_score():
    fast = recipe(adam(0.1))
    assert verify(case("healthy", lambda: (fast, None), score=0.9), seeds=1)["ok"]
    assert not verify(case("healthy", lambda: (fast, None), score=1.1), seeds=1)["ok"]


def test_scores_by_hand():
    scores = torch.tensor([[2.0, 0], [2, 0], [2, 0], [0, 2]])
    assert balanced_accuracy(scores, torch.tensor([0, 0, 1, 1])) == 0.75
    assert label_jaccard(torch.tensor([[1.0, 1, -1]]), torch.tensor([[1.0, 0, 0]])) == 0.5
    masks, found = torch.tensor([[[0, 1], [1, 255]]]), torch.zeros(1, 2, 2, 2)
    found[:, 1, 1] = 1
    assert mean_iou(found, masks) == 0.5
    assert r2(torch.tensor([1.0, 1]), torch.tensor([0.0, 2])) == 0


def test_an_answer_is_written_once_with_everything_to_judge(tmp_path, monkeypatch):
    told = case("faulty", lambda: (recipe(adam(1e-6)), recipe(adam(0.1))))

    def refuse(*given, **options):
        print("a line that is printed meanwhile")
        raise ValueError("no such data")

    monkeypatch.setattr(gnomon, "examine", refuse)
    path = examine.write_answer(told, tmp_path, budget=1, seed=0)
    text = path.read_text()
    assert "cause: slow" in text and "refused: ValueError: no such data" in text and "printed meanwhile" in text
    path.write_text("kept")
    examine.write_answer(told, tmp_path, budget=1, seed=0)
    assert path.read_text() == "kept"


def test_verify_leaves_out_finished_cases_and_exits_with_one_if_a_case_fails(tmp_path, monkeypatch, capsys):
    fast = recipe(adam(0.1))
    cases = [
        case("healthy", lambda: (fast, None), id="good", score=0.9),
        case("healthy", lambda: (fast, None), id="bad", score=2),
    ]
    monkeypatch.setattr(command, "select", lambda kind, texts: cases)
    monkeypatch.setattr("sys.argv", ["published", "--verify", "--seeds", "1", "--out", str(tmp_path)])
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            command.main()
        assert ended.value.code == 1
    assert capsys.readouterr().out.count('"good"') == 1


@pytest.mark.full
@pytest.mark.parametrize("id", ["deepcrime-arm", "so-48934338", "leak-target-column", "wine-mlp"])
def test_some_cases_are_as_stated(id):
    assert verify(all_cases()[id], seeds=1)["ok"]


@pytest.mark.full
def test_an_examination_writes_verdict_findings_and_the_printed_answer():
    text = examine.examine_case(all_cases()["wine-mlp"], budget=4, seed=0)
    for part in ("verdict: ", "healthy: ", "findings: ", "--- printed answer ---", "wall time: "):
        assert part in text
