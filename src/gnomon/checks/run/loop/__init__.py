"""Judges a recorded training loop: functions that turn facts about the run into findings."""
