"""Does gnomon take the networks that people really have?

`registry.py` lists public architectures that nobody changed for gnomon: what builds them, their data, and the training
loop that their users write. `python -m evaluation.public_models` examines each of them and compares what gnomon says
with a plain loop. `instruments.py` compares single instruments with autograd on eight of them. The packages that most
cases need are listed in `requirements.txt`; a case whose package is missing is reported as not run.
"""
