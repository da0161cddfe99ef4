"""The run of a GAN can be shown as a movie."""

import matplotlib
import torch
from torch import nn

from gnomon.generative.gan import GAN
from gnomon.generative.train_gan import GanRun

matplotlib.use("agg")


def test_the_movie_of_a_gan_ends_with_all_steps():
    gan = GAN(nn.Linear(1, 1), nn.Linear(1, 1), latent=1, shape=(1,))
    run = GanRun(gan, torch.arange(10), torch.rand(10), torch.rand(10), "finished", 0.1)
    movie = run.animate(frames=5)
    movie._draw_was_started = True
    frames = list(movie.new_frame_seq())
    counts = [[len(line.get_xdata()) for line in movie._func(frame)] for frame in frames]
    assert len(frames) == 5 and counts[0] == [2, 2] and counts[-1] == [10, 10]
