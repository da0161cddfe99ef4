"""Renders the atlas as web pages: one for each claim, a searchable index, and the coverage of each statement."""
