"""The look of the atlas and the few lines of script that filter its index."""

from gnomon.report.style import PALETTE

__all__ = ["SCRIPT", "STYLE"]

STYLE = (
    PALETTE
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; } main { padding-bottom: 3rem; }
a { color: var(--second); } h1 { font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
nav a { margin-right: 1rem; }
.brand { margin: 0; letter-spacing: .14em; text-transform: uppercase; font-size: .75rem; color: var(--soft); }
.equation, .figure, pre { overflow-x: auto; } .equation { padding: .8rem 0; font-size: 1.2rem; }
.figure svg { max-width: 100%; height: auto; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem;
  font-size: .85rem; }
.verdict { font-weight: 600; } .holds { color: var(--good); } .refuted { color: var(--fault); }
.inconclusive { color: var(--warning); } .aside { color: var(--soft); }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.filters { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
.filters input, .filters select { font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .6rem; max-width: 100%; }
.filters input { flex: 1 1 14rem; }
ul.claims { list-style: none; padding: 0; } ul.claims li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
ul.claims .id { font-size: .85rem; color: var(--soft); overflow-wrap: anywhere; }
@media print { .filters, nav { display: none; } }
"""
)
"""The style sheet of every page."""

SCRIPT = """
const rows = [...document.querySelectorAll('ul.claims li')];
const words = document.getElementById('search'), kind = document.getElementById('kind');
const course = document.getElementById('course'), count = document.getElementById('count');
function filter() {
  const asked = words.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const kinds = course.value ? course.value.split(' ') : null;
  let shown = 0;
  for (const row of rows) {
    const fits = asked.every(w => row.dataset.text.includes(w)) && (!kind.value || row.dataset.kind === kind.value)
      && (!kinds || kinds.includes(row.dataset.kind));
    row.hidden = !fits;
    shown += fits;
  }
  count.textContent = shown + ' of ' + rows.length + ' claims';
}
for (const part of [words, kind, course]) part.addEventListener('input', filter);
filter();
"""
"""The script of the index: rows are hidden and shown, nothing is asked for."""
