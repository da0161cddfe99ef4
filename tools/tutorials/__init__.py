"""Executes tutorials (scripts of Markdown and code cells) and makes pages and notebooks of them.

``python -m tools.tutorials run`` executes the scripts whose code changed and stores what they print and draw in
``docs/tutorials/outputs``. The stored outputs are committed, so that building the pages executes nothing.
"""
