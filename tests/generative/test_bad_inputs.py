"""Bad input to every function of `generative` and `bayes`: one sentence that begins with the call."""

import inspect

import jaxtyping
import pytest

from gnomon import bayes, generative
from gnomon.core.errors import GnomonError
from tests.generative.bad_inputs import CALLS

CASES = [pytest.param(name, call, id=f"{name}-{kind}") for name, kinds in CALLS.items() for kind, call in kinds.items()]


@pytest.mark.parametrize("room", [generative, bayes])
def test_every_public_function_is_in_the_table(room):
    place = room.__name__.removeprefix("gnomon.")
    functions = [name for name in room.__all__ if inspect.isfunction(getattr(room, name))]
    assert len(functions) > 7
    for name in functions:
        assert {"NaN", "size"} <= set(CALLS[f"{place}.{name}"]), name


@pytest.mark.parametrize(("name", "call"), CASES)
def test_bad_input_is_one_sentence_that_begins_with_the_call(name, call, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # users have no checks of shapes before ours
    with pytest.raises(GnomonError) as caught:
        call()
    told = str(caught.value)
    *_, owner, last = name.split(".")
    assert "\n" not in told and told.endswith(".") and len(told) < 420
    begins = (f"{last}(",) if owner in ("generative", "bayes") else (f"{owner}.{last}(", f"{owner}.sample(", "VAE.")
    assert told.startswith(begins), told
