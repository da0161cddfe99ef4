"""The cases, one file for each kind of task."""
