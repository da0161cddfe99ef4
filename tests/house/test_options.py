import pytest

from tests.house import options
from tests.house.tree import expect_none


def test_public_signatures_use_one_vocabulary():
    expect_none(options.faults(options.public_callables()))


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda module, x: None, "landscape.planted.x: data are called data"),
        (lambda module, data, y_test=None: None, "landscape.planted.y_test: data are called data"),
        (lambda net, data: None, "landscape.planted.net: an nn.Module is called module"),
        (lambda module, layer, data: None, "landscape.planted: data must be the second argument"),
        (
            lambda module, data, *, samples=3: None,
            "landscape.planted.samples: a number of random draws is called draws",
        ),
        (
            lambda module, data, *, seconds=3: None,
            "landscape.planted.seconds: a limit of time in seconds is called budget",
        ),
        (lambda module, data, *, steps=3: None, "landscape.planted.steps: steps are training steps"),
        (
            lambda module, data, *, delta=0.1: None,
            "landscape.planted.delta: the level of a statement is called confidence",
        ),
        (lambda module, data, *, confidence=0.99: None, "landscape.planted.confidence: the default is 0.95"),
        (lambda module, data, *, seed=1: None, "landscape.planted.seed: the default is 0"),
    ],
)
def test_a_planted_breach_is_noticed(function, fault):
    found = options.faults(iter([("landscape.planted", function)]))
    assert len(found) == 1
    assert found[0].startswith(fault)


def test_a_clean_signature_passes():
    def clean(module, data, *, draws=10, budget=None, confidence=0.95, seed=0):
        pass

    assert options.faults(iter([("landscape.clean", clean)])) == []


def test_an_exception_that_nothing_needs_is_noticed():
    found = options.faults(iter([("generative.fit", lambda module, data: None)]))
    assert found == ["generative.fit.model is an exception that nothing needs"]


def test_tables_name_functions_that_exist():
    known = {name for name, _ in options.public_callables()}
    named = {place.rpartition(".")[0] for place in options.OTHER_NAMES}
    named |= {*options.DATA_LATER, *options.TRAIN_FOR_STEPS, *options.OTHER_STEPS, *options.MEASURED_SECONDS}
    named |= {*options.PURE_INEQUALITIES, *options.OTHER_CONFIDENCE}
    assert named <= known
