"""Converts texts of the atlas to HTML: Markdown, and formulas written in plain characters.

>>> text_html("It is **small**: `x`.")
'<p>It is <strong>small</strong>: <code>x</code>.</p>'
"""

import re
from html import escape

from gnomon.atlas.pages.formulas import formula_html

__all__ = ["inline_html", "plain_html", "text_html"]

INLINE = re.compile(r"\$(?P<tex>[^$]+)\$|`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|\*(?P<emphasis>[^*\s][^*]*)\*")

POWER = re.compile(r"\^(?:\{([^{}]+)\}|\(([^()]+)\)|(-?\w+(?:[./]\d+)?\*?))")
INDEX = re.compile(r"(?<![^\W_]{2})(?<=[^\W\d_])_(?:\{([^{}]+)\}|([^\W_]+))(?![\w(])")
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "kappa": "κ", "lambda": "λ", "rho": "ρ", "sigma": "σ", "pi": "π",
}  # fmt: skip
LETTER = re.compile(rf"(?<![^\W_])({'|'.join(GREEK)})(?![^\W_])")
SIGNS = {"sqrt(": "√(", " &lt;= ": " ≤ ", " &gt;= ": " ≥ ", " -&gt; ": " → ", "+-1": "±1"}


def plain_html(text: str) -> str:
    """Converts a sentence with a plain-text formula such as ``lambda_1^2`` to HTML with powers, indices, roots and
    Greek letters.

    >>> plain_html("order m^(-1/2 - 1/d) <= 1 / sqrt(n) for x_s, T_1 -> T_2 and lambda_max")
    'order m<sup>-1/2 - 1/d</sup> ≤ 1 / √(n) for x<sub>s</sub>, T<sub>1</sub> → T<sub>2</sub> and λ<sub>max</sub>'
    """
    shown = escape(text)
    for typed, sign in SIGNS.items():
        shown = shown.replace(typed, sign)
    shown = LETTER.sub(lambda match: GREEK[match[1]], shown)
    shown = INDEX.sub(lambda match: f"<sub>{match[1] or match[2]}</sub>", shown)
    return POWER.sub(lambda match: f"<sup>{match[1] or match[2] or match[3]}</sup>", shown)


def inline_html(text: str) -> str:
    """Converts Markdown inside a paragraph (code, links, bold text, formulas) to HTML.

    >>> inline_html("a < b, `c < d`")
    'a &lt; b, <code>c &lt; d</code>'
    """
    parts, at = [], 0
    for match in INLINE.finditer(text):
        parts += [escape(text[at : match.start()]), _element_html(match)]
        at = match.end()
    return "".join([*parts, escape(text[at:])])


def text_html(text: str) -> str:
    """Converts Markdown paragraphs, lists and code blocks to HTML.

    >>> text_html("One.\\n\\n- a\\n- b")
    '<p>One.</p><ul><li>a</li><li>b</li></ul>'
    """
    blocks = re.split(r"(^```.*?^```)|\n\s*\n", text.strip(), flags=re.MULTILINE | re.DOTALL)
    return "".join(_block(block.strip("\n")) for block in blocks if block and block.strip())


def _block(block: str) -> str:
    if block.startswith("```"):
        code = "\n".join(block.splitlines()[1:-1])
        return f"<pre><code>{escape(code)}</code></pre>"
    for mark, tag in ((r"[-*] +", "ul"), (r"\d+\. +", "ol")):
        if re.match(mark, block):
            items = re.split(rf"^{mark}", block, flags=re.MULTILINE)[1:]
            return f"<{tag}>{''.join(f'<li>{inline_html(_join_lines(item))}</li>' for item in items)}</{tag}>"
    if block.startswith("$$") and block.endswith("$$"):
        return f"<div class=equation>{formula_html(block.strip('$').strip())}</div>"
    return f"<p>{inline_html(_join_lines(block))}</p>"


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _element_html(match: re.Match[str]) -> str:
    if match["tex"]:
        return formula_html(match["tex"], display="inline")
    if match["code"]:
        return f"<code>{escape(match['code'])}</code>"
    tag = "strong" if match["bold"] else "em"
    return f"<{tag}>{inline_html(match['bold'] or match['emphasis'])}</{tag}>"
