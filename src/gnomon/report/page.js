// The script of a report: values on hover and by keyboard, scales, legends, enlarging, sorting, copying, CSV.
// The page is complete without it. It makes no requests and stores nothing.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const COLORS = ["first", "second", "third", "fourth", "fifth"].map((name) => `var(--${name})`);
  const DRAWN = new Set(["line", "scatter", "band", "reference"]);
  const source = document.getElementById("gnomon-data");
  const data = source ? JSON.parse(source.textContent) : {};
  const live = element("div", { class: "live", "aria-live": "polite" });
  document.body.append(live);

  function element(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  }

  function shape(name, attributes, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  }

  function button(text, title, action) {
    const made = element("button", { type: "button", title });
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  }

  const colorOf = (plot, i) => COLORS[((plot.colors || [])[i] ?? plot.marks[i].color ?? i) % COLORS.length];

  // Numbers that JSON cannot hold are words.
  const number = (value) => (typeof value === "string" ? NaN : value);

  function format(value) {
    if (!Number.isFinite(value)) return "unknown";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2);
    return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  }

  function findPlot(figure) {
    const name = figure.dataset.plot;
    if (!name) return null;
    if (data.plots && data.plots[name]) return data.plots[name];
    const [key, index] = name.split(":");
    const section = (data.sections || []).find((one) => one.key === key);
    return section ? section.plots[Number(index)] : null;
  }

  // ---- Scales: from values to places on the picture

  function scale(words, from, to) {
    const [low, high, kind] = words.split(" ");
    return makeScale(Number(low), Number(high), kind === "log", from, to);
  }

  function makeScale(low, high, log, from, to) {
    const place = (value) => (log ? Math.log10(value) : value);
    const span = place(high) - place(low) || 1;
    return { low, high, log, at: (value) => from + ((place(value) - place(low)) / span) * (to - from) };
  }

  function scalesOf(svg) {
    if (!svg.dataset.box || !svg.dataset.x || !svg.dataset.y) return null;
    const [left, top, right, bottom] = svg.dataset.box.split(" ").map(Number);
    const x = scale(svg.dataset.x, left, right);
    const y = scale(svg.dataset.y, bottom, top);
    return { x, y, left, top, right, bottom };
  }

  // ---- Points: everything that a reader can point at, with its words

  function pointsOf(plot, state) {
    const found = [];
    const xName = state.other ? plot.x.other_unit[0] : plot.x.label;
    const factor = state.other ? plot.x.other_unit[1] : 1;
    plot.marks.forEach((mark, i) => {
      if (state.hidden.has(i)) return;
      if (mark.type === "line" || mark.type === "scatter") {
        mark.x.forEach((x, j) => {
          const [a, b] = [number(x) * factor, number(mark.y[j])];
          if (!Number.isFinite(a) || !Number.isFinite(b)) return;
          found.push({ x: a, y: b, words: `${mark.name}: ${plot.y.label || "value"} ${format(b)} at ${xName} ${format(a)}` });
        });
      } else if (mark.type === "bars") {
        mark.labels.forEach((label, j) => found.push({ x: number(mark.values[j]), y: j, bar: true,
          words: `${label}: ${plot.x.label || mark.name} ${format(number(mark.values[j]))}` }));
      } else if (mark.type === "histogram") {
        mark.counts.forEach((count, j) => found.push({ x: (mark.edges[j] + mark.edges[j + 1]) / 2, y: count, column: true,
          words: `${plot.x.label} ${format(mark.edges[j])} to ${format(mark.edges[j + 1])}: ${format(count)} ${plot.y.label}` }));
      } else if (mark.type === "image") {
        mark.values.forEach((row, r) => row.forEach((value, c) => found.push({ x: c, y: r, cell: true,
          words: `${plot.y.label || "row"} ${mark.rows[r] || r}, ${plot.x.label || "column"} ${mark.columns[c] || c}: ` +
            `${format(number(value))} ${mark.name}` })));
      } else if (mark.type === "rangemeter") {
        found.push({ x: number(mark.value), y: 0.5, words: `${mark.name} ${format(number(mark.value))}` });
      }
    });
    return found;
  }

  function nearest(points, scales, px, py) {
    let best = null;
    let least = Infinity;
    for (const point of points) {
      const dx = scales.x.at(point.x) - px;
      const dy = scales.y.at(point.y) - py;
      const distance = point.bar ? Math.abs(dy) : point.column ? Math.abs(dx) : Math.hypot(dx, dy);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  // ---- One figure

  function setUp(figure) {
    const plot = findPlot(figure);
    let svg = figure.querySelector("svg");
    if (!plot || !svg || !scalesOf(svg)) return;
    const state = { hidden: new Set(), other: false, logX: svg.dataset.x.endsWith("log"), logY: svg.dataset.y.endsWith("log") };
    const tip = element("output", { class: "tip", hidden: "" });
    let chosen = -1;

    function show(point) {
      const scales = scalesOf(svg);
      const view = svg.viewBox.baseVal;
      svg.querySelectorAll(".pointed").forEach((one) => one.remove());
      const [cx, cy] = [scales.x.at(point.x), scales.y.at(point.y)];
      svg.append(shape("circle", { class: "pointed", cx, cy, r: 5 }));
      if (!point.bar && !point.cell) {
        svg.append(shape("line", { class: "pointed", x1: cx, x2: cx, y1: scales.top, y2: scales.bottom }));
      }
      tip.textContent = point.words;
      tip.hidden = false;
      const share = Math.min(Math.max((cx - view.x) / view.width, 0), 1);
      tip.style.left = `${100 * share}%`;
      tip.style.transform = `translate(${-100 * share}%, 0)`;
    }

    function hide() {
      svg.querySelectorAll(".pointed").forEach((one) => one.remove());
      tip.hidden = true;
    }

    function listen() {
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect();
        const view = svg.viewBox.baseVal;
        const ratio = view.width / box.width;
        const point = nearest(pointsOf(plot, state), scalesOf(svg), (event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
        if (point) show(point);
      });
      svg.addEventListener("pointerleave", hide);
      svg.addEventListener("blur", hide);
      svg.addEventListener("keydown", (event) => {
        const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        if (event.key === "Escape") return hide();
        if (!(event.key in steps)) return;
        event.preventDefault();
        const points = pointsOf(plot, state);
        if (!points.length) return;
        chosen = (chosen + steps[event.key] + points.length) % points.length;
        show(points[chosen]);
        live.textContent = points[chosen].words;
      });
    }

    function redraw() {
      const label = svg.getAttribute("aria-label");
      const made = drawPlot(plot, state, svg.viewBox.baseVal);
      made.setAttribute("aria-label", label);
      svg.replaceWith(made);
      svg = made;
      listen();
    }

    const tools = element("div", { class: "tools" });
    const drawable = plot.marks.every((mark) => DRAWN.has(mark.type));
    const toggle = (text, title, get, flip) => {
      const made = button(text, title, () => {
        flip();
        made.setAttribute("aria-pressed", String(get()));
        redraw();
      });
      made.setAttribute("aria-pressed", String(get()));
      tools.append(made);
      return made;
    };
    if (drawable) {
      const positive = (axis) => plot.marks.every((mark) => mark.type === "reference" || axis === "x"
        ? (mark.x || []).some((v) => number(v) > 0) || mark.type === "reference"
        : (mark.y || mark.low || []).some((v) => number(v) > 0));
      if (positive("y")) toggle("log y", "Logarithmic vertical axis", () => state.logY, () => (state.logY = !state.logY));
      if (positive("x")) toggle("log x", "Logarithmic horizontal axis", () => state.logX, () => (state.logX = !state.logX));
      if (plot.x.other_unit) {
        toggle(plot.x.other_unit[0], `Show ${plot.x.other_unit[0]} in place of ${plot.x.label}`,
          () => state.other, () => (state.other = !state.other));
      }
      if (plot.marks.length > 1) plot.marks.forEach((mark, i) => {
        if (!mark.name) return;
        const made = toggle(mark.name, `Show or hide: ${mark.name}`, () => !state.hidden.has(i),
          () => (state.hidden.has(i) ? state.hidden.delete(i) : state.hidden.add(i)));
        made.style.borderBottom = `3px solid ${colorOf(plot, i)}`;
      });
    }
    tools.append(button("CSV", "Download the numbers of this plot", () => download(`${plot.id || "plot"}.csv`, csvOf(plot))));
    tools.append(button("enlarge", "Show this plot large", () => enlarge(figure)));
    figure.append(tip, tools);
    listen();
  }

  // ---- Drawing curves again, with other scales or fewer marks

  function limitsOf(plot, state, axis) {
    const log = axis === "x" ? state.logX : state.logY;
    const factor = axis === "x" && state.other ? plot.x.other_unit[1] : 1;
    const values = [];
    plot.marks.forEach((mark, i) => {
      if (state.hidden.has(i)) return;
      if (mark.type === "reference") {
        if (mark.vertical === (axis === "x")) values.push(number(mark.at));
      } else if (axis === "x") values.push(...mark.x.map((v) => number(v) * factor));
      else values.push(...(mark.type === "band" ? [...mark.low, ...mark.high] : mark.y).map(number));
    });
    const known = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
    const given = plot[axis].limits;
    if (given && !log && !(axis === "x" && state.other)) return given;
    let [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : log ? [1, 10] : [0, 1];
    if (log) {
      const room = Math.max((high / low) ** 0.05, low === high ? 1.3 : 1);
      return [low / room, high * room];
    }
    const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
    return [low - room, high + room];
  }

  function ticksOf(low, high, log) {
    if (log) {
      const [a, b] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
      const steps = b - a <= 2 ? [1, 2, 5] : [1];
      const skip = Math.max(1, Math.ceil((b - a) / 6));
      const found = [];
      for (let power = a; power <= b; power += skip) steps.forEach((s) => found.push(s * 10 ** power));
      return found.filter((v) => v >= low && v <= high);
    }
    const rough = (high - low) / 5;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * ([1, 2, 2.5, 5, 10].find((s) => s * unit >= rough) || 10);
    const found = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
    return found;
  }

  function drawPlot(plot, state, view) {
    const [left, top, right, bottom] = [62, 30, view.width - 12, view.height - 44];
    const [xLow, xHigh] = limitsOf(plot, state, "x");
    const [yLow, yHigh] = limitsOf(plot, state, "y");
    const x = makeScale(xLow, xHigh, state.logX, left, right);
    const y = makeScale(yLow, yHigh, state.logY, bottom, top);
    const svg = shape("svg", { viewBox: `0 0 ${view.width} ${view.height}`, role: "img", class: "drawn" });
    svg.dataset.box = [left, top, right, bottom].join(" ");
    svg.dataset.x = `${xLow} ${xHigh} ${state.logX ? "log" : "linear"}`;
    svg.dataset.y = `${yLow} ${yHigh} ${state.logY ? "log" : "linear"}`;
    svg.append(shape("text", { x: left, y: 18, class: "title" }, plot.title));
    for (const tick of ticksOf(xLow, xHigh, state.logX)) {
      svg.append(shape("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: top, y2: bottom }));
      svg.append(shape("text", { x: x.at(tick), y: bottom + 15, "text-anchor": "middle" }, format(tick)));
    }
    for (const tick of ticksOf(yLow, yHigh, state.logY)) {
      svg.append(shape("line", { class: "grid", x1: left, x2: right, y1: y.at(tick), y2: y.at(tick) }));
      svg.append(shape("text", { x: left - 6, y: y.at(tick) + 3.5, "text-anchor": "end" }, format(tick)));
    }
    svg.append(shape("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }));
    const xName = state.other ? plot.x.other_unit[0] : plot.x.label;
    svg.append(shape("text", { x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle" }, xName));
    svg.append(shape("text", { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, plot.y.label));
    plot.marks.forEach((mark, i) => {
      if (!state.hidden.has(i)) drawMark(svg, mark, colorOf(plot, i), x, y, state, plot);
    });
    return svg;
  }

  function drawMark(svg, mark, color, x, y, state, plot) {
    const factor = state.other ? plot.x.other_unit[1] : 1;
    const inside = (px, py) => Number.isFinite(px) && Number.isFinite(py);
    if (mark.type === "reference") {
      const at = mark.vertical ? x.at(mark.at * factor) : y.at(mark.at);
      if (!Number.isFinite(at)) return;
      const [x0, y0, x1, y1] = svg.dataset.box.split(" ");
      svg.append(shape("line", mark.vertical ? { x1: at, x2: at, y1: y0, y2: y1 } : { x1: x0, x2: x1, y1: at, y2: at }));
      svg.lastChild.setAttribute("style", `stroke: ${color}; stroke-dasharray: 6 4`);
      return;
    }
    const xs = mark.x.map((v) => x.at(number(v) * factor));
    if (mark.type === "scatter") {
      xs.forEach((px, j) => {
        const py = y.at(number(mark.y[j]));
        const open = color === COLORS[1] && xs.length <= 60 ? `fill: none; stroke: ${color}; stroke-width: 1.5` : `fill: ${color}`;
        if (inside(px, py)) svg.append(shape("circle", { cx: px, cy: py, r: xs.length > 60 ? 1.8 : 3.2, style: open }));
      });
      return;
    }
    const path = (heights) => xs.map((px, j) => [px, y.at(number(heights[j]))]).filter(([a, b]) => inside(a, b));
    if (mark.type === "band") {
      const around = [...path(mark.low), ...path(mark.high).reverse()];
      if (around.length) svg.append(shape("path", { d: `M${around.map((p) => p.join(" ")).join("L")}Z`, style: `fill: ${color}; opacity: .25` }));
      return;
    }
    const line = path(mark.y);
    const dash = { dashed: "6 4", dotted: "2 3" }[mark.style] || "none";
    if (line.length) svg.append(shape("path", { d: `M${line.map((p) => p.join(" ")).join("L")}`, style: `fill: none; stroke: ${color}; stroke-width: 1.8; stroke-dasharray: ${dash}` }));
  }

  // ---- Files, the large view, the clipboard

  function csvOf(plot) {
    const quote = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    const rows = [["series", plot.x.label || "x", plot.y.label || "y", "upper"]];
    for (const mark of plot.marks) {
      if (mark.type === "bars") mark.labels.forEach((label, i) => rows.push([mark.name, mark.values[i], label, ""]));
      else if (mark.type === "histogram") mark.counts.forEach((count, i) => rows.push([mark.name, mark.edges[i], count, mark.edges[i + 1]]));
      else if (mark.type === "image") mark.values.forEach((row, r) => row.forEach((value, c) => rows.push([mark.columns[c] || c, mark.rows[r] || r, value, ""])));
      else if (mark.type === "band") mark.x.forEach((v, i) => rows.push([mark.name, v, mark.low[i], mark.high[i]]));
      else if (mark.type === "reference") rows.push([mark.name, mark.vertical ? mark.at : "", mark.vertical ? "" : mark.at, ""]);
      else if (mark.type === "rangemeter") rows.push([mark.name, mark.value, "", ""]);
      else mark.x.forEach((v, i) => rows.push([mark.name, v, mark.y[i], ""]));
    }
    return rows.map((row) => row.map(quote).join(",")).join("\n") + "\n";
  }

  function download(name, text) {
    const link = element("a", { href: `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`, download: name });
    link.click();
  }

  function enlarge(figure) {
    const place = element("span", { hidden: "" });
    const dialog = element("dialog", { class: "large", "aria-label": "Large plot" });
    const close = button("close", "Close the large plot", () => dialog.close());
    figure.before(place);
    dialog.append(close, figure);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      place.replaceWith(figure);
      dialog.remove();
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.showModal();
  }

  async function copy(text, pressed) {
    const before = pressed.textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = element("textarea", { class: "live" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    pressed.textContent = done ? "copied" : "cannot copy";
    live.textContent = pressed.textContent;
    setTimeout(() => (pressed.textContent = before), 1500);
  }

  function setUpFinding(item) {
    const found = (data.findings || [])[Number(item.dataset.finding)];
    if (!found) return;
    const proven = item.querySelector(".proven");
    const proof = proven ? `\nTried: ${proven.dataset.words}` : "";
    const where = found.where ? ` (${found.where})` : "";
    const tools = element("span", { class: "tools" });
    const text = `${found.level}${where}: ${found.message}\nFix: ${found.fix}${proof}`;
    const markdown = `- **${found.level}**${found.where ? ` \`${found.where}\`` : ""}: ${found.message}\n  - Fix: ${found.fix}` +
      (proven ? `\n  - Tried: ${proven.dataset.words}` : "");
    const plain = button("copy", "Copy this finding as text", () => copy(text, plain));
    const marked = button("copy Markdown", "Copy this finding as Markdown", () => copy(markdown, marked));
    tools.append(plain, marked);
    item.append(tools);
  }

  function setUpGallery(list) {
    const items = [...list.children];
    if (items.length < 3 || "unordered" in list.dataset) return;
    const label = element("label", { class: "tools sort" }, "sort by ");
    const select = element("select");
    const known = ["label", "answer"].filter((name) => items.some((item) => item.dataset[name]));
    for (const words of ["most wrong", "number", ...known]) select.append(element("option", { value: words }, words));
    select.addEventListener("change", () => {
      const by = { number: "number", label: "label", answer: "answer" }[select.value];
      const sorted = by === undefined ? items : [...items].sort((a, b) =>
        by === "number" ? a.dataset.number - b.dataset.number : (a.dataset[by] || "").localeCompare(b.dataset[by] || "", "en", { numeric: true }));
      list.append(...sorted);
    });
    label.append(select);
    list.before(label);
  }

  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  }

  function setUpContents(nav) {
    const all = [...document.querySelectorAll("details.part")];
    if (all.length) {
      const made = button("open all sections", "Open or fold all sections", () => {
        const open = all.some((one) => !one.open);
        all.forEach((one) => (one.open = open));
        made.textContent = open ? "fold all sections" : "open all sections";
      });
      nav.append(made);
    }
    const links = new Map([...nav.querySelectorAll("a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const key = entry.target.dataset.key;
        if (!links.has(key) || !entry.isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(key).setAttribute("aria-current", "true");
      }
    }, { rootMargin: "0px 0px -70% 0px" });
    all.forEach((one) => seen.observe(one));
  }

  document.querySelectorAll("figure[data-plot]").forEach(setUp);
  document.querySelectorAll("li[data-finding]").forEach(setUpFinding);
  document.querySelectorAll("ul.gallery").forEach(setUpGallery);
  document.querySelectorAll("nav").forEach(setUpContents);
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
