"""Computes the results of every theory claim at several parameter values and stores them for the sliders of the web
pages.
"""
