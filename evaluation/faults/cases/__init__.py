"""The cases, one file for each kind of fault and for each kind of healthy network. Each file ends in `CASES`."""
