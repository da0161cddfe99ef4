"""Renders the atlas as web pages: one for each theory claim, a searchable index, and a list of all theory
statements.
"""
