"""Applies possible fixes to copies of a network, trains the copies, and measures whether the fixes help.

A finding names fixes by id (`gnomon.findings.remedies`). A fix turns a training recipe (`TrialRun`) into a
changed one. `prove` trains both for the same number of steps and compares them on held-out examples.
"""
