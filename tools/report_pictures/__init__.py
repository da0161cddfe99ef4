"""Takes the pictures of reports in the documentation: ``python -m tools.report_pictures`` (needs chromium, 2 minutes).

Twelve kinds of model are examined with a clock that advances by the same time at each reading, so that every machine
takes the same number of training steps. A browser then photographs the first screens, in light and dark.
"""
