// Sliders and the "break the assumption" switch of a claim's page. Draws the same picture as figure.py.
"use strict";
(() => {
  const place = document.getElementById("data");
  if (!place) return;
  const data = JSON.parse(place.textContent), grid = data.grid, view = data.view;
  const W = 480, H = 300, L = 58, LB = 150, R = 14, T = 30, B = 46;
  const byId = id => document.getElementById(id);
  const figure = byId("figure"), said = byId("said"), broken = byId("break");
  const at = grid.default.slice();
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const escape = text => String(text).replace(/[&<>"]/g, c => "&#" + c.charCodeAt(0) + ";");
  const cut = (text, most) => escape(text.length <= most ? text : text.slice(0, most - 1) + "…");

  function plain(value) {
    if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7)) {
      const [whole, rest] = String(Number(value.toPrecision(10))).split(".");
      return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
    }
    const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    const factor = Number((value / 10 ** power).toPrecision(3));
    const raised = "10" + String(power).replace("-", "⁻").replace(/\d/g, d => RAISED[d]);
    return factor === 1 ? raised : factor + "·" + raised;
  }
  const word = value => Array.isArray(value) ? value.map(word).join(", ") : typeof value === "number" ? plain(value) : value;
  const finite = values => values.filter(v => v !== null && v !== undefined && Number.isFinite(v));
  const wantsLog = values => values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 40;

  function scale(values, from, to, log) {
    const of = v => log ? Math.log10(v) : v;
    const found = values.length ? values.map(of) : [0, 1];
    const small = Math.min(...found), large = Math.max(...found);
    const room = (large - small) * 0.06 || Math.abs(large) * 0.1 || 1;
    const s = v => from + (of(v) - s.low) / (s.high - s.low) * (to - from);
    s.low = small - room; s.high = large + room; s.log = log;
    s.ticks = () => {
      if (log && s.high - s.low > 1.2) {
        const step = Math.max(1, Math.round((s.high - s.low) / 5)), powers = [];
        for (let k = Math.floor(s.low) + 1; k <= Math.floor(s.high); k++) powers.push(k);
        const kept = powers.filter(k => k % step === 0);
        return (kept.length ? kept : powers.slice(0, 1)).map(k => 10 ** k);
      }
      const low = log ? 10 ** s.low : s.low, high = log ? 10 ** s.high : s.high;
      const rough = (high - low) / 6, unit = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map(f => f * unit).find(f => f >= rough), found = [];
      for (let k = Math.floor(low / step) + 1; k * step <= high; k++) found.push(Number((k * step).toPrecision(10)));
      return found.filter(v => !log || v > 0);
    };
    return s;
  }

  function range(chart, control) {
    const found = finite(["o", "a", "b", "p"].flatMap(k => chart[k] || []));
    const other = finite(chart.c || []), both = found.concat(other);
    if (!found.length || !other.length || control) return both;
    const lo = Math.min(...found), hi = Math.max(...found), min = Math.min(...both), max = Math.max(...both);
    const near = max - min <= 3 * (hi - lo), positive = min > 0 && max / min <= Math.max(3, (hi / lo) ** 2);
    return near || positive ? both : found;
  }

  function points(chart, look, control, marked) {
    const shift = look.numbered ? 1 : 0, heights = range(chart, control);
    const places = finite(["x", "q", "d"].flatMap(k => chart[k] || []).map(v => v + shift));
    const logX = Math.min(...places) > 0 && (look.log || (wantsLog(places) && !look.numbered));
    const logY = heights.length > 0 && Math.min(...heights) > 0 && (look.log || wantsLog(heights));
    const x = scale(places, L, W - R, logX), y = scale(heights, H - B, T, logY);
    const pairs = (key, own) => (chart[key] || []).map((v, i) => [(chart[own] || chart.x)[i] + shift, v])
      .filter(([, v]) => v !== null && (!logY || v > 0)).map(([a, b]) => [x(a).toFixed(1), y(b).toFixed(1)]);
    let out = "", around = `<path class="axis" d="M${L} ${T}V${H - B}H${W - R}"/>`;
    for (const v of y.ticks())
      around += `<path class="grid" d="M${L} ${y(v)}H${W - R}"/><text class="end" x="${L - 6}" y="${y(v) + 4}">${plain(v)}</text>`;
    for (const v of x.ticks())
      if (!look.numbered || (v === Math.round(v) && v > 0)) around += `<text class="mid" x="${x(v)}" y="${H - B + 17}">${plain(v)}</text>`;
    around += `<text class="mid name" x="${(L + W - R) / 2}" y="${H - 8}">${cut(look.x, 58)}</text>`;
    around += `<text class="name" x="4" y="14">${cut(look.y, 60)}</text>`;
    for (const [a, b] of pairs("c", "d")) out += `<circle class="broken" cx="${a}" cy="${b}" r="3.2"/>`;
    const theory = pairs("p", "q");
    if ((look.numbered && chart.x.length <= 12) || theory.length === 1) {
      const half = theory.length < 8 ? 14 : 8;
      for (const [a, b] of theory) out += `<line class="theory" x1="${a - half}" x2="${+a + half}" y1="${b}" y2="${b}"/>`;
    } else out += `<polyline class="theory" points="${theory.map(p => p.join()).join(" ")}"/>`;
    (chart.a || []).forEach((low, i) => {
      const high = chart.b[i], place = x(chart.x[i] + shift);
      if (low === null || high === null) return;
      out += `<line class="interval" x1="${place}" x2="${place}" y1="${y(logY ? Math.max(low, 10 ** y.low) : low)}" y2="${y(high)}"/>`;
    });
    for (const [a, b] of pairs("o", "x")) out += `<circle class="measured" cx="${a}" cy="${b}" r="3.4"/>`;
    const index = marked === null ? -1 : chart.x.indexOf(marked), height = index < 0 ? null : chart.o[index];
    if (height !== null && (!logY || height > 0))
      out += `<circle class="ring" cx="${x(marked)}" cy="${y(height)}" r="7"/>`;
    return `<clipPath id="box"><rect x="${L - 8}" y="${T - 8}" width="${W - L - R + 16}" height="${H - T - B + 16}"/></clipPath>` +
      `${around}<g clip-path="url(#box)">${out}</g>`;
  }

  function bars(chart, look) {
    const room = 3 * Math.max(0, ...finite(chart.o).map(Math.abs)) || Infinity, whole = chart.c || [];
    const clamped = whole.map(v => v === null ? null : Math.max(-room, Math.min(v, room)));
    chart = { ...chart, c: clamped };
    const values = finite([...chart.o, ...clamped, 0]);
    const x = scale(values, LB, W - R - 40, false), step = (H - T - B) / chart.l.length;
    x.low = Math.min(...values) < 0 ? Math.min(0, x.low) : 0;
    let out = `<text class="mid name" x="${W / 2}" y="${H - 8}">${cut(look.y, 58)}</text>` +
      `<text class="name" x="4" y="14">${cut(look.x, 60)}</text><path class="axis" d="M${x(0)} ${T}V${H - B}"/>`;
    chart.l.forEach((label, i) => {
      const top = T + i * step;
      out += `<text class="end" x="${LB - 8}" y="${top + step / 2 + 4}">${cut(label, 22)}</text>`;
      for (const [key, name, share] of [["o", "measured", 0.12], ["c", "broken", 0.56]]) {
        const v = (chart[key] || [])[i];
        if (v === null || v === undefined) continue;
        const left = Math.min(x(0), x(v)), width = Math.max(Math.abs(x(v) - x(0)), 0.8);
        out += `<rect class="${name}" x="${left}" y="${top + share * step}" width="${width}" height="${0.32 * step}"/>`;
      }
      const v = chart.o[i];
      if (v !== null) out += `<text x="${Math.max(x(0), x(v)) + 5}" y="${top + 0.28 * step + 5}">${plain(Number(v.toPrecision(3)))}</text>`;
      if (whole.length && whole[i] !== clamped[i])
        out += `<text x="${Math.max(x(0), x(clamped[i])) + 5}" y="${top + 0.72 * step + 5}">… ${plain(Number(whole[i].toPrecision(3)))}</text>`;
    });
    return out;
  }

  const columns = grid.values.length > 1 ? grid.values[1].length : 1;
  const point = () => grid.points[(at[0] || 0) * columns + (at[1] || 0)];

  function overParameter() {
    const row = grid.points.filter((_, i) => i % columns === (at[1] || 0));
    const chart = { x: grid.values[0] };
    for (const key of ["o", "a", "b", "p", "c"])
      if (row.every(p => p[key] && p[key].length)) chart[key] = row.map(p => p[key][0]);
    return chart;
  }

  function draw() {
    const here = point(), off = broken.checked;
    const chart = data.over ? overParameter() : here;
    const marked = data.over ? grid.values[0][at[0]] : null;
    const inside = chart.l ? bars(chart, view) : points(chart, view, off, marked);
    const label = escape(`${view.y} over ${view.x}: theory, measurement and control`);
    figure.innerHTML = `<svg viewBox="0 0 ${W} ${H}" role="img" aria-label="${label}">${inside}</svg>`;
    figure.classList.toggle("off", off);
    const where = grid.names.map((name, i) => `${name} = ${word(grid.values[i][at[i]])}`).join(", ") || "the default parameters";
    const outside = (here.k || []).map(i => data.premises[i]);
    const verdict = off ? here.w : here.v;
    let text = off ? `Assumption broken at ${where}` : `At ${where}`;
    if (outside.length) text += `, which is outside the premise “${outside.join("”, “")}”, so the statement promises nothing here`;
    text += off ? ": " : ". Result: ";
    said.innerHTML = `${escape(text)}<strong class="verdict ${verdict}">${verdict}</strong>${off && verdict !== "holds" ? ", as expected" : ""}. `
      + escape(off ? here.s : here.r)
      + (!off && verdict === "refuted" && data.expected === "holds" && !outside.length
        ? " This value lies outside the range for which the statement is meant; see “Where it fails”." : "");
    grid.names.forEach((name, i) => {
      const slider = byId("slider" + i), value = word(grid.values[i][at[i]]);
      byId("value" + i).textContent = value;
      slider.setAttribute("aria-valuetext", `${name} ${value}${outside.length ? ", outside a premise" : ""}`);
    });
  }

  grid.names.forEach((_, i) => byId("slider" + i).addEventListener("input", event => { at[i] = Number(event.target.value); draw(); }));
  broken.addEventListener("input", draw);
  byId("controls").hidden = false;
  draw();
})();
