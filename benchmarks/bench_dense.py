"""Fully connected ReLU networks, n = 4000 points of 64 features, float32 NTK; with and without biases.

The compiled loops are measured, which repeated calls use. Name "bias" or "plain" to run one of the two alone.
"""

import sys
from functools import partial

import torch
from measure import alternate, dual_rate, inputs, record
from peer import Peer
from workloads import dense

import gnomon
from gnomon.program import InitializationLaw

N, D = 4000, 64
FACTORS = {1: 5, 3: 15, 10: 40, 30: 55}


TITLES = {
    "bias": (InitializationLaw(2**0.5, 0.1), "Dense, n = 4000, d = 64, float32 NTK"),
    "plain": (InitializationLaw(2**0.5, 0.0), "Dense without biases, n = 4000, d = 64, float32 NTK"),
}


def main(law: InitializationLaw, title: str) -> None:
    x, _ = inputs((D,), N)
    rows = []
    with Peer() as peer:
        for depth, wanted in FACTORS.items():
            net, words = dense(depth, D, law)
            lim = gnomon.Limit(net, init=law, parametrization="ntk", dtype=torch.float32, compiled=True)
            lim.ntk(x)
            peer.warm(words, [D], N)
            mine, theirs = alternate(partial(lim.ntk, x), partial(peer.seconds, words, [D], N), repetitions=3)
            limit = N * (N + 1) / 2 * depth / (dual_rate() * torch.get_num_threads())
            times = [f"{mine:.3f} s", f"{theirs:.3f} s", f"{theirs / mine:.1f}x", f"{wanted}x", f"{limit / mine:.0%}"]
            rows.append([str(depth), *times])
            print(rows[-1], flush=True)
    note = "Limit: the time of the dual functions alone for the lower triangle, on 512 entries in the first cache, on all threads."
    columns = ["hidden layers", "gnomon", "neural-tangents", "ratio", "target", "of the limit"]
    record("kernels", title, columns, rows, note)


if __name__ == "__main__":
    for name in sys.argv[1:] or TITLES:
        main(*TITLES[name])
