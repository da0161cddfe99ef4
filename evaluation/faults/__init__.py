"""Does `gnomon.examine` find known faults, and does it leave healthy networks alone?

`registry.py` lists every case; `python -m evaluation.faults --help` runs them. A case is found first if the first
finding names its fault, and found if any finding does. A healthy case has a false alarm if it is given a fault.
"""
