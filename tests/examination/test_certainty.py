"""The line on the first screen that says how certain the result is."""

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Interval, Value
from gnomon.examination import STEPS, examine
from gnomon.examination.certainty import certainty_text
from gnomon.examination.run import run_steps
from gnomon.examination.step import SKIPPED_WITHOUT_RESULT, SKIPPED_WITHOUT_TRAINING
from gnomon.examination.subject import build_subject
from gnomon.examination.timed import MAX_TIME_FACTOR
from gnomon.report import PageContent, Section, page_html

HELD_OUT = Value("held-out examples", 80, id="held-out-examples")
STEPS_TAKEN = Value("steps taken", 2000, id="steps-taken")


def section(*values, state="answered", factor=1.0):
    return Section("a", "A", "?", PageContent("Yes.", values=values), state, time_factor=factor)


def test_a_score_is_stated_with_its_interval_its_examples_and_the_seed():
    score = Value("accuracy", 0.95, Interval(0.877, 0.986, 0.95), meaning="80 test examples", id="accuracy")
    told = certainty_text((section(score, HELD_OUT, STEPS_TAKEN),), {"seed": 7}, 5.0)
    assert told == (
        "Accuracy 95.0%, 95 % interval 87.7% to 98.6% (80 test examples). One training run (seed 7); other seeds may "
        "end differently. The one question was examined."
    )
    untrained = certainty_text((section(score),), {}, 5.0)
    assert "No test examples were given" in untrained and "Nothing was trained." in untrained


def test_a_language_model_has_two_scores_and_an_own_loss_has_none():
    accuracy = Value("accuracy on test", 0.5, Interval(0.46, 0.54, 0.95), meaning="960 tokens", id="accuracy-on-test")
    perplexity = Value("perplexity on test", 3.09, Interval(2.8, 3.4, 0.95), id="perplexity-on-test")
    loss = Value("test loss", 2.31, meaning="least: 2.2", id="test-loss")
    told = certainty_text((section(loss, perplexity, accuracy, HELD_OUT),), {}, None)
    assert told.startswith("Accuracy on test 50.0%, 95 % interval 46.0% to 54.0% (960 tokens); perplexity on test 3.09")
    assert "Test loss 2.31 (no interval" in certainty_text((section(loss, HELD_OUT),), {}, None)


def test_unexamined_questions_have_a_reason_and_a_budget():
    late = section(state="late", factor=3.0), section(state="late", factor=2.0)
    told = certainty_text((section(STEPS_TAKEN), *late, section(state="skipped"), section(state="failed")), {}, 5.0)
    assert told.endswith(
        "3 of 4 questions not examined: 2 did not fit into the budget of 5 s (about 15 s would be enough for all), "
        "1 measurement failed."
    )
    told = certainty_text((section(STEPS_TAKEN), section(state="skipped")), {}, 5.0)
    assert told.endswith("The one question that applies here was examined.")
    told = certainty_text((*3 * (section(),), *2 * (section(state="skipped"),)), {}, 5.0)
    assert told.endswith("All 3 questions that apply here were examined.")
    why = (
        SKIPPED_WITHOUT_TRAINING,
        f"{SKIPPED_WITHOUT_TRAINING} Pass fit=True.",
        f"{SKIPPED_WITHOUT_RESULT} 'A'.",
        "Skipped.",
    )
    parts = [Section("a", "A", "?", PageContent(words), "skipped") for words in why]
    assert certainty_text(parts, {}, 5.0).endswith(
        "3 of 3 questions not examined: 2 need a trained network, 1 builds on a missing result."
    )
    assert certainty_text(late, {}, 5.0).endswith(
        "2 of 2 questions not examined: 2 did not fit into the budget of 5 s (about 15 s would be enough for all)."
    )
    assert "the budget (give a larger one)" in certainty_text(late, {}, None)
    unknown = section(state="late", factor=MAX_TIME_FACTOR)
    assert "the budget of 5 s (give a larger one)" in certainty_text((unknown,), {}, 5.0)


def test_a_question_that_does_not_apply_is_not_said_to_lack_time():
    """At the deadline: a table has columns but no graph, and without training no training section."""
    steps = [step for step in STEPS if step.key in ("architecture", "graphs", "examples", "importance")]
    subject = build_subject(nn.Linear(3, 2), (torch.randn(8, 3), torch.arange(8) % 2), None, seed=0)
    sections, _, _ = run_steps(steps, subject, end=0.0, seed=0, fit=False, progress=None, clock=FakeClock(0.01))
    states = {section.key: (section.state, section.answer.partition(".")[0]) for section in sections}
    assert states == {
        "architecture": ("late", "No time left for this step"),
        "graphs": ("skipped", "Skipped: this question does not apply to the network or its data"),
        "examples": ("skipped", SKIPPED_WITHOUT_TRAINING[:-1]),
        "importance": ("late", "No time left for this step"),
    }


def test_the_page_of_a_regression_states_the_interval_of_its_score():
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    y = x.sum(1, keepdim=True)
    steps = [step for step in STEPS if step.key in ("architecture", "data", "split", "training", "margins")]
    result = examine(nn.Linear(3, 1), (x[:120], y[:120]), (x[120:], y[120:]), fit=True, budget=5,
                     examination_steps=steps, clock=FakeClock(0.01))  # fmt: skip
    value = result.section("margins").value("explained-variance")
    assert value.interval.low < value.value < value.interval.high <= 1
    certainty = result.page().certainty
    assert certainty.startswith("Explained variance ") and "(80 test examples)" in certainty
    assert certainty in page_html(result.page()) and result.to_dict()["certainty"] == certainty


@pytest.mark.parametrize(("high", "text"), [(0.99949, "99.9%"), (0.9995, "above 99.9%"), (1.0, "100.0%")])
def test_an_upper_end_below_one_is_not_written_as_all(high, text):
    score = Value("accuracy", 0.95, Interval(0.9, high, 0.95), id="accuracy")
    assert f"interval 90.0% to {text}." in certainty_text((section(score),), {}, None)
