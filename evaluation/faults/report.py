"""Lines and tables of results: what was found, what was missed, which healthy cases got a false alarm."""

from collections import Counter

from benchmarks.measure import record
from evaluation.faults.registry import RANDOM_HEALTHY, SOURCES
from gnomon.core.metrics import binomial_interval

BUDGET_FACTOR = 1.15
BUDGET_EXTRA_SECONDS = 5.0
"""An examination is over budget if it takes longer than 1.15 x budget + 5 s."""

ACCURACY_MARGIN = 0.03
"""Training in an examination should come within 3 points of a plain loop with as much time."""

Results = dict[str, dict]
"""The results of `examine_case`, by the id of the case."""


def over_budget(result: dict) -> bool:
    """Whether the examination took too long."""
    return result["seconds"] > BUDGET_FACTOR * result["budget"] + BUDGET_EXTRA_SECONDS


def outcome(result: dict) -> str:
    """In one or two words."""
    if result["kind"] == "healthy":
        return "false alarm" if result["faults"] else "clean"
    return "found first" if result["found_first"] else "found" if result["found_at_all"] else "missed"


def one_line(result: dict) -> str:
    """One case in one line, for the terminal."""
    if result["kind"] == "healthy":
        details = ", ".join(result["faults"])
    else:
        details = ", ".join(result["found"][:3]) or result.get("refused", "")[:100]
    accuracy = ""
    if "plain_accuracy" in result:
        accuracy = f", accuracy {result['accuracy']:.3f} (plain loop {result['plain_accuracy']:.3f})"
    marks = [text for text, on in (("OVER BUDGET", over_budget(result)), ("CRASHED", "crash" in result),
                                   ("NETWORK CHANGED", not result.get("unchanged", True))) if on]  # fmt: skip
    marks += [f"section failed: {text}" for text in result.get("failed_sections", ())]
    return "; ".join(
        [
            f"{result['id']}: {outcome(result)}",
            *([details] if details else []),
            f"{result['seconds']:.0f} s{accuracy}",
            *marks,
        ]
    )


def counts(results: Results) -> str:
    """How many healthy cases had a false alarm, and how many faults were found."""
    tally = Counter((r["kind"], outcome(r)) for r in results.values())
    healthy, faulty = (sum(n for (kind, _), n in tally.items() if kind == side) for side in ("healthy", "faulty"))
    first = tally["faulty", "found first"]
    return (
        f"{healthy} healthy cases, {tally['healthy', 'false alarm']} with a false alarm. {faulty} faulty cases, {first} "
        f"found first, {first + tally['faulty', 'found']} found at all"
    )


def circumstances(results: Results) -> str:
    """Budgets, clocks, load and seeds of the runs."""
    kinds = Counter((r["budget"], "processor time" if r["cpu_time"] else "wall time") for r in results.values())
    budgets = "; ".join(f"{n} runs with {budget:g} s of {clock}" for (budget, clock), n in kinds.items())
    cores = [r["cores"] for r in results.values() if "cores" in r and not r["cpu_time"]]
    load = f" ({sum(cores) / len(cores):.0%} of a core on average)" if cores else ""
    late = sum(map(over_budget, results.values()))
    return (
        f"{budgets}{load}. {late} runs took longer than {BUDGET_FACTOR} x budget + {BUDGET_EXTRA_SECONDS:g} s. "
        f"Seeds: {', '.join(map(str, sorted({r['seed'] for r in results.values()})))}."
    )


def summarize(source: str, results: Results, earlier: Results, *, write: bool) -> None:
    """Prints a summary of one collection; ``write`` replaces its table on its results page."""
    if not results:
        return
    if source == RANDOM_HEALTHY:
        return _summarize_random(results, write=write)
    compared = [r for r in results.values() if "plain_accuracy" in r]
    close = sum(r["accuracy"] >= r["plain_accuracy"] - ACCURACY_MARGIN for r in compared)
    note = f"{counts(results)}.\n{circumstances(results)}"
    if compared:
        note += f"\nTraining came within 3 points of a plain loop of the same time in {close} of {len(compared)} healthy cases."
    if earlier:
        note += f"\nEarlier run: {counts(earlier)}. {circumstances(earlier)}"
    print(f"{source}: {note}")
    if write:
        columns = ["case", *(["earlier run"] if earlier else []), "outcome", "findings", "time"]
        rows = [_row(r, earlier) for r in sorted(results.values(), key=lambda r: r["kind"] != "healthy")]
        record(f"faults-{source}", f"Collection {source}: {SOURCES[source]}", columns, rows, note)


def _row(result: dict, earlier: Results) -> list[str]:
    named = ", ".join(result["faults"] if result["kind"] == "healthy" else result["found"][:3]) or "none"
    named = "an error that names the fault" if result.get("refused") and result["found_at_all"] else named
    before = [outcome(earlier[result["id"]]) if result["id"] in earlier else "not run"] if earlier else []
    return [result["id"], *before, outcome(result), named, f"{result['seconds']:.0f} s"]


def _summarize_random(results: Results, *, write: bool) -> None:
    alarms = [r for r in results.values() if r["faults"]]
    lesser = [
        (kind, kind in r.get("notes", ())) for r in results.values() for kind in r["found"] if kind not in r["faults"]
    ]
    warnings, notes = (Counter(kind for kind, is_note in lesser if is_note is side) for side in (False, True))
    upper = binomial_interval(len(alarms), len(results)).high
    note = (
        f"{len(results)} healthy cases drawn at random, {len(alarms)} with a false alarm ({len(alarms) / len(results):.1%}; "
        f"at most {upper:.1%} at 95 % confidence).\n{circumstances(results)}\n"
        f"Warnings, which do not count as faults: {_listed(warnings)}. Notes: {_listed(notes)}."
    )
    print(note)
    if write:
        rows = [[r["id"], ", ".join(r["faults"]), (r.get("messages") or r["faults"])[0]] for r in alarms]
        record("faults", "False alarms on healthy networks drawn at random", ["case", "fault", "message"], rows, note)


def _listed(tally: Counter) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in tally.most_common()) or "none"
