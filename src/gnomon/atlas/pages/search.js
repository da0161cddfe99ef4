// Shows the claims that contain all words of the search field; nothing is requested.
const rows = [...document.querySelectorAll('#found li')], words = document.getElementById('search');
const count = document.getElementById('count');
function filter() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const fits = asked.length > 0 && asked.every(w => row.dataset.text.includes(w));
    row.hidden = !fits;
    shown += fits;
  }
  count.textContent = asked.length ? shown + ' of ' + rows.length + ' claims' : '';
}
words.addEventListener('input', filter);
filter();
