"""Equations as docstrings write them, in plain characters, set as formulas: plain characters -> TeX -> MathML.

Every sign is replaced by its typeset form and nothing is moved: ``lambda_1`` becomes a Greek letter with an index,
``sqrt(a b)`` a root, ``<=`` one sign, a fraction stays on its line. A word of several letters is set upright. Browsers
draw MathML themselves, so that the pages need neither scripts nor fonts nor a network.

A block is split into columns where all its lines begin a new part at the same place; ``(1)`` at the end of a line,
after two spaces, is its number.

    K u_i = lambda_i u_i,   |rho| <= 1      (1)
"""

import re
from html import escape
from itertools import pairwise

from latex2mathml import exceptions
from latex2mathml.converter import convert

NUMBER = re.compile(r"\s{2,}\((\d+[a-z]?)\)\s*$")
BLOCK = re.compile(r"(?:(?<=\n\n)|\A)(?:^ {4,}(?!>>>|\.\.\.).*\n?)+", re.MULTILINE)
FENCE = re.compile(r"^```equation\n(.*?)^```", re.MULTILINE | re.DOTALL)

GREEK = (
    "alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
FUNCTIONS = "log exp sin cos tan max min det arg".split()
OPERATORS = "tr trace diag sign erf softmax cov mean asin acos atan atan2 tanh relu step floor binom concat".split()
WORDS = "of in at is or to on by as if it no be an so and the for with over per from where which".split()
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "->": r"\to ", "<-": r"\leftarrow ", "~": r"\sim ", "...": r"\ldots ",
    "²": "^{2}", "³": "^{3}", "·": r"\cdot ", "±": r"\pm ", "−": "-", "&": r"\& ", "%": r"\% ", "#": r"\# ",
}  # fmt: skip
IDENTIFIER = rf"(?!(?:{'|'.join(GREEK)})_)[A-Za-z]{{2,}}(?:_[A-Za-z]{{2,}})+"  # fan_in, one name
COMPOUND = r"[A-Za-z]{3,}(?:-[a-zA-Z]{3,})+|[A-Za-z]{3,}'s\b"  # cross-entropy
TOKEN = re.compile(
    rf"``[^`]*``|\"[^\"]*\"|`[^`]*`|\d+(?:\.\d+)?(?:e[-+]?\d+)?|{IDENTIFIER}|{COMPOUND}|[^\W\d_]+"
    r"|<=|>=|!=|->|<-|\.\.\.|\s+|.",
    re.DOTALL,
)
UNARY = re.compile(r"(<mrow>|(?:&#x00028;|\[|&#x0003D;|,)</mo>)<mo>(?=&#x02212;)")
"""A minus that opens a formula, a bracket or a side of an equation."""


def replaced(markdown: str) -> str:
    """A page with its equation blocks, indented and numbered or fenced as ``equation``, set as formulas."""
    markdown = FENCE.sub(lambda match: display(match[1]), markdown)
    return BLOCK.sub(lambda match: display(match[0]) if numbered(match[0]) else match[0], markdown)


def numbered(block: str) -> bool:
    """Whether a line of a block ends in a number such as (1)."""
    return any(NUMBER.search(line) for line in block.splitlines())


def display(block: str) -> str:
    """An equation block as an HTML table: a row for each line, its parts in columns, its number at the right."""
    lines = [line.rstrip() for line in block.expandtabs().splitlines() if line.strip()]
    numbers = [match[1] if (match := NUMBER.search(line)) else "" for line in lines]
    texts = [NUMBER.sub("", line) for line in lines]
    breaks = [0, *columns(texts), max(map(len, texts))]
    rows = []
    for text, number in zip(texts, numbers, strict=True):
        cells = "".join(f"<td>{_cell(text[start:end])}</td>" for start, end in pairwise(breaks))
        rows.append(f"<tr>{cells}<td class='number'>{f'({number})' if number else ''}</td></tr>")
    return f"\n<div class='equations'><table class='equation'>{''.join(rows)}</table></div>\n\n"


def columns(lines: list[str]) -> list[int]:
    """Places at which all lines begin a new part, or have ended, or have not begun; two of them at least begin it."""
    found = []
    for place in range(2, max(map(len, lines))):
        begin = [line for line in lines if line[place - 1 : place + 1].strip() == line[place : place + 1].strip() != ""]
        gaps = any(line[place - 2 : place].isspace() and line[:place].strip() for line in begin)
        others = [line for line in lines if line not in begin and line[:place].strip() and len(line) > place]
        if gaps and not others and len(begin) > 1 and all(_balanced(line[:place]) for line in lines):
            found.append(place)
    return found


def mathml(text: str) -> str:
    """One formula in plain characters as MathML."""
    try:
        return UNARY.sub(r"\1<mo form='prefix'>", convert(tex(text.strip())))
    except (
        ValueError,
        exceptions.DoubleSuperscriptsError,
        exceptions.DoubleSubscriptsError,
    ):  # two exponents on one letter, and the like: shown as it was written
        return f"<code>{escape(text.strip())}</code>"


def tex(text: str) -> str:
    """One formula in plain characters as TeX."""
    tokens = TOKEN.findall(text)
    return _sequence(tokens, 0, len(tokens))


def _cell(text: str) -> str:
    parts = re.split(r"\s{2,}", text.strip())
    return "<span class='gap'></span>".join(mathml(part) for part in parts if part)


