"""With the exact denoiser, samples of a diffusion model come closer to the data the more reverse steps they take.

energy distance to the data:    falls with the number of steps     (1)
"""

from functools import partial

from gnomon.data import ring_of_gaussians
from gnomon.generative import Diffusion, energy_test
from gnomon.generative.diffusion.exact import ExactDenoiser
from gnomon.generative.diffusion.schedule import cosine_schedule
from gnomon.lab import Claim, Premise, Source, in_order


def problem(radius=1.5):
    """Returns a mixture of eight Gaussians on a circle."""
    return ring_of_gaussians(8, radius=radius, std=0.15)


def predicted():
    """Returns the numbers of reverse steps, from the smallest distance of the samples to the data to the largest."""
    return "many steps", "some steps", "one step"


def distances(n, repetitions, seed, known):
    """Returns energy distances between samples and data after 30, 4 and 1 reverse steps of the exact network."""
    p, schedule = problem(), cosine_schedule(60)
    model = Diffusion(ExactDenoiser(known, schedule, "data"), schedule, shape=(2,), target="data")
    return {
        name: [
            energy_test(model.sample(n, seed=seed + i, steps=count, eta=0.0), p.sample(n, seed=seed + 90 + i),
                        permutations=99).statistic for i in range(repetitions)
        ]
        for name, count in zip(predicted(), (30, 4, 1), strict=True)
    }  # fmt: skip


observed = partial(distances, known=problem())  # The network is the exact denoiser for the true data circle.
control = partial(distances, known=problem(6.0))  # Control: a denoiser for a wider circle; many steps end there.

CLAIM = Claim(
    id="diffusion-incremental-map",
    question="Why does a diffusion model need many steps?",
    equation=r"\pi = \pi_T \to \cdots \to \pi_0 \approx p",
    axes=("number of reverse steps", "energy distance to the data"),
    source=Source("observed", "song2021denoising"),
    premises=(Premise("the network is exact for the data"), Premise("many steps are small steps")),
    parameters={"n": 300, "repetitions": 8},
    full={"n": 1500, "repetitions": 20},
    judge=in_order(confidence=0.99),
)
