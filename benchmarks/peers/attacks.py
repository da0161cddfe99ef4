"""Peers' attacks on one classifier, in their own environment: robust accuracy and seconds, as a line of JSON.

python benchmarks/peers/attacks.py SHARED NAME NORM EPS N START SEED pyautoattack|foolbox
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import torch
from mnist_classifiers import classifier, mnist

THREADS = 1


def pyautoattack(net, x, y, norm, eps):
    from pyautoattack import AutoAttack

    attack = AutoAttack(net, norm="Linf" if norm == "inf" else "L2", eps=eps, version="standard", seed=0)
    attack.verbose = False
    found = attack.run_standard_evaluation(x, y, batch_size=250)
    return found[0] if isinstance(found, tuple) else found


def foolbox(net, x, y, norm, eps):
    import foolbox as fb

    model = fb.PyTorchModel(net, bounds=(0, 1), device="cpu")
    kinds = (fb.attacks.LinfPGD(steps=100), fb.attacks.LInfFMNAttack(steps=300)) if norm == "inf" else (
        fb.attacks.L2PGD(steps=100), fb.attacks.L2FMNAttack(steps=300))  # fmt: skip
    found = x.clone()
    for kind in kinds:
        left = (net(found).argmax(1) == y).nonzero()[:, 0]
        for part in left.split(250) if len(left) else ():
            try:
                _, clipped, _ = kind(model, x[part], y[part], epsilons=eps)
            except AssertionError:  # foolbox refuses points that round out of the bounds
                continue
            found[part] = clipped
    return found


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    shared, name, norm, eps, n, first, seed, peer = sys.argv[1:]
    net = classifier(name, shared, int(seed))
    x, y = mnist(shared, int(n), "test", int(first))
    start = time.process_time()
    z = {"pyautoattack": pyautoattack, "foolbox": foolbox}[peer](net, x, y, norm, float(eps))
    seconds = time.process_time() - start
    with torch.no_grad():
        print(json.dumps({"robust": float((net(z).argmax(1) == y).double().mean()), "seconds": seconds}))