def _balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def _sequence(tokens: list[str], start: int, end: int) -> str:
    """Tokens from start to end, roots and scripts with their arguments."""
    out: list[str] = []
    place = start
    while place < end:
        token = tokens[place]
        if token in ("sqrt", "√") and place + 1 < end and tokens[place + 1] == "(":
            close = _closing(tokens, place + 1, end)
            out.append(r"\sqrt{" + _sequence(tokens, place + 2, close) + "}")
            place = close + 1
        elif token in "_^" and place + 1 < end:
            script, place = _script(tokens, place + 1, end)
            out.append(f"{token}{{{script}}}")
        else:
            out.append(_sign(tokens, place, start, end))
            place += 1
    return "".join(out)


def _script(tokens: list[str], place: int, end: int) -> tuple[str, int]:
    """An index or exponent: a group in braces or brackets, or one sign, with its own minus; and where it ends."""
    if tokens[place] in "{(":
        close = _closing(tokens, place, end)
        return _sequence(tokens, place + 1, close), close + 1
    last = place + 1 + (tokens[place] in "-+" and place + 1 < end and tokens[place + 1][0].isalnum())
    word = tokens[place]
    if len(word) > 1 and word.isalpha() and len(word) <= 3 and word not in GREEK and word not in FUNCTIONS:
        return word if word.islower() else rf"\mathrm{{{word}}}", last  # K_mn has two indices
    return _sequence(tokens, place, last), last


def _closing(tokens: list[str], place: int, end: int) -> int:
    """The bracket that closes the one at a place; the end where there is none."""
    pair, depth = {"(": ")", "{": "}"}[tokens[place]], 0
    for at in range(place, end):
        depth += (tokens[at] == tokens[place]) - (tokens[at] == pair)
        if depth == 0:
            return at
    return end - 1


def _sign(tokens: list[str], place: int, start: int, end: int) -> str:
    token = tokens[place]
    before = tokens[place - 1] if place > start else " "
    after = tokens[place + 1] if place + 1 < end else " "
    if token.isspace():
        return _space(tokens, place, start, end)
    if token[0] in '`"' and len(token) > 1:
        return rf"\text{{{_upright(token.strip('`'))}}}"
    if token[0].isdigit():
        mantissa, _, power = token.partition("e")
        return rf"{mantissa}\cdot 10^{{{int(power)}}}" if power else token
    if token[0].isalpha() and len(token) > 2 and not token.isalpha():
        return rf"\text{{{_upright(token)}}}"
    if token[0].isalpha():
        return _name(tokens, place, start, end)
    if token == "<" and before.isspace() and not after.isspace():
        return r"\langle "
    if token == ">" and not before.isspace():
        return r"\rangle "
    if token == "*":
        return "^{*}" if not before.isspace() else r"\ast "
    if token == ".":
        return r"\cdot " if (before.isspace() == after.isspace() and before != "\n" and place + 1 < end) else "."
    if token in "{}":
        return f"\\{token}"
    if token == "|":
        return r"\vert "
    return SIGNS.get(token, token)


def _name(tokens: list[str], place: int, start: int, end: int) -> str:
    """A letter, a Greek letter, a function, a differential, or a word."""
    name = tokens[place]
    after = tokens[place + 1] if place + 1 < end else " "
    if name in GREEK:
        return f"\\{name} "
    if name == "eps":
        return r"\varepsilon "
    if name in ("sum", "prod") and not _prose(tokens, place + 2, end):
        return f"\\{name} "
    if name == "grad":
        return r"\nabla "
    if name == "E" and "[" in tokens[place + 1 : place + 4 : 2] and after in "[_":
        return r"\mathbb{E}"
    if name == "N" and tokens[place + 1 : place + 3] == ["(", "0"]:
        return r"\mathcal{N}"
    if name in FUNCTIONS:
        return f"\\{name} "
    if name in OPERATORS:
        return rf"\text{{{name}}}"
    if len(name) == 1:
        alone = name == "a" and after == " " and _prose(tokens, place - 2, end) and _prose(tokens, place + 2, end)
        return rf"\text{{{name}}}" if alone else name
    if len(name) == 2 and name[0] == "d" and name not in WORDS:
        return rf"\mathrm{{d}}{name[1]}"
    if len(name) == 2 and name not in WORDS and not name.isupper():
        return rf"\mathit{{{name}}}"
    return rf"\text{{{_upright(name)}}}"


def _space(tokens: list[str], place: int, start: int, end: int) -> str:
    """A space is kept beside words, is thin between factors, and vanishes beside signs, which have their own."""
    before = tokens[place - 1] if place > start else ""
    after = tokens[place + 1] if place + 1 < end else ""
    if before == "*" and place - 2 >= start and tokens[place - 2].isspace():
        return " "  # a star between spaces is an operator, and not the end of q*
    factor = (before.isalnum() or before in ")]|'}*") and (after.isalnum() or after in "([|{√<")
    if _prose(tokens, place - 1, end) or _prose(tokens, place + 1, end):
        words = _prose(tokens, place - 1, end) and _prose(tokens, place + 1, end)
        return r"\ " if factor or words or before in ",;:" else " "
    return r"\," if factor or before in ",;:" else " "


def _prose(tokens: list[str], place: int, end: int) -> bool:
    """Whether a token is a word, and not a name or a function of mathematics."""
    if not 0 <= place < end:
        return False
    name = tokens[place]
    if name[0] in '`"':
        return len(name) > 1
    known = name in GREEK or name in FUNCTIONS or name in OPERATORS or name in ("sum", "prod", "sqrt", "grad", "eps")
    return re.sub("[-_']", "", name).isalpha() and not known and (len(name) > 2 or name in WORDS)


def _upright(text: str) -> str:
    return escape(text, quote=False)
