"""Command line: `count` prints the counts, `draw` prints random items for a reader."""

import argparse
from pathlib import Path

from tools.plain_english.count import breaches
from tools.plain_english.draw import draw, readable_items

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print counts (with ``--list KIND`` their places) or a draw."""
    parser = argparse.ArgumentParser(prog="python -m tools.plain_english", description=__doc__)
    parser.add_argument("command", choices=["count", "draw"])
    parser.add_argument("--seed", type=int, default=0, help="Random seed of a draw.")
    parser.add_argument("--count", type=int, default=40, help="Number of items in each group of a draw.")
    parser.add_argument("--list", default="", help="Also list places whose kind or path contains this text.")
    parser.add_argument("--root", type=Path, default=ROOT, help="Project folder.")
    options = parser.parse_args()
    if options.command == "count":
        for kind, places in breaches(options.root).items():
            print(f"{len(places):6d}  {kind}")
            if options.list:
                for place in places:
                    if options.list in kind or options.list in place:
                        print(f"          {place}")
        return
    for group, items in draw(readable_items(options.root), options.seed, options.count).items():
        print(f"\n## {group}\n")
        for number, item in enumerate(items, 1):
            print(f"{number}. {item}")


if __name__ == "__main__":
    main()
