"""Modules in wrappers of torch give the numbers of the module inside."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon import bayes, checks, landscape
from gnomon.core.modules.wrappers import inner_module

X, Y = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
NET = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
WRAPPERS = {"compiled": lambda net: torch.compile(net, backend="eager"), "parallel": nn.DataParallel}
CALLS = {
    "ntk": lambda net: gnomon.ntk(net, X),
    "limit": lambda net: gnomon.limit(net).ntk(X),
    "sampled_limit": lambda net: gnomon.sampled_limit(net, draws=2).ntk(X),
    "sharpness": lambda net: landscape.sharpness(net, (X, Y)).value,
    "signal": lambda net: [layer.activation for layer in checks.signal_propagation(net, X).layers],
    "predict": lambda net: gnomon.predict(net, (X, Y), times=[1.0]).loss,
    "laplace": lambda net: bayes.laplace(net, (X, Y)).log_evidence,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_wrapped_module_is_found_inside_several_wrappers(wrapper):
    assert inner_module(WRAPPERS[wrapper](NET)) is NET
    assert inner_module(nn.DataParallel(WRAPPERS[wrapper](NET))) is NET
    assert inner_module(NET) is NET


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("call", CALLS)
def test_a_wrapper_changes_no_number(call, wrapper):
    expected, found = (CALLS[call](net) for net in (NET, WRAPPERS[wrapper](NET)))
    assert torch.equal(torch.as_tensor(expected), torch.as_tensor(found))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapped_network_is_examined_as_the_network_inside(wrapper):
    steps = tuple(step for step in gnomon.examination.STEPS if step.key in {"architecture", "wiring"})
    made = gnomon.examine(WRAPPERS[wrapper](NET), (X, Y), fit=False, examination_steps=steps)
    assert "59" not in made.section("wiring").answer and "67 parameters" in made.section("architecture").answer
