"""The short facts on top of a report."""

from gnomon.core.results import Finding, Value
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
