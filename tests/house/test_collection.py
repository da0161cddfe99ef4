"""Examples and tests of one file run together: each source file is executed once in a run of pytest."""

import subprocess
import sys

import pytest

from tests.house.tree import ROOT

COUNT = """
import sys
from collections import Counter
import pytest

runs = Counter()

def count(event, args):
    if event == "exec" and getattr(args[0], "co_name", "") == "<module>":
        runs[args[0].co_filename] += 1

sys.addaudithook(count)
code = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]])
twice = sorted(name for name, times in runs.items() if times > 1 and "gnomon" in name)
print("EXIT", int(code), "TWICE", twice, "ONCE", sum("gnomon" in name for name in runs) - len(twice))
"""


@pytest.mark.full
def test_a_source_file_is_executed_once_though_it_is_collected_before_the_package_is_imported():
    """A second copy has classes of its own, and what a test replaces in one copy the other does not see."""
    files = ["src/gnomon/robustness/certificates/smoothing.py", "tests/robustness/test_certificates.py"]
    done = subprocess.run([sys.executable, "-c", COUNT, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("EXIT 0 TWICE [] ONCE "), done.stdout[-2000:] + done.stderr[-2000:]
    assert int(last.split()[-1]) > 20  # the files of the package are among those counted
