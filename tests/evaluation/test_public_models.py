"""The registry of public architectures: ids, readings, rewritten models, the plain loop and the tables."""

import json
import math
import re
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import SGD

from evaluation.public_models import __main__ as command
from evaluation.public_models import page
from evaluation.public_models.case import Case, Data, Reading
from evaluation.public_models.models.examples import (
    MnistRnn,
    SuperResolution,
    TimeSequence,
    Vae,
    WordLstm,
    WordTransformer,
    vae_loss,
)
from evaluation.public_models.models.gpt import GPT
from evaluation.public_models.models.images import MobileNetV2, ResNet18, UNet
from evaluation.public_models.plain import PlainPoint, points, points_at, train_plainly
from evaluation.public_models.reading import Read
from evaluation.public_models.registry import CASES, FILES, select
from evaluation.public_models.report import HEAD, close, counts, row, seconds, speed, table
from evaluation.public_models.run import run_case
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import compare, in_order, length, minibatches, predict, take


def linear_case(**changes) -> Case:
    def data(seed):
        x = torch.randn(200, 3, generator=torch.Generator().manual_seed(seed))
        y = (x[:, 0] > 0).long()
        return Data((x[50:], y[50:]), (x[:50], y[:50]))

    options = dict(
        id="linear", kind="tables", source="torch", license="BSD-3-Clause", build=lambda: nn.Linear(3, 2), data=data,
        readings=(Reading.CLASS,), batch_loss=compare(F.cross_entropy), answers=predict(), score=accuracy,
        optimizer=lambda parameters: SGD(parameters, lr=0.5), classes=2,
    )  # fmt: skip
    return Case(**(options | changes))


def test_ids_are_unique_and_can_be_typed():
    assert len(CASES) == sum(len(file.CASES) for file in FILES) >= 45
    assert all(re.fullmatch(r"[a-z0-9-]+", id) for id in CASES)
    assert all(case.source and case.license and case.readings for case in CASES.values())


def test_every_kind_of_task_has_cases():
    readings = {reading for case in CASES.values() for reading in case.readings}
    assert readings == set(Reading)
    assert len({case.kind for case in CASES.values()}) >= 15


def test_select_prefers_an_exact_id_to_a_part_of_ids():
    assert [case.id for case in select(["bert"])] == ["bert"]
    assert {case.id for case in select(["tabm-"])} == {"tabm-regression"}
    assert len(select()) == len(CASES)


REWRITTEN = {
    MnistRnn: 26_602, Vae: 652_824, SuperResolution: 58_212, ResNet18: 11_173_962, MobileNetV2: 2_296_922,
    TimeSequence: 32_284, lambda: UNet(3, 2): 31_037_698,
}  # fmt: skip
"""Numbers of parameters of the published networks."""


@pytest.mark.parametrize(("build", "count"), REWRITTEN.items(), ids=range(len(REWRITTEN)))
def test_a_rewritten_network_has_as_many_parameters_as_the_published_one(build, count):
    assert sum(p.numel() for p in build().parameters()) == count


@pytest.mark.parametrize("style", ["nano", "min", "make"])
def test_the_loss_of_a_gpt_is_the_cross_entropy_of_its_logits(style):
    model = GPT(style, 11, 5, width=8, heads=2, layers=2).eval()
    idx, targets = torch.randint(0, 11, (2, 3, 5))
    logits, loss = model(idx, targets)
    assert torch.isclose(loss, -logits.log_softmax(-1).gather(-1, targets[..., None]).mean())
    without, none = model(idx)
    assert none is None and without.shape == (3, 1 if style == "nano" else 5, 11)


@pytest.mark.parametrize("style", ["nano", "min", "make"])
def test_a_gpt_does_not_see_later_tokens(style):
    model = GPT(style, 11, 5, width=8, heads=2, layers=2).eval()
    idx = torch.randint(0, 11, (1, 5))
    changed = idx.clone()
    changed[0, -1] = (idx[0, -1] + 1) % 11
    first, second = (model(tokens, tokens)[0] for tokens in (idx, changed))
    torch.testing.assert_close(first[:, :-1], second[:, :-1])
    assert not torch.allclose(first[:, -1], second[:, -1])


