"""``python -m gnomon``: the command line, for systems on which the script `gnomon` is not on the path."""

from gnomon.cli import run

if __name__ == "__main__":
    run()
