"""Serves a small random citation graph in the format of Cora in place of a download."""

import io
import random
import tarfile

NODES, WORDS, CLASSES = 2000, 120, 7
"""Size of the graph; each class prefers its own words, and nodes cite their own class."""


def get(address, stream=False):
    """The archive, whatever the address."""
    draw = random.Random(0)
    kinds = [draw.randrange(CLASSES) for _ in range(NODES)]
    rows = []
    for node, kind in enumerate(kinds):
        words = [int(draw.random() < (0.3 if word % CLASSES == kind else 0.05)) for word in range(WORDS)]
        words[node % WORDS] = 1
        rows.append("\t".join([str(node), *map(str, words), f"class_{kind}"]))
    groups = [[i for i, k in enumerate(kinds) if k == kind] for kind in range(CLASSES)]
    cites = []
    for node, kind in enumerate(kinds):
        for _ in range(2):
            other = draw.choice(groups[kind]) if draw.random() < 0.8 else draw.randrange(NODES)
            if other != node:
                cites.append((node, other))
    return _Answer(
        {"cora/cora.content": "\n".join(rows), "cora/cora.cites": "\n".join(f"{a}\t{b}" for a, b in sorted(set(cites)))}
    )


class _Answer:
    def __init__(self, files):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        buffer.seek(0)
        self.raw = buffer

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None
