"""Every kind of finding that the source can give has a name that gates may wait for, and the tables name no others."""

import ast
import re
from pathlib import Path

import pytest

import gnomon
from gnomon.core.errors import InputError
from gnomon.examination.consistency import FOLLOWS, OPPOSED
from gnomon.examination.inconclusive import HEADS
from gnomon.examination.kinds import KINDS, checked_kinds

SOURCE = Path(gnomon.__file__).parent
COMPOSED = {
    "checks/network/signal_findings.py": {
        f"{word}-{of}" for word in ("vanishing", "exploding") for of in ("activations", "gradients")
    }
}
"""Kinds that a file puts together from two words."""
OTHERS = {
    "asymmetric", "chains-not-converged", "control-holds", "dead-block", "density-not-normalized", "divergent-paths",
    "duplicate-rows", "float32-rounding", "flow-not-invertible", "game-diverged", "generator-silenced",
    "gradient-masking", "ill-conditioned", "indefinite", "inverse-unstable", "jitter-hides", "jitter-needed",
    "latent-holes", "learning-rate", "log-determinant-wrong", "memorized-samples", "modes-dropped",
    "more-data-helps", "more-data-is-little", "never-learned", "no-law", "overconfident-logits",
    "posterior-collapsed", "rank-deficient", "ratio-not-calibrated", "robustness-premise", "rotating-game",
    "samples-differ", "score-turns", "score-wrong", "singular", "unsure-terms", "verdict", "worse-than-pca",
    "wrong-gradient", "zero",
}  # fmt: skip
"""Kinds of instruments that no step of an examination calls."""


def kinds_in(path):
    """The kinds of the findings that a file makes: the first argument of each `Finding(...)`."""
    composed = COMPOSED.get(path.relative_to(SOURCE).as_posix(), set())
    found = set(composed)
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("Finding", "results.Finding"):
            continue
        kind = call.args[0]
        choices = [kind.body, kind.orelse] if isinstance(kind, ast.IfExp) else [kind]
        texts = [choice.value for choice in choices if isinstance(choice, ast.Constant)]
        assert texts or composed, f"{path}: the kind {ast.unparse(kind)} cannot be read; add its values to COMPOSED"
        found.update(texts)
    return found


EMITTED = {kind for path in SOURCE.rglob("*.py") for kind in kinds_in(path)}


def test_every_kind_that_any_instrument_gives_is_listed_or_said_to_be_of_no_step():
    assert len(EMITTED) > 100 and OTHERS <= EMITTED
    assert EMITTED - OTHERS == set(KINDS)


def test_the_tables_of_causes_and_opposed_cures_name_only_kinds_that_are_given():
    named = {kind for table in (FOLLOWS, OPPOSED) for row in table for kinds in row for kind in kinds}
    assert len(named) > 30 and named <= set(KINDS)
    assert set(HEADS) <= set(KINDS)


def test_every_kind_of_unscaled_numbers_is_a_cause():
    """Kinds about the scale of inputs or targets explain vanishing signals and failed training, whatever their name."""
    causes = {kind for causes, effects in FOLLOWS if "vanishing-gradients" in effects for kind in causes}
    assert {kind for kind in KINDS if re.search("-scale$", kind)} <= causes


@pytest.mark.parametrize("word", ["overfitting", "faults", ""])
def test_a_word_that_waits_for_nothing_is_refused(word):
    with pytest.raises(InputError, match="no finding is called"):
        checked_kinds([word], "examine")
