"""Equations of docstrings become formulas, and no sign is lost, added or moved on the way."""

import re
from html import unescape
from runpy import run_path

import pytest

from tests.house.tree import ROOT, SOURCE, docstrings, modules, parse

pytest.importorskip("latex2mathml")
equations = run_path(str(ROOT / "docs" / "hooks" / "equations.py"))


def numbered_blocks():
    """Numbered equations of all docstrings, by place; claims are left out because their pages have other formulas."""
    return {
        f"{name}.{inner}-{i}": block
        for name, path in modules(SOURCE).items()
        if ".claims." not in name
        for inner, text in docstrings(parse(path))
        for i, block in enumerate(equations["BLOCK"].findall(text))
        if equations["numbered"](block)
    }


SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "←": "<-", "∼": "~", "⟨": "<", "⟩": ">", "…": "...", "−": "-"}
SIGNS |= {"∑": "sum", "∏": "prod", "∇": "grad", "𝔼": "E", "𝒩": "N", "′": "'", "∗": "*", "·": ".", "⋅": "."}
GREEK = dict(zip(
    "α β γ δ ζ η θ ι κ λ μ ν ξ π ρ σ τ ϕ φ χ ψ ω Γ Δ Θ Λ Ξ Π Σ Φ Ψ Ω ε".split(),
    ("alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi phi chi psi omega Gamma Delta "
     "Theta Lambda Xi Pi Sigma Phi Psi Omega eps").split(), strict=True,
))  # fmt: skip


def bare(text: str) -> str:
    """The signs of a text in their order, without spaces, scripts, brackets and roots."""
    text = text.replace("sqrt", "").replace("²", "2")
    return re.sub(r"[\s_^{}()`\u00a0\u2062]", "", text)


def signs(html: str) -> str:
    """What a formula shows, each sign written in plain characters again."""
    text = unescape(re.sub(r"<[^>]+>", "", html))
    return bare("".join(SIGNS.get(sign, GREEK.get(sign, sign)) for sign in text))


def test_the_formulas_say_what_the_docstrings_say():
    blocks = numbered_blocks()
    assert len(blocks) > 80
    for place, block in blocks.items():
        assert signs(equations["display"](block)) == bare(re.sub(r"(\d)e(-?\d+)", r"\1.10\2", block)), place


@pytest.mark.parametrize(
    ("plain", "tex"),
    [
        ("lambda_1", r"\lambda _{1}"),
        ("sqrt(a b)", r"\sqrt{a\,b}"),
        ("K_mn y^T", r"K_{mn}\,y^{T}"),
        ("A^{-1}", "A^{-1}"),
        ("D^(-1/2)", "D^{-1/2}"),
        ("a <= b", r"a \le  b"),
        ("fan_in", r"\text{fan_in}"),
        ("<x, y>", r"\langle x,\,y\rangle "),
        ("q* = V(q*)", r"q^{*} = V(q^{*})"),
        ("|x * psi_1| * phi", r"\vert x \ast  \psi _{1}\vert  \ast  \phi "),
        ("E[f(u)]", r"\mathbb{E}[f(u)]"),
        ("E_ic", r"E_{ic}"),
        ("1e-3", r"1\cdot 10^{-3}"),
        ("cross-entropy", r"\text{cross-entropy}"),
        ("sum over k", r"\text{sum}\ \text{over}\ k"),
        ("sum_k h_k", r"\sum _{k}\,h_{k}"),
    ],
)
def test_plain_characters_as_tex(plain, tex):
    assert equations["tex"](plain) == tex


def test_columns_are_where_all_lines_begin_a_part():
    lines = ["squared         l = a", "cross-entropy   l = b", "                l = c"]
    assert equations["columns"](lines) == [16]
    assert equations["columns"](["a = b    c", "long = de f"]) == []


def test_numbers_stand_at_the_right_and_prose_blocks_are_left():
    block = "    a = b        (1)\n    c = d\n"
    shown = equations["display"](block)
    assert shown.count("<tr>") == 2 and "<td class='number'>(1)</td>" in shown
    assert equations["replaced"]("\n\n    just code(1)\n") == "\n\n    just code(1)\n"
    assert "<math" in equations["replaced"]("text\n\n" + block)
