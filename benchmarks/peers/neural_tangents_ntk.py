"""neural-tangents' empirical NTK on the two networks of bench_tangent.py, timed in its own process.

Run by bench_tangent.py with the Python of the peer environment; prints one JSON line: seconds per network and
implementation, compilation excluded, the least of several repetitions.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp
import neural_tangents as nt
from neural_tangents import stax

LAYERS = {"relu": stax.Relu, "pool": stax.GlobalAvgPool}
IMPLEMENTATIONS = {
    "jacobian contraction": nt.NtkImplementation.JACOBIAN_CONTRACTION,
    "ntk-vector products": nt.NtkImplementation.NTK_VECTOR_PRODUCTS,
    "structured derivatives": nt.NtkImplementation.STRUCTURED_DERIVATIVES,
}


def network(name):
    dense = [stax.Dense(512, parameterization="standard", b_std=1.0), stax.Relu()]
    if name == "mlp":
        return stax.serial(*dense * 3, stax.Dense(1, parameterization="standard", b_std=1.0)), (256, 784)

    def conv(channels):
        return stax.Conv(channels, (3, 3), padding="SAME", parameterization="standard", b_std=1.0)

    body = [layer for c in (64, 64, 128) for layer in (conv(c), stax.Relu())]
    return stax.serial(*body, stax.GlobalAvgPool(), stax.Dense(10, parameterization="standard", b_std=1.0)), (
        64,
        32,
        32,
        3,
    )


def main(name, repetitions):
    (init, apply, _), shape = network(name)
    x = jax.random.normal(jax.random.PRNGKey(0), shape, jnp.float32)
    _, params = init(jax.random.PRNGKey(1), shape)
    seconds = {}
    for label, implementation in IMPLEMENTATIONS.items():
        kernel = nt.empirical_ntk_fn(apply, trace_axes=(-1,), vmap_axes=0, implementation=implementation)
        run = jax.jit(lambda p, a, kernel=kernel: kernel(a, None, p))
        try:
            run(params, x).block_until_ready()
        except Exception as error:  # an implementation that does not fit in memory is told, not hidden
            seconds[label] = str(error).splitlines()[0]
            continue
        times = []
        for _ in range(repetitions):
            start = time.perf_counter()
            run(params, x).block_until_ready()
            times.append(time.perf_counter() - start)
        seconds[label] = min(times)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
