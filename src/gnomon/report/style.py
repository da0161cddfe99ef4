"""The look of a page: one column, a light and a dark color scheme, paper."""

__all__ = ["CSS", "PALETTE"]

PALETTE = """
:root { color-scheme: light dark; --ground: #fdfcf9; --text: #22242a; --soft: #6a6f7a; --line: #dedbd2;
  --panel: #f4f1e9; --first: #b5367a; --second: #2f62a8; --third: #b57508; --fourth: #2f7d4b; --fifth: #6a6f7a;
  --good: #2f7d4b; --note: #4a6a8a; --warning: #7a6a2a; --problem: #b3261e; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #16181d; --text: #e6e4de; --soft: #9aa0ab;
  --line: #333842;
  --panel: #1e2129; --first: #f06fae; --second: #7fb0f5; --third: #e8b04a; --fourth: #74c690; --fifth: #9aa0ab;
  --good: #74c690; --note: #9ab8d8; --warning: #d9c46a; --problem: #ff8a80; } }
"""
"""Colors of pages by name, for light and dark screens."""

CSS = (
    PALETTE
    + """
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 0 1.2rem; }
header { padding-top: 1.6rem; } main { padding-bottom: 3rem; }
.brand { margin: 0; letter-spacing: .14em; text-transform: uppercase; font-size: .72rem; color: var(--soft); }
h1 { margin: .1rem 0 .9rem; font-size: 1.35rem; line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .2rem; line-height: 1.3; }
main > h2, .todo { font-size: .8rem; text-transform: uppercase; letter-spacing: .08em; color: var(--soft);
  margin-top: 1.4rem; }
a { color: var(--second); } p { margin: .4rem 0; }
section { border-top: 1px solid var(--line); padding: 1.6rem 0 1rem; overflow-wrap: break-word; }
.verdict { border-left: .4rem solid currentColor; background: var(--panel); border-radius: .5rem;
  padding: .8rem 1.2rem; }
.verdict p { color: var(--text); font-size: 1.3rem; line-height: 1.4; font-weight: 600; margin: 0;
  overflow-wrap: anywhere; }
.facts { margin: -.6rem 0 .9rem; color: var(--soft); font-size: .9rem; display: flex; flex-wrap: wrap;
  gap: 0 1.2rem; }
.calm { margin: 1.2rem 0; color: var(--soft); }
.answer { font-size: 1.08rem; max-width: 48rem; margin: .5rem 0; }
.aside, .cost { color: var(--soft); font-size: .88rem; margin: .1rem 0; }
.cost { text-align: right; font-size: .78rem; }
.findings { padding: 0; margin: .5rem 0; list-style: none; counter-reset: finding; }
.findings li { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0;
  padding: .6rem .9rem; }
.fix { display: block; font-weight: 600; margin-top: .15rem; }
.fix::before { content: "→ "; color: var(--good); }
.more { font-size: .88rem; font-weight: 400; }
.strip { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1.3rem 0; }
.tile { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .6rem; color: inherit;
  text-decoration: none; font-size: .82rem; line-height: 1.3; display: flex; flex-direction: column;
  justify-content: space-between; gap: .3rem; min-width: 0; }
.tile:hover, .tile:focus-visible { border-color: var(--second); background: var(--panel); }
.tile svg { width: 100%; height: auto; }
.faces { display: grid; grid-template-columns: repeat(3, 1fr); gap: .25rem; }
.faces img { width: 100%; aspect-ratio: 1; image-rendering: pixelated; border-radius: .2rem; background: #000;
  object-fit: contain; }
.rows { font: .68rem/1.5 ui-monospace, monospace; color: var(--soft); }
.rows span { display: block; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
nav { columns: 14rem; column-gap: 1.2rem; padding: .4rem 0 1.2rem; font-size: .88rem; line-height: 1.75; }
nav a { color: inherit; text-decoration: none; display: block; break-inside: avoid; }
nav a:hover { text-decoration: underline; } nav .mark { display: inline-block; width: 1rem; }
.mark { font-weight: 700; } .good { color: var(--good); } .note, .skipped, .unsure { color: var(--note); }
.warning { color: var(--warning); } .problem, .failed { color: var(--problem); }
.badge { font-size: .72rem; font-weight: 600; border: 1px solid currentColor; border-radius: 1rem;
  padding: .05rem .5rem; vertical-align: .1em; white-space: nowrap; }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, monospace; background: var(--panel); padding: .05rem .25rem;
  border-radius: .25rem; overflow-wrap: anywhere; }
.findings code { background: var(--ground); }
.term { font: inherit; color: inherit; background: none; border: 0; border-radius: 0; padding: 0; cursor: help;
  text-align: inherit; display: inline; text-decoration: underline dotted 1px; text-underline-offset: .2em; }
.whole { white-space: nowrap; }
[popover] { position: fixed; inset: auto 1rem 1.2rem 1rem; margin: 0 auto; max-width: 34rem; font-weight: 400;
  font-size: .95rem; color: var(--text); background: var(--panel); border: 1px solid var(--soft);
  border-radius: .6rem; padding: .8rem 1rem; box-shadow: 0 .4rem 2rem rgb(0 0 0 / .25); }
[popover] strong { display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th { font-weight: 500; } td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.open { display: grid; grid-template-columns: minmax(0, 32rem) minmax(15rem, 1fr); gap: 0 1.6rem; align-items: start; }
.open .answer { margin-top: 1.1rem; } .open figure { margin-top: .6rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 1.6rem;
  align-items: start; }
figure { margin: .8rem 0; max-width: 32rem; min-width: 0; } figure svg { width: 100%; height: auto; }
figcaption { font-size: .88rem; color: var(--soft); }
.gallery { list-style: none; padding: 0; margin: .9rem 0; display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); font-size: .84rem; line-height: 1.4; }
.gallery.wide { grid-template-columns: 1fr; }
.gallery img { display: block; width: 100%; aspect-ratio: 1; object-fit: contain; image-rendering: pixelated;
  background: #000; border-radius: .3rem; margin-bottom: .3rem; }
.gallery .aside { font-size: inherit; }
.tokens { display: block; font: .85rem/1.7 ui-monospace, monospace; overflow-wrap: anywhere; }
.tokens i { font-style: normal; background: var(--panel); border: 1px solid var(--line); border-radius: .25rem;
  padding: 0 .25rem; }
details { margin: .5rem 0; font-size: .95rem; } summary { cursor: pointer; color: var(--soft); padding: .15rem 0; }
.equation { font-family: Cambria, Georgia, serif; font-style: italic; overflow-wrap: anywhere; }
.reasons { list-style: none; padding: 0; } .reasons li { margin: .6rem 0; } .reasons b { font-weight: 600; }
.premises { list-style: none; padding: 0; } .premises li { margin: .3rem 0; }
.references { font-size: .88rem; padding-left: 1.1rem; } .references li { margin: .25rem 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.6rem; } .pair > * { min-width: 0; }
.pair h2 { margin-top: 1rem; }
.pair h3 { font-size: 1rem; margin: .3rem 0; overflow-wrap: anywhere; } .pair .verdict p { font-size: 1.1rem; }
.better { font-weight: 700; } td.number { text-align: right; width: 22%; }
@media (max-width: 44rem) { .pair, .open { grid-template-columns: 1fr; }
  .open .answer { margin-top: .2rem; } .verdict p { font-size: 1.12rem; }
  .strip { grid-template-columns: repeat(auto-fill, minmax(6.6rem, 1fr)); } header, main { padding: 0 1rem; }
  header { padding-top: 1.1rem; } }
@media print { :root { color-scheme: light; --ground: #fff; --panel: #fff; }
  body { font-size: 10.5pt; } header, main { max-width: none; padding: 0; } nav, .more { display: none; }
  .strip { grid-template-columns: repeat(6, 1fr); } .term { text-decoration: none; } .cost { display: none; }
  section { padding: .7rem 0 .3rem; } table { font-size: .85em; } th, td { padding: .12rem .6rem .12rem 0; }
  .open { grid-template-columns: 1fr 1fr; } details { margin: .2rem 0; }
  [popover] { display: block; position: static; margin: 0; max-width: none; border: 0; box-shadow: none;
    padding: 0 0 .3rem; font-size: .85em; } [popover] strong { display: inline; }
  details::details-content { content-visibility: visible; height: auto; } details > summary { list-style: none; }
  figure, li, tr, .verdict { break-inside: avoid; } h2 { break-after: avoid; }
  .plots { grid-template-columns: 1fr 1fr; } }
"""
)
"""The style sheet of every page."""
