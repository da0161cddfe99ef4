"""Each mistake of a loop is named, healthy loops get no finding, and observing changes no bit."""

import pytest
import torch

from gnomon.checks.run.loop.judge import JUDGMENTS
from gnomon.examination.policy import findings_to_report
from gnomon.examination.script.collect import loop_facts_of_recorder
from gnomon.examination.script.install import record_training_loop
from gnomon.examination.script.recorder import LoopRecorder
from tests.examination.script.detail_loops import DETAIL_HEALTHY, DETAIL_MISTAKES
from tests.examination.script.loops import HEALTHY, MISTAKES, healthy
from tests.examination.script.settings_loops import SETTINGS_HEALTHY, SETTINGS_MISTAKES
from tests.examination.script.setup_loops import SETUP_HEALTHY, SETUP_MISTAKES

ALL_MISTAKES = MISTAKES | SETTINGS_MISTAKES | DETAIL_MISTAKES | SETUP_MISTAKES


def observed(function, **options):
    """The facts of a loop, and its findings after those that follow from others are left out."""
    recorder = LoopRecorder(limit=1.0, **options)
    with record_training_loop(recorder):
        function()
    assert not recorder.failures
    facts = loop_facts_of_recorder(recorder, finished=True)
    return facts, findings_to_report([finding for judge in JUDGMENTS.values() for finding in judge(facts)])


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("name", ALL_MISTAKES)
def test_a_mistake_is_named(name):
    function, kind = ALL_MISTAKES[name]
    _, findings = observed(function)
    assert kind in {finding.kind for finding in findings}
    assert all(finding.message and finding.fix for finding in findings)


@pytest.mark.parametrize(
    "function", HEALTHY + SETTINGS_HEALTHY + DETAIL_HEALTHY + SETUP_HEALTHY, ids=lambda function: function.__name__
)
def test_a_healthy_loop_gets_no_finding(function):
    _, findings = observed(function)
    assert not findings


def test_the_first_module_with_nan_is_named():
    _, findings = observed(MISTAKES["overflow"][0])
    (finding,) = [one for one in findings if one.kind == "loss-not-finite"]
    assert finding.where == "Linear" and finding.values["step"] == 1


def test_counts_are_those_of_the_loop():
    facts, _ = observed(healthy)
    (optimizer,), (model,) = facts.optimizers, facts.models
    assert facts.steps == facts.backwards == optimizer.steps == model.trained == 36
    assert (model.validated, model.in_training, model.trained_in_eval) == (12, 0, 0)
    assert (optimizer.stale, optimizer.judged) == (0, 35)
    assert facts.schedulers[0].calls == 3 and facts.clips.calls == 36 and len(facts.losses) == 36
    assert optimizer.rates == ((1, pytest.approx(0.01)), (13, pytest.approx(0.009)), (25, pytest.approx(0.0081)))


def test_weights_and_random_numbers_are_the_same_bit_by_bit():
    torch.manual_seed(1)
    plain = healthy()
    after = torch.get_rng_state()
    torch.manual_seed(1)
    with record_training_loop(LoopRecorder(limit=1.0)):
        watched = healthy()
    assert torch.equal(torch.get_rng_state(), after)
    for one, other in zip(plain.state_dict().values(), watched.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_everything_is_restored():
    optimizers, schedulers = torch.optim.Optimizer, torch.optim.lr_scheduler.StepLR
    watched = (
        (torch.autograd, "backward"),
        (optimizers, "zero_grad"),
        (optimizers, "__init__"),
        (schedulers, "__init__"),
    )
    watched += (torch, "manual_seed"), (torch.nn.utils, "clip_grad_norm_"), (torch.nn.Module, "load_state_dict")
    before = [vars(owner)[name] for owner, name in watched]
    with pytest.raises(ValueError, match="the user's own"), record_training_loop(LoopRecorder()):
        during = [vars(owner)[name] for owner, name in watched]
        raise ValueError("the user's own")
    assert [vars(owner)[name] for owner, name in watched] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
    assert not torch.nn.modules.module._global_forward_hooks


def test_an_expensive_recorder_pauses_and_counts_on():
    class Clock:
        now = 0.0

        def __call__(self):
            self.now += 0.1  # each look at the clock takes as long as the loop itself
            return self.now

    recorder = LoopRecorder(limit=0.05, clock=Clock())
    with record_training_loop(recorder):
        healthy()
    assert recorder.pauses and recorder.steps == 36 and recorder.backwards == 36
    assert recorder.observed_backwards < 36


class Logarithm(torch.nn.Module):
    """Takes the logarithm of numbers that may be negative."""

    def forward(self, x):
        return (x - self.threshold).log()

    threshold = 5.0


@pytest.mark.parametrize("threshold, found", [(5.0, True), (-50.0, False)])
def test_a_script_that_fails_on_nan_names_the_module_and_one_that_fails_otherwise_does_not(threshold, found):
    torch.manual_seed(0)
    recorder, part = LoopRecorder(limit=1.0), Logarithm()
    part.threshold = threshold
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), part, torch.nn.Sigmoid())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with record_training_loop(recorder), pytest.raises(RuntimeError):
        optimizer.zero_grad()
        out = net(torch.randn(5, 3))
        torch.nn.functional.binary_cross_entropy(out, torch.full((5, 4), 0.5 if found else 2.0)).backward()
    recorder.script_failed()
    findings = [f for judge in JUDGMENTS.values() for f in judge(loop_facts_of_recorder(recorder, finished=False))]
    named = [f for f in findings if f.kind == "loss-not-finite"]
    assert [f.where for f in named] == (["1"] if found else [])
    assert all("failed in step 1" in f.message for f in named)


def test_settings_are_counted_by_hand():
    _, found = observed(SETTINGS_MISTAKES["zero after an epoch"][0])
    (idle,) = [one for one in found if one.kind == "learning-rate-zero"]
    assert (idle.values["count"], idle.values["steps"], idle.values["step"]) == (24, 36, 12)
    facts, _ = observed(SETTINGS_MISTAKES["weight decay with momentum"][0])
    assert facts.optimizers[0].shrinkage == pytest.approx(0.01 * 1 / (1 - 0.9))
    facts, found = observed(SETTINGS_MISTAKES["two steps"][0])
    assert (facts.optimizers[0].steps, facts.optimizers[0].repeated) == (48, 24)
    facts, _ = observed(SETTINGS_MISTAKES["growing graph"][0])
    first, second, third = facts.operations
    assert facts.retained == 24 and 2 * first <= second <= 2 * first + 1 and second - first == third - second
