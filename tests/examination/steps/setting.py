"""A step alone, with all the time in the world."""

from math import inf

from gnomon.core.clock import Ticking
from gnomon.examination.step import Context
from gnomon.examination.subject import subject


def answered(step, net, train, facts=None, *, test=None, optimizer=None):
    """The outcome of one step for a network and its data."""
    given = subject(net, train, test, optimizer=optimizer, seed=0)
    return step().run(given, Context(facts or {}, 0, inf, False, Ticking(0.01)))
