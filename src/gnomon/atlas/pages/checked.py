"""Renders the web page that says which statements of the theory hold on a user's own network.

>>> from gnomon.atlas.check import NetworkCheck
>>> row = {"title": "A title", "verdict": "holds", "reason": "It does.", "values": []}
>>> "It does." in network_check_html(NetworkCheck("net", 10, 0.1, (1.0, 0.5), {"some-id": row}))
True
"""

from html import escape
from pathlib import Path
from typing import Any

from gnomon.atlas.catalog import catalog
from gnomon.atlas.check import NetworkCheck
from gnomon.atlas.pages.formulas import formula_html
from gnomon.atlas.pages.layout import page_html
from gnomon.core.errors import add_call_to_errors
from gnomon.core.machine.files import write_file
from gnomon.core.results import format_number

__all__ = ["network_check_html", "write_network_check"]


def network_check_html(result: NetworkCheck) -> str:
    """Renders the results of `check_network`: the training run, then every statement of the theory with verdict and
    measurement.

    >>> "Of 0 statements" in network_check_html(NetworkCheck("net", 10, 0.1, (1.0, 0.5), {}))
    True
    """
    run = (
        f"A copy was trained on {result.examples} examples by full-batch descent with learning rate "
        f"{format_number(result.lr)}; its loss went from {format_number(result.loss[0])} to "
        f"{format_number(result.loss[1])}."
    )
    parts = [f"<p>{escape(result.verdict)}</p><p class=aside>{escape(run)}</p>"]
    return "".join([*parts, *(_section(name, row) for name, row in result.rows.items())])


@add_call_to_errors
def write_network_check(result: NetworkCheck, path: Path) -> Path:
    """Writes the page with statements checked on a network to a file that works offline, and returns the file's path.

    Cost: none beyond the file.

    >>> import tempfile
    >>> write_network_check(NetworkCheck("net", 10, 0.1, (1.0, 0.5), {}),
    ...     Path(tempfile.mkdtemp()) / "page.html").exists()
    True
    """
    return write_file(path, page_html(f"Theory on {result.network}", network_check_html(result), links=False))


def _section(name: str, row: dict[str, Any]) -> str:
    entry = catalog().get(name)
    equation = f"<div class=equation>{formula_html(entry.claim.equation)}</div>" if entry else ""
    values = "".join(f"<tr><th>{escape(v['name'])}</th><td>{escape(_number(v))}</td></tr>" for v in row["values"])
    figure = f"<div class=figure>{row['figure']}</div>" if "figure" in row else ""
    return (
        f"<h2>{escape(row['title'])}</h2><p class=aside>{escape(name)}</p>{equation}"
        f"<p><span class='verdict {row['verdict']}'>{row['verdict']}</span>. {escape(row['reason'])}</p>"
        f"<div class=table><table>{values}</table></div>{figure}"
    )


def _number(value: dict[str, Any]) -> str:
    return value["value"] if isinstance(value["value"], str) else format_number(value["value"])
