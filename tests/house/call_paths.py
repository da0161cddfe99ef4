"""Which files a call goes through, traced, and whether docs/design/call-paths.md lists them.

A file is on the path of a call if it is on the call stack at one of the named moments: when one of its ``ends``, the
functions that do the work, is entered for the first time. A helper that was called before and has returned is not on the
stack, and not on the path. Files of `gnomon.core` (argument checks, running modules, threads) do not count.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

ROW = re.compile(r"^\| \d+ \| `([\w/]+\.py)` \|")
SHARED = "core/"


@dataclass(frozen=True, slots=True)
class CallPath:
    """A call, the files with the functions that do its work, and how many files it may go through."""

    title: str
    ends: tuple[tuple[str, str], ...]
    most: int


def traced(call: Callable[[], object], ends: tuple[tuple[str, str], ...], source: Path) -> list[list[str]]:
    """For each end the files on the stack when it is first entered, the outermost first; empty if it is never entered."""
    stacks: dict[tuple[str, str], list[str]] = {}
    wanted = set(ends)

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        end = (_place(frame, source), frame.f_code.co_name)
        if end in wanted and end not in stacks:
            stacks[end] = _stack(frame, source)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return [stacks.get(end, []) for end in ends]


def faults(path: CallPath, stacks: list[list[str]], page: str) -> list[str]:
    """What is wrong with a traced path: not as listed, too long, or not in one direction."""
    found = [f"{path.title}: {end} is never entered" for end, stack in zip(path.ends, stacks, strict=True) if not stack]
    files = list(dict.fromkeys(file for stack in stacks for file in stack))
    if len(files) > path.most:
        found.append(f"{path.title}: {len(files)} files, {path.most} are allowed: {', '.join(files)}")
    if (on_page := listed(page, path.title)) != files:
        found.append(f"{path.title}: the page lists {on_page}, the call goes through {files}")
    for stack in stacks:
        if len(set(stack)) < len(stack):
            found.append(f"{path.title}: a file is left and entered again: {' -> '.join(stack)}")
        if [file for file in files if file in stack] != list(dict.fromkeys(stack)):
            found.append(f"{path.title}: goes back to an earlier file: {' -> '.join(stack)}")
    return found


def listed(page: str, title: str) -> list[str]:
    """The files in the table below the heading of a call."""
    lines = page.splitlines()
    heading = next((i for i, line in enumerate(lines) if line.startswith("## ") and f"`{title}`" in line), len(lines))
    section: list[str] = []
    for line in lines[heading + 1 :]:
        if line.startswith("## "):
            break
        section += ROW.findall(line)
    return section


def _stack(frame: FrameType | None, source: Path) -> list[str]:
    """Files of the package from the first call to this frame; neighbors that are equal once."""
    files: list[str] = []
    while frame is not None:
        file = _place(frame, source)
        if file and not file.startswith(SHARED) and (not files or files[-1] != file):
            files.append(file)
        frame = frame.f_back
    return files[::-1]


def _place(frame: FrameType, source: Path) -> str:
    name = frame.f_code.co_filename
    return name[len(str(source)) + 1 :] if name.startswith(f"{source}/") else ""
