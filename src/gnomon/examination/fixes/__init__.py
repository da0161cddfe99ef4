"""Applies fixes automatically to copies, trains them, and measures whether they help.

A finding names fixes by id (`gnomon.findings.remedies`). A fix turns a training recipe (`TrialRun`) into a
changed one. `prove` trains both for the same number of steps and compares them on held-out examples.
"""
