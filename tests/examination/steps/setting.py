"""A step alone, with all the time in the world."""

from math import inf

from gnomon.core.machine.clock import FakeClock
from gnomon.examination.cost import StepCost
from gnomon.examination.step import StepContext, StepProducts
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import build_subject

PROFILE = NetworkProfile(None, "not read", StepCost(0.0, 1e-3, 0.0))


def answered(step, net, train, products=(), *, test=None, optimizer=None):
    """The result of one step for a network and its data; a profile of the network is always there."""
    network = build_subject(net, train, test, optimizer=optimizer, seed=0)
    items = {type(product): product for product in (PROFILE, *products)}
    return step().run(
        network, StepProducts(items).only((*step.needs, *step.uses)), StepContext(0, inf, False, FakeClock(0.01))
    )
