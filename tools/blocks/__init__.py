"""Executes the Python blocks of documentation pages and stores what they print: ``python -m tools.blocks run``.

The blocks of a page run in order in one namespace. Outputs are stored in ``docs/outputs/<page>.json`` with a hash
of the code up to there, so that a block whose code changed has no output until the page runs again.
"""
