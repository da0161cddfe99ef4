"""Measures how plainly the project is written: counts dialect markers and unclear names, draws samples for readers.

`python -m tools.plain_english count` prints the counts that tests/house/test_plain_english.py limits.
`python -m tools.plain_english draw --seed 7` prints 40 names, docstring lines, comments and sentences for a new reader.
"""
