"""Seconds that ``import gnomon`` adds to ``import torch``, in fresh processes."""

import subprocess
import sys

from measure import best_of, record

TIMES = 7


def main() -> None:
    def seconds(code: str) -> float:
        return best_of(lambda: subprocess.run([sys.executable, "-c", code], check=True), TIMES)

    bare, torch, gnomon = (seconds(code) for code in ("pass", "import torch", "import torch, gnomon"))
    rows = [["python", f"{bare:.2f} s"], ["import torch", f"+{torch - bare:.2f} s"]]
    rows.append(["import gnomon", f"+{gnomon - torch:.2f} s"])
    record("import", "Import", ["what", "time"], rows, f"The least of {TIMES} processes each; bytecode is cached.")


if __name__ == "__main__":
    main()
