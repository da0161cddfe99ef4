"""curvlinops 3.0.1 on a small convolutional network, in its own environment: values, seconds, peak memory as JSON.

python benchmarks/peers/curvature.py WEIGHTS hessian|ggn
"""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
import torch
from curvature_workload import loss, network_and_data
from curvlinops import GGNLinearOperator, HessianLinearOperator, hutchpp_trace, lanczos_approximate_spectrum
from scipy.sparse.linalg import eigsh


def main():
    torch.set_num_threads(1)
    net, x, y = network_and_data()
    kind = {"hessian": HessianLinearOperator, "ggn": GGNLinearOperator}[sys.argv[1]]
    params = [p for p in net.parameters() if p.requires_grad]
    operator = kind(net, loss(), params, [(x, y)], check_deterministic=False)
    flat = operator.to_scipy() if hasattr(operator, "to_scipy") else operator
    found, times = {}, {}
    v = np.random.default_rng(0).standard_normal(flat.shape[1]).astype(np.float32)
    flat @ v
    start = time.process_time()
    for _ in range(10):
        flat @ v
    times["10 products"] = time.process_time() - start
    start = time.process_time()
    found["top 5"] = sorted(eigsh(flat, k=5, which="LA", tol=3e-4, return_eigenvectors=False).tolist(), reverse=True)
    times["top 5"] = time.process_time() - start
    start = time.process_time()
    found["trace"] = float(hutchpp_trace(operator, num_matvecs=60))
    times["trace, 60 products"] = time.process_time() - start
    start = time.process_time()
    top = found["top 5"][0]
    grid, density = lanczos_approximate_spectrum(operator, ncv=40, num_points=4096, boundaries=(-top, top))
    times["density, 40 products"] = time.process_time() - start
    weights = density / density.sum()
    found["density, mean"] = float((grid * weights).sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"found": found, "seconds": times, "peak": peak}))


if __name__ == "__main__":
    main()
