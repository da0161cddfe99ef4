"""neural-tangents behind a pipe: one JSON request per line in, one JSON answer per line out.

A request names a network as a list of layers and a shape of inputs; the kernel function is compiled on its first use,
which is not part of the time that is answered. Images have their channels last, as the peer wants them.
"""

import json
import os
import sys
import time
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")

import jax  # noqa: E402
import numpy as np  # noqa: E402
from neural_tangents import stax  # noqa: E402

KERNELS = {}


def layer(spec):
    name, *options = spec
    if name == "dense":
        return stax.Dense(1, W_std=options[0], b_std=options[1])
    if name == "conv":
        return stax.Conv(1, (3, 3), padding="SAME", W_std=options[0], b_std=options[1])
    if name == "pool":
        return stax.AvgPool((2, 2), (2, 2), "VALID")
    return {"relu": stax.Relu, "gap": stax.GlobalAvgPool, "flatten": stax.Flatten}[name]()


def kernel(layers):
    key = json.dumps(layers)
    if key not in KERNELS:
        function = stax.serial(*map(layer, layers))[2]
        KERNELS[key] = jax.jit(lambda x, y: function(x, y, "ntk"))
    return KERNELS[key]


def answer(request):
    rng = np.random.default_rng(request["seed"])
    shape = tuple(request["shape"])
    x = jax.numpy.asarray(rng.standard_normal((request["n"], *shape), dtype=np.float32))
    y = jax.numpy.asarray(rng.standard_normal((request["m"], *shape), dtype=np.float32)) if request["m"] else x
    f = kernel(request["layers"])
    if request["warm"]:
        f(x, y).block_until_ready()
        return {"seconds": 0.0}
    start = time.perf_counter()
    result = f(x, y).block_until_ready()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "corner": np.asarray(result)[:2, :2].tolist()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
