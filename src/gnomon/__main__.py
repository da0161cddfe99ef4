"""``python -m gnomon``: the command line, where its script is not on the path."""

from gnomon.cli import run

if __name__ == "__main__":
    run()
