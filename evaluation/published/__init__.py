"""Faults that others published and healthy public examples, rewritten in PyTorch, to be judged by reading the answers.

Each case cites its source. The cases were written without reading the checks. `python -m evaluation.published` examines
them and writes one text file for each; `python -m evaluation.published --verify` shows with a plain training loop that
each fault does harm and that each healthy case reaches its score.
"""
