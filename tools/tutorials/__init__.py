"""Tutorials: scripts of Markdown and code cells, executed once, shown as pages and downloadable as notebooks.

``python -m tools.tutorials run`` executes the scripts whose code changed and stores what they print and draw in
``docs/tutorials/outputs``. The stored outputs are committed, so that building the pages executes nothing.
"""
