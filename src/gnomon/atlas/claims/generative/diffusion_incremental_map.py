"""Many small steps turn noise into samples of the data; one large step does not.

energy distance to the data:    falls with the number of steps     (1)
"""

from gnomon.data import ring
from gnomon.generative import Diffusion, ExactNetwork, cosine_schedule, energy_test
from gnomon.lab import Claim, Premise, Source, ordered

SMALL = "the number of steps grows"


def problem():
    """Eight Gaussians on a circle."""
    return ring(8, radius=1.5, std=0.15)


def predicted():
    """From near to far."""
    return "many steps", "some steps", "one step"


def distances(n, repetitions, seed, counts):
    """Energy distances of samples to data, with an exact network and no noise in the steps."""
    p, schedule = problem(), cosine_schedule(60)
    model = Diffusion(ExactNetwork(p, schedule, "data"), schedule, shape=(2,), target="data")
    return {
        name: [
            energy_test(model.sample(n, seed=seed + i, steps=count, eta=0.0), p.sample(n, seed=seed + 90 + i),
                        permutations=99).statistic for i in range(repetitions)
        ]
        for name, count in zip(predicted(), counts, strict=True)
    }  # fmt: skip


def observed(n, repetitions, seed):
    """30 steps, 4 steps, one."""
    return distances(n, repetitions, seed, (30, 4, 1))


def control(n, repetitions, seed):
    """One step each time."""
    return distances(n, repetitions, seed, (1, 1, 1))


CLAIM = Claim(
    id="diffusion-incremental-map",
    title="Many small steps turn noise into samples of the data; one large step does not",
    equation=r"\pi = \pi_T \to \cdots \to \pi_0 \approx p",
    source=Source("observed", "song2021denoising"),
    premises=(Premise(SMALL), Premise("an exact network")),
    breaks=SMALL,
    parameters={"n": 300, "repetitions": 4},
    full={"n": 1500, "repetitions": 20},
    judge=ordered(confidence=0.99),
    predicted=predicted,
    observed=observed,
    control=control,
)