def test_word_models_read_steps_first():
    tokens = torch.randint(0, 7, (6, 4))
    lstm = WordLstm(7, width=8).eval()
    flat, hidden = lstm(tokens, lstm.init_hidden(4))
    assert flat.shape == (24, 7) and hidden[0].shape == (2, 4, 8)
    with pytest.warns(UserWarning, match="batch_first"):
        transformer = WordTransformer(7, width=8).eval()
    assert transformer(tokens).shape == (6, 4, 7)
    torch.testing.assert_close(transformer(tokens).exp().sum(-1), torch.ones(6, 4))


def test_the_loss_of_the_vae_of_a_standard_code_is_the_error_of_pixels():
    images = torch.rand(3, 1, 28, 28)
    half = torch.full((3, 784), 0.5)
    zero = torch.zeros(3, 20)
    assert math.isclose(float(vae_loss((half, zero, zero), images)), 784 * math.log(2), rel_tol=1e-5)
    assert math.isclose(float(vae_loss((half, zero + 1, zero), images)), 784 * math.log(2) + 10, rel_tol=1e-5)


def test_scores_are_points():
    logits, targets = torch.eye(4), torch.tensor([0, 1, 2, -100])
    assert accuracy(logits, targets) == 100
    assert math.isclose(accuracy(logits, torch.tensor([1, 1, 2, -100])), 200 / 3)
    assert binary_accuracy(torch.tensor([-1.0, 2.0]), torch.tensor([0.0, 0.0])) == 50
    y = torch.tensor([[0.0], [2.0]])
    assert explained(y, y) == 100 and explained(torch.ones(2, 1), y) == 0
    assert math.isclose(explained(torch.tensor([[0.5], [1.5]]), y), 75)


def test_batches_cover_nested_data_once():
    data = ({"a": torch.arange(10), "b": (torch.arange(10) * 2,)}, torch.arange(10) * 3)
    assert length(data) == 10
    seen = list(minibatches(data, 4, torch.Generator().manual_seed(0)))
    rows = torch.cat([x["a"] for x, _ in seen])
    assert sorted(rows.tolist()) == list(range(10))
    assert torch.equal(torch.cat([x["b"][0] for x, _ in seen]), 2 * rows)
    assert torch.equal(torch.cat([y for _, y in seen]), 3 * rows)
    assert torch.equal(torch.cat([y for _, y in in_order(data, 3)]), data[1])
    assert take((None, torch.arange(3)), torch.tensor([2]))[0] is None


def test_the_plain_loop_learns_and_counts_its_steps():
    case, ticks = linear_case(), iter(range(10_000))
    early, late = train_plainly(case, case.data(0), [1, 40], clock=lambda: next(ticks))
    assert early.steps == 1 and late.steps == late.seconds == 40 and late.points > 90


def test_points_of_a_plain_loop_are_interpolated_in_the_logarithm_of_time():
    curve = [PlainPoint(1.0, 10, 50.0), PlainPoint(4.0, 40, 90.0)]
    assert math.isclose(points_at(curve, 2.0), 70.0)
    assert points_at(curve, 0.1) == 50 and points_at(curve, 100.0) == 90 and points_at(curve, 4.0) == 90


def test_points_leave_the_mode_and_the_random_numbers_as_they_were():
    case = linear_case()
    model = case.build().train()
    torch.manual_seed(3)
    points(case, model, case.data(0))
    drawn = torch.rand(1)
    torch.manual_seed(3)
    assert model.training and torch.equal(torch.rand(1), drawn)


def test_a_reading_must_have_the_right_number_of_classes():
    case = linear_case()
    assert Read(Reading.CLASS, 2, "").agrees(case)
    assert not Read(Reading.CLASS, 96, "").agrees(case)
    assert not Read(Reading.NUMBERS, 0, "").agrees(case)


