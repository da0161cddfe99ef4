"""Returns the CSS of report pages: a contents list that stays visible, two columns on wide screens, dark mode,
print.
"""

__all__ = ["CSS", "PALETTE"]

PALETTE = """
:root { color-scheme: light dark; --ground: #fdfcf9; --text: #22242a; --soft: #6a6f7a; --line: #dedbd2;
  --panel: #f4f1e9; --tint: #ecd3e0;
  --first: #b5367a; --second: #2f62a8; --third: #b57508; --fourth: #2f7d4b; --fifth: #6a6f7a;
  --good: #2a7145; --note: #4a6a8a; --warning: #7a6a2a; --problem: #b3261e; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #16181d; --text: #e6e4de; --soft: #9aa0ab;
  --line: #333842;
  --panel: #1e2129; --tint: #4a2a3c;
  --first: #f06fae; --second: #7fb0f5; --third: #e8b04a; --fourth: #74c690; --fifth: #9aa0ab;
  --good: #74c690; --note: #9ab8d8; --warning: #d9c46a; --problem: #ff8a80; } }
"""
"""Colors of pages by name, for light and dark screens."""

CSS = (
    PALETTE
    + """
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header, .frame { max-width: 84rem; margin: 0 auto; padding: 0 1.2rem; }
header { padding-top: 1.2rem; } main { padding-bottom: 3rem; min-width: 0; }
.frame { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.8rem; }
.brand { margin: 0; letter-spacing: .14em; text-transform: uppercase; font-size: .72rem; color: var(--soft); }
h1 { margin: .1rem 0 .9rem; font-size: 1.35rem; line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .2rem; line-height: 1.3; }
main > h2, .todo { font-size: .8rem; text-transform: uppercase; letter-spacing: .08em; color: var(--soft);
  margin-top: 1.4rem; }
a { color: var(--second); } p { margin: .4rem 0; }
section { padding: .2rem 0 1rem; overflow-wrap: break-word; }
section.plain { border-top: 1px solid var(--line); padding-top: 1rem; }
.part { border-top: 1px solid var(--line); margin: 0; font-size: 1rem; }
details.part { color: var(--text); }
.part > summary { padding: .5rem 0; color: var(--text); display: flex; flex-wrap: wrap; gap: .1rem .6rem;
  align-items: baseline; }
.part > summary::before { content: "▸"; color: var(--soft); width: .8rem; }
.part[open] > summary::before { content: "▾"; }
.part > summary::-webkit-details-marker { display: none; }
.part > summary h2 { display: inline; font-size: 1.05rem; margin: 0; }
.part .line { color: var(--soft); font-size: .9rem; flex: 1 1 20rem; min-width: 0; overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; }
.part[open] > summary .line { display: none; }
.part.problem > summary h2, .part.failed > summary h2 { color: var(--problem); }
.board { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.8rem; margin-bottom: 1.2rem; }
.board .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 0 1.2rem;
  align-items: start; align-content: start; }
.board .large-figure { grid-column: 1 / -1; }
.large-figure { max-width: 46rem; } .phone-figure { display: none; grid-column: 1 / -1; }
@media screen and (max-width: 36rem) { .large-figure { display: none; } .phone-figure { display: block; } }
.proven { display: block; color: var(--good); font-size: .92rem; }
.several { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: .2rem; }
.bars td, .bars th { padding: .2rem .6rem .2rem .3rem; white-space: nowrap; }
.bars thead th { font-weight: 600; border-top: 0; }
.bar { background: linear-gradient(to right, var(--tint) var(--w), transparent var(--w)); }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
figure { position: relative; }
.tools { display: flex; flex-wrap: wrap; gap: .25rem; margin: .2rem 0; }
.tools button, nav button, dialog button, .tools select { font: .76rem/1.4 system-ui, sans-serif; color: var(--text);
  background: var(--panel); border: 1px solid var(--line); border-radius: .3rem; padding: .1rem .45rem;
  cursor: pointer; }
.tools button[aria-pressed="false"] { color: var(--soft); background: none; }
.tools.sort { font-size: .8rem; color: var(--soft); align-items: center; }
nav button { margin-top: .6rem; }
.tip { position: absolute; top: .2rem; max-width: 22rem; background: var(--panel); border: 1px solid var(--soft);
  color: var(--text); border-radius: .3rem; padding: .15rem .5rem; font-size: .82rem; pointer-events: none;
  z-index: 2; }
.pointed { fill: none; stroke: var(--text); stroke-width: 1; pointer-events: none; }
.drawn text { font: 10px system-ui, sans-serif; fill: currentColor; }
.drawn .title { font-weight: 700; font-size: 10.5px; }
.drawn .grid { stroke: currentColor; opacity: .12; }
.drawn .frame { fill: none; stroke: currentColor; stroke-width: .7; }
svg:focus-visible { outline: 2px solid var(--second); outline-offset: 2px; }
.live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
dialog.large { width: min(94vw, 80rem); max-height: 94vh; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--ground); color: var(--text); } dialog.large figure { max-width: none; }
dialog.large::backdrop { background: rgb(0 0 0 / .5); }
.verdict { border-left: .4rem solid currentColor; background: var(--panel); border-radius: .5rem;
  padding: .8rem 1.2rem; }
.verdict p { color: var(--text); font-size: 1.3rem; line-height: 1.4; font-weight: 600; margin: 0;
  overflow-wrap: anywhere; }
.facts { margin: -.6rem 0 .9rem; color: var(--soft); font-size: .9rem; display: flex; flex-wrap: wrap;
  gap: 0 1.2rem; }
.certainty { margin: .7rem 0; font-size: .95rem; max-width: 64rem; }
.legend { margin: .4rem 0 0; color: var(--soft); font-size: .8rem; display: flex; flex-wrap: wrap; gap: 0 .7rem; }
.calm { margin: .5rem 0 1.2rem; max-width: 48rem; }
.answer { font-size: 1.08rem; max-width: 48rem; margin: .5rem 0; }
.aside, .cost { color: var(--soft); font-size: .88rem; margin: .1rem 0; }
.cost { text-align: right; font-size: .78rem; }
.findings { padding: 0; margin: .5rem 0; list-style: none; counter-reset: finding; }
.findings li { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0;
  padding: .6rem .9rem; }
.fix { display: block; font-weight: 600; margin-top: .15rem; }
.fix::before { content: "→ "; color: var(--good); }
.more { font-size: .88rem; font-weight: 400; }
nav { columns: 14rem; column-gap: 1.2rem; padding: .2rem 0 .8rem; font-size: .88rem; line-height: 1.75; order: 2; }
nav a[aria-current] { font-weight: 700; }
nav a { color: inherit; text-decoration: none; display: block; break-inside: avoid; padding-left: 1.2rem;
  text-indent: -1.2rem; }
nav a:hover { text-decoration: underline; } nav .mark { display: inline-block; width: 1rem; text-indent: 0; }
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
.several .aside { display: block; font-size: .74rem; line-height: 1.3; margin: -.15rem 0 .2rem; }
.gallery.pairs { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }
.board .gallery { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .5rem; margin: .3rem 0; max-width: 26rem; }
.board .gallery.wide { grid-template-columns: 1fr; max-width: none; }
.board .gallery.pairs { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); max-width: none; }
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
@media (min-width: 56rem) { .board:not(.alone) { grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); } }
@media (min-width: 75rem) { .frame:has(nav) { grid-template-columns: 13rem minmax(0, 1fr); }
  nav { position: sticky; top: .6rem; align-self: start; columns: auto; max-height: 97vh; overflow-y: auto; order: 0;
    padding: .4rem 0; font-size: .84rem; line-height: 1.7; } }
@media (max-width: 44rem) { .pair { grid-template-columns: 1fr; } .verdict p { font-size: 1.12rem; }
  header, .frame { padding: 0 1rem; } header { padding-top: 1.1rem; } .part .line { flex-basis: 100%; } }
@media print { :root { color-scheme: light; --ground: #fff; --panel: #fff; }
  body { font-size: 10.5pt; } header, .frame { max-width: none; padding: 0; display: block; }
  nav, .more, .tools, .tip { display: none; } .term { text-decoration: none; } .part .line { display: none; }
  .board { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); }
  .bars td, .bars th { white-space: normal; } section { padding: .3rem 0; }
  table { font-size: .85em; } th, td { padding: .12rem .6rem .12rem 0; }
  details { margin: .2rem 0; }
  [popover] { display: block; position: static; margin: 0; max-width: none; border: 0; box-shadow: none;
    padding: 0 0 .3rem; font-size: .85em; } [popover] strong { display: inline; }
  details::details-content { content-visibility: visible; height: auto; } details > summary { list-style: none; }
  figure, li, tr, .verdict { break-inside: avoid; } h2 { break-after: avoid; }
  .plots { grid-template-columns: 1fr 1fr; } }
"""
)
"""The style sheet of every page."""
