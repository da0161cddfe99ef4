"""A claim runs by its seed alone, takes the reader's parameters, and tells when its control holds as well."""

import json

import pytest
import torch

from gnomon.core.errors import InputError
from gnomon.lab import Claim, Premise, Source, Verdict, mean_equals, run_claim


def variance(width, samples):
    return torch.randn(samples, width).square().mean(1)


def claim(**changes):
    fields = {
        "id": "unit-variance", "title": "Standard normal numbers have variance 1", "equation": "E x^2 = 1",
        "source": Source("theorem"),
        "premises": (Premise("variance 1"), Premise("several units", lambda width: width > 1)),
        "parameters": {"width": 50, "samples": 40, "scales": (1.0, 2.0)}, "full": {"width": 500},
        "judge": mean_equals(), "predicted": lambda: 1.0, "observed": variance,
        "control": lambda width, samples: 4 * variance(width, samples),
    }  # fmt: skip
    return Claim(**(fields | changes))


def test_a_run_depends_on_its_seed_alone():
    before = torch.get_rng_state()
    first, again, other = (run_claim(claim(), seed=s).judgment.values[0].value for s in (1, 1, 2))
    assert first == again != other
    assert torch.equal(before, torch.get_rng_state())


def test_verdict_control_and_json():
    outcome = run_claim(claim())
    assert (
        outcome.judgment.verdict is Verdict.HOLDS and outcome.control.verdict is Verdict.REFUTED and outcome.as_stated
    )
    told = json.loads(json.dumps(outcome.to_dict(), allow_nan=False))
    assert told["id"] == "unit-variance" and told["verdict"] == "holds" and told["expected"] == "holds"
    assert not outcome.findings and "holds" in str(outcome)


def test_parameters_are_the_readers():
    assert run_claim(claim(), {"width": "7", "scales": "3,4"}).parameters["scales"] == (3.0, 4.0)
    assert run_claim(claim(), scale="full").parameters["width"] == 500
    outside = run_claim(claim(), {"width": 1})
    assert outside.premises[1].holds is False and "outside its hypotheses (several units)" in outside.verdict
    assert not outside.as_stated and not outside.findings
    with pytest.raises(InputError, match="no parameter 'depth'. The parameters are: width, samples, scales"):
        run_claim(claim(), {"depth": 3})
    with pytest.raises(InputError, match="width must be int, as in 50, but it is 'wide'"):
        run_claim(claim(), {"width": "wide"})


def test_a_control_that_holds_is_a_finding():
    outcome = run_claim(claim(control=variance))
    assert not outcome.as_stated and outcome.findings[0].kind == "control-holds"
    assert run_claim(claim(expected="refuted")).findings[0].kind == "verdict"


def test_a_claim_must_be_consistent():
    with pytest.raises(InputError, match="premises is empty"):
        claim(premises=())
    with pytest.raises(InputError, match=r"observed uses \['depth'\], which are not parameters of the claim"):
        claim(observed=lambda depth: 1.0)


@pytest.mark.parametrize("seed", [-1, 2**48, 2**70])
def test_a_seed_that_no_generator_takes_is_refused(seed):
    with pytest.raises(InputError, match="seed"):
        run_claim(claim(), seed=seed)


def test_large_seeds_run():
    assert run_claim(claim(), seed=2**48 - 1).parameters["seed"] == 2**48 - 1
