"""The line ``::: commands`` becomes the reference of the command line, made by typer from the commands themselves."""

import re
import subprocess
import sys

LINE = re.compile(r"^::: commands$", re.MULTILINE)


def commands() -> str:
    """Markdown of all commands: usage, arguments and options with their defaults."""
    command = [sys.executable, "-m", "typer", "gnomon.cli", "utils", "docs", "--name", "gnomon"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(
        r"^# `gnomon`\n|^\*\*Commands\*\*:\n\n(?:\* .*\n)+", "", text, flags=re.MULTILINE
    )  # each is told below
    text = re.sub(r"^\* (`[^`]+`): (.*)$", r"- \1: \2", text, flags=re.MULTILINE)
    return re.sub(r"\[(default: [^\]]+|required)\]", r"*(\1)*", text)