@pytest.mark.full
def test_a_case_is_examined_and_compared():
    result = run_case(linear_case(), budget=2.0)
    assert result["accepted"] and result["read_correctly"] and not result["false_problems"], result
    assert 0 <= result["plain_points"] <= 100
    assert json.loads(json.dumps(result)) == result


def test_a_refused_model_and_a_missing_package_are_rows_of_the_table():
    def refuse(seed):
        return Data("no data", None)

    def missing():
        raise ImportError("No module named 'none'")

    refused = run_case(linear_case(data=refuse), budget=1.0, compare=False)
    absent = run_case(linear_case(build=missing), budget=1.0)
    assert not refused["accepted"] and "refused" in refused
    assert counts([refused, absent]) == dict.fromkeys(counts([]), 0) | {"run": 1}
    assert all(len(row(result)) == len(HEAD) for result in (refused, absent))
    assert "not run: No module named 'none'" in table([refused, absent])


def test_the_comparison_allows_three_points():
    assert close({"points": 90.0, "plain_points": 93.0}) and close({"points": 99.0, "plain_points": 50.0})
    assert not close({"points": 89.9, "plain_points": 93.0}) and not close({"points": None, "plain_points": 93.0})


def test_the_command_lists_cases_and_prints_the_table_of_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["public_models", "--list", "--case", "mnist"])
    command.main()
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["mnist-cnn", "mnist-rnn"]
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({"id": "mnist-cnn", "missing": "torch", "rewritten": True}) + "\n")
    monkeypatch.setattr(sys, "argv", ["public_models", "--table", "--json", str(file)])
    command.main()
    assert "not run: torch" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["public_models", "--case", "no such case"])
    with pytest.raises(SystemExit, match="No case matches"):
        command.main()


def test_the_page_states_the_recorded_results():
    names = ("first-run", "second-run", "third", "instruments", "limits", "fourth")
    recorded = [page.load(f"{name}.jsonl") for name in names]
    assert recorded[0] and all(recorded[2:])
    assert page.PAGE.read_text() == page.render(*recorded)


def test_the_speed_of_training_is_compared_in_steps_of_processor_time():
    timed = {"training_steps": 90, "training_seconds": 2.0, "plain_steps_per_second": 50.0}
    assert speed(timed) == 0.9 and speed(timed | {"plain_steps_per_second": None}) is None
    assert seconds({"seconds": 9.0, "processor_seconds": 4.0, "cpu_time": True}) == 4.0
    assert seconds({"seconds": 9.0, "processor_seconds": 4.0}) == 9.0


def test_the_page_shows_refusals_wrong_readings_and_false_problems():
    base = {
        "id": "net",
        "source": "torch",
        "rewritten": False,
        "parameters": 8,
        "seconds": 9.0,
        "budget": 30.0,
        "cpu_time": True,
    }
    wrong = base | {
        "accepted": True, "reading": "numbers", "classes": 0, "read_correctly": False, "points": 90.0, "plain_points": 95.0,
        "problems": ["dead-units", "overfit"], "false_problems": ["dead-units"], "failed_sections": ["signal"],
        "processor_seconds": 4.2, "training_steps": 90, "training_seconds": 2.0, "plain_steps_per_second": 50.0,
    }  # fmt: skip
    text = page.render([wrong, base | {"id": "other", "accepted": False, "refused": "no targets"}], [], [], [], [], [])
    problems = "`dead-units` (false), `overfit`, section signal failed"
    assert f"| net (torch) | 8 | numbers (wrong) | 90.0 | 95.0 | 0.90 | {problems} | 4 |" in text
    assert "| other (torch) | no targets |" in text and "| networks | 2 |" in text and "| accepted | 1 |" in text
    assert (
        "| within 3 points of a plain loop | 0 |" in text and "Budgets of processor time: 30 s for 2 networks." in text
    )
