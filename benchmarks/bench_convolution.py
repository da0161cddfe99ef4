"""Convolutional ReLU networks: Myrtle-5/7/10 on 32x32 images, four convolutions on 16x16 with GAP and with flatten."""

from functools import partial

import torch
from measure import alternate, dual_rate, inputs, record
from peer import Peer
from workloads import LAW, MYRTLE, convolutional, evaluations

import gnomon

# name: layers, side, flatten, images on both sides here, images on both sides of the peer, repetitions, wanted factor
WORKLOADS = {
    "Myrtle-5, 32x32": (MYRTLE[5], 32, False, (32, 32), (2, 2), 3, "100x"),
    "Myrtle-7, 32x32": (MYRTLE[7], 32, False, (32, 32), (2, 2), 2, "-"),
    "Myrtle-10, 32x32": (MYRTLE[10], 32, False, (32, 32), (2, 2), 2, "-"),
    "4 conv + GAP, 16x16": ("cccc", 16, False, (64, 64), (8, 8), 3, "60x"),
    "4 conv + flatten, 16x16": ("cccc", 16, True, (256, 256), (256, 256), 3, "-"),
}
NOTE = """Time per entry of the kernel between two different sets of images, including the statistics of the images. The peer
gets fewer images, because its time is linear in pairs. `n x n`: the ratio for one set with itself, for which gnomon
computes half. Limit: the time of the dual functions alone, one evaluation per pair of positions and nonlinearity, on all
threads."""


def main() -> None:
    rows = []
    with Peer() as peer:
        for name, (plan, side, flatten, here, there, repetitions, wanted) in WORKLOADS.items():
            net, words = convolutional(plan, side, flatten=flatten)
            x, y = inputs((side, side, 3), *here)
            lim = gnomon.limit(net, init=LAW, parametrization="ntk", dtype=torch.float32)
            lim.ntk(x, y)
            shape = [side, side, 3]
            peer.warm(words, shape, *there)
            run = partial(peer.seconds, words, shape, *there)
            best, other = alternate(partial(lim.ntk, x, y), run, repetitions=repetitions, each=2)
            half, _ = alternate(partial(lim.ntk, x), lambda: 0.0, repetitions=1, each=2)
            mine, theirs, symmetric = best / (here[0] * here[1]), other / (there[0] * there[1]), half / here[0] ** 2
            work = 4 * side**2 if flatten else evaluations(plan, side)
            limit = work / (dual_rate() * torch.get_num_threads())
            ratios = [f"{theirs / mine:.0f}x", wanted, f"{theirs / symmetric:.0f}x", f"{limit / mine:.0%}"]
            rows.append([name, f"{mine * 1e3:.3f} ms", f"{theirs * 1e3:.2f} ms", *ratios])
            print(rows[-1], flush=True)
    columns = ["network", "gnomon", "neural-tangents", "ratio", "target", "ratio n x n", "of the limit"]
    record("kernels", "Convolutional networks, float32 NTK", columns, rows, NOTE)


if __name__ == "__main__":
    main()
