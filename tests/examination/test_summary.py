"""The short facts on top of a report."""

from dataclasses import replace

from gnomon.core.results import Finding, FindingKind, Level, Value
from gnomon.examination import Examination
from gnomon.examination.summary import summary_facts, verdict_sentence
from gnomon.findings.training import UNTRAINED
from gnomon.report import PageContent, Section
from gnomon.report.shown_example import ShownExample


def section(*values):
    return Section("a", "A", "?", PageContent("Yes.", values=values))


def test_the_score_is_of_test_examples_if_there_are_some_even_if_no_section_compared_the_sets():
    common = Value("training examples", 160, id="training-examples"), Value("steps", 9, id="steps-taken")
    score = Value("accuracy", 0.5, id="accuracy")
    alone = summary_facts((section(*common, score),), {})
    held_out = summary_facts((section(*common, score, Value("test examples", 80, id="held-out-examples")),), {})
    assert "160 training examples" in alone and any("of training examples right" in fact for fact in alone)
    assert "160 training and 80 test examples" in held_out
    assert any("of test examples right" in fact for fact in held_out)


def test_a_finding_that_decides_the_verdict_is_told_once():
    finding = Finding(UNTRAINED, "outputs", {"score": "10.0% of test examples are right"})
    shown = Section("a", "A", "?", PageContent("Yes.", (finding,)))
    assert verdict_sentence((shown,), partial=False) == "Not trained yet, so it cannot be called healthy."


def test_the_score_of_a_language_model_is_among_the_facts():
    common = Value("training examples", 160, id="training-examples"), Value("steps", 9, id="steps-taken")
    test = (
        Value("test examples", 80, id="held-out-examples"),
        Value("accuracy on test", 0.5, meaning="960 tokens", id="accuracy-on-test"),
        Value("perplexity on test", 3.09, meaning="960 tokens", id="perplexity-on-test"),
    )
    train = Value("accuracy on train", 0.75, meaning="1920 pixels", id="accuracy-on-train")
    told = summary_facts((section(*common, *test, train),), {})
    assert "50.0% of 960 tokens of the test set right, perplexity 3.09" in told
    assert "75.0% of 1920 pixels of the training set right" in summary_facts((section(*common, train),), {})
    assert not any("set right" in fact for fact in summary_facts((section(*common),), {}))


def test_the_worst_examples_say_of_which_set_they_are():
    worst = Section("examples", "Worst examples", "?", PageContent("Yes.", exhibits=(ShownExample(3, "cat", "dog"),)))
    held_out = section(Value("test examples", 80, id="held-out-examples"))
    titles = [Examination("net", parts, {}).page().tiles[-1].title for parts in ((worst,), (worst, held_out))]
    assert titles == ["Worst training examples", "Worst test examples"]
    right = Section("examples", "?", "?", PageContent("Yes.", exhibits=(ShownExample(3, "cat", "cat", right=True),)))
    assert Examination("net", (right, held_out), {}).page().tiles[-1].title == "Least certain test examples"
    for count, title in ((1, "Wrong test examples: 1 of 80"), (0, "All 80 test examples are right; the least certain")):
        values = Value("wrong", count, id="examples-wrong"), Value("tried", 80, id="examples-tried")
        counted = replace(worst, content=replace(worst.content, values=values))
        assert Examination("net", (counted, held_out), {}).page().tiles[-1].title == title
    values = Value("wrong", 1, id="examples-wrong"), Value("tried", 80, id="examples-tried")
    both = ShownExample(3, "cat", "dog", right=False), ShownExample(4, "cat", "cat", right=True)
    mixed = replace(worst, content=replace(worst.content, values=values, exhibits=both))
    title = Examination("net", (mixed, held_out), {}).page().tiles[-1].title
    assert title == "Wrong test examples: 1 of 80, then the largest losses"


def test_the_verdict_counts_findings_by_level_and_says_if_training_had_not_finished():
    levels = Level.WARNING, Level.NOTE, Level.NOTE
    findings = tuple(Finding(FindingKind(f"k{i}", level, "Look.", "Do.")) for i, level in enumerate(levels))
    shown = Section("a", "A", "?", PageContent("Yes.", findings))
    fault = Section("b", "B", "?", PageContent("No.", (Finding(FindingKind("bad", Level.PROBLEM, "Bad.", "Do.")),)))
    short = Section("c", "C", "?", PageContent("Unknown."), "unsure", if_unsure="training was too short")
    assert verdict_sentence((shown,), partial=False) == "No problem found; 1 warning and 2 notes."
    assert verdict_sentence((fault, shown), partial=False).endswith("training. Also 1 warning and 2 notes.")
    assert verdict_sentence((short,), partial=False) == "No problem found so far; training was too short."
    assert verdict_sentence((short,), partial=True).startswith("No problem found before it was stopped")
    assert Examination("net", (shown, short), {}).verdict == (
        "net: no problem found so far. 1 warning and 2 notes. Training was too short."
    )


def test_a_loss_that_still_falls_is_not_nothing_to_change():
    fall = Value("the test loss", "16%", meaning="the last quarter of the steps", id="fall-at-end")
    advice = Examination("net", (section(fall),), {}).page().advice_without_findings
    assert "the test loss fell by 16% in the last quarter of the steps" in advice and "more steps" in advice
    assert Examination("net", (section(),), {}).page().advice_without_findings == "Nothing to change."
