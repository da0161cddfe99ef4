"""The choice follows size and memory, says why, and what it chooses works within that memory."""

import pytest

from gnomon.core import InputError
from gnomon.linalg.solve import ConjugateGradient, Direct, Nystrom, auto
from tests.linalg.solve.points import Counted


@pytest.mark.parametrize(
    "n, memory, kind, words",
    [
        (50, 2**30, Direct, "Direct for 50 points"),
        (20_000, 4 * 2**30, Direct, "3.0 GiB of 4.0 GiB"),
        (30_000, 8 * 2**30, ConjugateGradient, "would be many"),
        (20_000, 2 * 2**30, Nystrom, "5000 centers for 20000 points"),
        (1_000_000, 12 * 2**30, Nystrom, "which is too much"),
    ],
)
def test_the_choice(n, memory, kind, words):
    found = auto(n, memory=memory)
    assert type(found.solver) is kind and words in str(found)


def test_a_small_memory_gets_few_centers_and_they_fit():
    kernel = Counted(n=500)
    found = auto(500, memory=100_000).solver
    assert isinstance(found, Nystrom) and 8 * 3 * found.m**2 <= 50_000
    assert bool(found.solve(kernel, kernel.targets(), ridge=0.1).coefficients.isfinite().all())
    assert max(8 * r * c for r, c in kernel.asked) <= 100_000


def test_without_a_number_of_bytes_it_asks_the_machine():
    assert isinstance(auto(10).solver, Direct)
    with pytest.raises(InputError, match="n is 0"):
        auto(0)
