"""The look of a page: one column, a light and a dark color scheme, paper."""

__all__ = ["CSS", "PALETTE"]

PALETTE = """
:root { color-scheme: light dark; --ground: #fdfcf9; --text: #22242a; --soft: #6a6f7a; --line: #dedbd2;
  --panel: #f4f1e9; --first: #b5367a; --second: #2f62a8; --third: #b57508; --fourth: #2f7d4b; --fifth: #6a6f7a;
  --good: #2f7d4b; --note: #4a6a8a; --warning: #7a6a2a; --fault: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181d; --text: #e6e4de; --soft: #9aa0ab; --line: #333842;
  --panel: #1e2129; --first: #f06fae; --second: #7fb0f5; --third: #e8b04a; --fourth: #74c690; --fifth: #9aa0ab;
  --good: #74c690; --note: #9ab8d8; --warning: #d9c46a; --fault: #ff8a80; } }
"""
"""Colors of pages by name, for light and dark screens."""

CSS = (
    PALETTE
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 52rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
.brand { margin: 0; letter-spacing: .14em; text-transform: uppercase; font-size: .75rem; color: var(--soft); }
h1 { margin: .2rem 0 1.2rem; font-size: 1.7rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 0 0 .3rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
section { border-top: 1px solid var(--line); padding: 1.4rem 0; }
.box { background: var(--panel); border: 1px solid var(--line); border-radius: .6rem; padding: 1.2rem 1.4rem; }
.box p { margin: .3rem 0; }
.answer { font-size: 1.05rem; }
.aside, .cost { color: var(--soft); font-size: .88rem; margin: .2rem 0; }
.aside a { color: inherit; }
.cost { text-align: right; }
ol { padding-left: 1.3rem; margin: .4rem 0; } ol li { margin: .5rem 0; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 1rem 0; font-size: .9rem; }
nav a { color: inherit; text-decoration: none; } nav a:hover { text-decoration: underline; }
.mark { font-weight: 700; } .good { color: var(--good); } .note, .skipped, .unsure { color: var(--note); }
.warning { color: var(--warning); }
.fault, .failed { color: var(--fault); }
.badge { font-size: .72rem; font-weight: 600; border: 1px solid currentColor; border-radius: 1rem;
  padding: .05rem .5rem; vertical-align: middle; white-space: nowrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th { font-weight: 500; } td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 0 1.2rem; }
figure { margin: 1.2rem 0; } figure svg { width: 100%; height: auto; max-height: 26rem; }
figcaption { font-size: .88rem; color: var(--soft); }
details { margin: .6rem 0; font-size: .92rem; } summary { cursor: pointer; color: var(--soft); }
cite { font-style: normal; color: var(--soft); }
.equation { font-family: Cambria, Georgia, serif; font-style: italic; overflow-wrap: anywhere; }
.premises { list-style: none; padding: 0; } .premises li { margin: .3rem 0; }
@media print { :root { --ground: #fff; --panel: #fff; } nav { display: none; } details { display: block; }
  section, figure { break-inside: avoid; } body { font-size: 11pt; } }
"""
)
"""The style sheet of every page."""
