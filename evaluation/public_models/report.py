"""The table of results and the counts below it."""

from typing import Any

Results = list[dict[str, Any]]

CLOSE = 3.0
"""Points by which training in an examination may be behind a plain loop of equal time."""
HEAD = ("model", "parameters", "accepted", "read correctly", "verdict", "problems", "points", "plain loop", "wall s")


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    if "missing" in result:
        return (result["id"], "", f"not run: {result['missing']}", *[""] * 6)
    head = (result["id"] + (" (rewritten)" if result["rewritten"] else ""), f"{result['parameters']:,}")
    plain = "" if result.get("plain_points") is None else f"{result['plain_points']:.1f}"
    if not result["accepted"]:
        return (*head, "no", "", short(result["refused"]), "", "", plain, f"{result['seconds']:.1f}")
    points = "" if result["points"] is None else f"{result['points']:.1f}"
    verdict = {True: "healthy", False: "not healthy", None: "cannot say"}[result["healthy"]]
    return (
        *head, "yes", "yes" if result["read_correctly"] else f"no: {result['reading']}, {result['classes']} classes",
        verdict, ", ".join(result["problems"]), points, plain, f"{result['seconds']:.1f}",
    )  # fmt: skip


def table(results: Results) -> str:
    """All results as a table in Markdown."""
    lines = [HEAD, tuple("---" for _ in HEAD), *map(row, results)]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def compact(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the report, the messages and the traceback, with rounded numbers, to be kept in the project."""
    left_out = {"report", "crash", "reading_text", "failed_sections"}
    kept = {name: value for name, value in result.items() if name not in left_out}
    kept = {name: round(value, 2) if isinstance(value, float) else value for name, value in kept.items()}
    if "findings" in kept:
        kept["findings"] = [[level, kind] for level, kind, _ in kept["findings"]]
    if "refused" in kept:
        kept["refused"] = short(kept["refused"], 200)
    return kept | {"failed_sections": [key for key, _ in result.get("failed_sections", ())]}


def close(result: dict[str, Any]) -> bool:
    """Whether the examination trained about as well as the plain loop, or better."""
    both = result.get("points") is not None and result.get("plain_points") is not None
    return both and result["points"] >= result["plain_points"] - CLOSE


def speed(result: dict[str, Any]) -> float | None:
    """Training steps in a second of processor time, divided by the steps of the plain loop; None if not measured."""
    plain, seconds = result.get("plain_steps_per_second"), result.get("training_seconds")
    return result["training_steps"] / seconds / plain if plain and seconds else None


def seconds(result: dict[str, Any]) -> float:
    """What the examination took, counted as its budget: in processor time or in wall time."""
    return result["processor_seconds" if result.get("cpu_time") else "seconds"]


def counts(results: Results) -> dict[str, int]:
    """The figures of the acceptance criteria."""
    run = [result for result in results if "missing" not in result]
    accepted = [result for result in run if result["accepted"]]
    return {
        "run": len(run),
        "accepted": len(accepted),
        "read correctly": sum(result["read_correctly"] for result in accepted),
        "with false problems": sum(bool(result["false_problems"]) for result in accepted),
        "with a failed section": sum(bool(result["failed_sections"]) for result in accepted),
        "within 3 points of a plain loop": sum(map(close, accepted)),
        "over the budget by a tenth": sum(seconds(result) > 1.1 * result["budget"] + 2 for result in accepted),
        "training at 80 % of the plain loop's speed": sum((speed(result) or 0) >= 0.8 for result in accepted),
    }


def summary(results: Results) -> str:
    """The counts, one in a line."""
    return "\n".join(f"{name}: {count}" for name, count in counts(results).items())


def short(text: str, most: int = 90) -> str:
    """A text in one line, cut to a length."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."
