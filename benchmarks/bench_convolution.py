"""Convolutional ReLU networks: Myrtle-5/7/10 on 32x32 images, four convolutions on 16x16 with GAP and with flatten."""

import torch
from measure import alternate, dual_rate, inputs, record
from peer import Peer
from workloads import LAW, MYRTLE, convolutional, evaluations

import gnomon

# name: layers, side, flatten, images on both sides (gnomon), on both sides (peer), repetitions, wanted factor
WORKLOADS = {
    "Myrtle-5, 32x32": (MYRTLE[5], 32, False, (8, 8), (2, 2), 3, "100x"),
    "Myrtle-7, 32x32": (MYRTLE[7], 32, False, (8, 8), (2, 2), 2, "-"),
    "Myrtle-10, 32x32": (MYRTLE[10], 32, False, (8, 8), (2, 2), 2, "-"),
    "4 conv + GAP, 16x16": ("cccc", 16, False, (32, 32), (8, 8), 3, "60x"),
    "4 conv + flatten, 16x16": ("cccc", 16, True, (256, 256), (256, 256), 3, "-"),
}


def main() -> None:
    rate, rows = dual_rate() * torch.get_num_threads(), []
    with Peer() as peer:
        for name, (plan, side, flatten, mine_n, their_n, repetitions, wanted) in WORKLOADS.items():
            net, words = convolutional(plan, side, flatten=flatten)
            x, y = inputs((side, side, 3), *mine_n)
            lim = gnomon.limit(net, init=LAW, parametrization="ntk", dtype=torch.float32)
            lim.ntk(x, y)
            lim.ntk(x)
            shape = [side, side, 3]
            peer.warm(words, shape, *their_n)
            best, other = alternate(
                lambda: lim.ntk(x, y),
                lambda: peer.run(words, shape, *their_n)["seconds"],
                repetitions=repetitions,
                each=2,
            )
            half, _ = alternate(lambda: lim.ntk(x), lambda: 0.0, repetitions=1, each=2)
            mine, theirs = best / (mine_n[0] * mine_n[1]), other / (their_n[0] * their_n[1])
            symmetric = half / mine_n[0] ** 2
            work = evaluations(plan, side) if not flatten else 4 * side**2
            rows.append([
                name, f"{mine * 1e3:.3f} ms", f"{theirs * 1e3:.1f} ms", f"{theirs / mine:.0f}x", wanted,
                f"{theirs / symmetric:.0f}x", f"{work / rate / mine:.0%}",
            ])  # fmt: skip
            print(rows[-1], flush=True)
    note = (
        "Per entry of the kernel between two different sets of images (the statistics of the images included); the peer runs"
        " fewer images, for it is linear in pairs. `n x n`: the ratio for one set with itself, where gnomon computes half."
        " Limit: the time of the dual evaluations alone (one per pair of positions and nonlinearity)."
    )
    columns = ["network", "gnomon", "neural-tangents", "ratio", "wanted", "ratio n x n", "of the limit"]
    record("Convolutional networks, float32 NTK", columns, rows, note)


if __name__ == "__main__":
    main()
