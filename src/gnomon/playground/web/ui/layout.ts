// The elements of the page and where they are.
import { count, h } from "./dom";
import type { ServedNetwork } from "./engine";
import { LESSONS, type Lesson } from "./lessons";

export interface Actions {
  run(): void;
  step(): void;
  reset(): void;
  original(): void;
  scrub(index: number): void;
  explain(id: string): void;
  table(id: string): void;
  lesson(id: string): void;
  copyLink(): void;
  copyPython(): void;
  readLink(text: string): void;
}

export type CanvasName = "picture" | "loss" | "modes" | "regime" | "lesson";

export interface Layout {
  root: HTMLElement;
  canvases: Record<CanvasName, HTMLCanvasElement>;
  sentence: HTMLElement;
  question: HTMLElement;
  tryNext: HTMLElement;
  onTheme: () => void;
  say(words: string): void;
  /** Tells a screen reader without showing anything. */
  whisper(words: string): void;
  showLesson(lesson: Lesson, index: number, stars: Record<string, number>): void;
  setScrub(last: number): void;
  setPosition(index: number, step: number, running: boolean, ended: boolean): void;
  facts(words: Partial<Record<string, string>>): void;
}

/** A modal dialog with a title; it is removed when it closes. */
export function openDialog(title: string, body: HTMLElement): void {
  document.querySelector("dialog")?.remove();
  const dialog = h("dialog", { "aria-label": title },
    h("div", { class: "bar" }, h("h2", {}, title), h("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×")),
    body);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

const LEGEND: [string, string, string][] = [
  ["network", "network", "network"], ["theory", "prediction", "predicted from its kernel before the first step"],
  ["band", "band", "infinitely wide ensemble"], ["start", "network", "at the start"],
];

export function buildLayout(controls: HTMLElement, served: ServedNetwork | null, act: Actions): Layout {
  const canvas = (id: CanvasName) => h("canvas", id === "picture" ? { id, tabindex: "0", role: "application", "aria-label": "Function space" } : { id, role: "img", "aria-label": id });
  const canvases = { picture: canvas("picture"), loss: canvas("loss"), modes: canvas("modes"), regime: canvas("regime"), lesson: canvas("lesson") };
  const notes: Record<string, HTMLElement> = {};
  const panel = (id: CanvasName, title: string) => {
    const name = h("h2", {}, title);
    const note = (notes[id] = h("span", { class: "note" }));
    const root = h("section", { class: `panel ${id}` },
      h("header", {}, name, note,
        h("button", { class: "q", type: "button", "aria-label": `Explain: ${title}`, onclick: () => act.explain(id) }, "?"),
        h("button", { class: "q", type: "button", "aria-label": `${title} as a table`, title: "Table", onclick: () => act.table(id) }, "≡")),
      h("div", { class: "canvas" }, canvases[id]));
    return { root, name };
  };
  const sentence = h("p", { class: "sentence" });
  const live = h("div", { class: "live", role: "status", "aria-live": "polite" });
  const quiet = h("div", { class: "whisper", "aria-live": "polite" });
  const question = h("div", {});
  const tryNext = h("p", { class: "try" });
  const story = h("p", { class: "story" });
  const title = h("h2", { class: "title" });
  const picker = h("select", { "aria-label": "Lesson", onchange: () => act.lesson(picker.value) }, ...LESSONS.map((one, k) => h("option", { value: one.id }, `${k + 1}. ${one.title}`)));
  let position = 0;
  const arrow = (label: string, sign: number, text: string) => h("button", { type: "button", "aria-label": label, onclick: () => { const next = LESSONS[position + sign]; if (next) act.lesson(next.id); } }, text);
  const [previous, next] = [arrow("Previous lesson", -1, "‹"), arrow("Next lesson", 1, "›")];
  const runButton = h("button", { type: "button", class: "run primary", onclick: () => act.run() }, "▶ Run");
  const slider = h("input", { type: "range", class: "scrub", min: 0, max: 1, value: 0, "aria-label": "Time", oninput: () => act.scrub(Number(slider.value)) });
  const clock = h("output", { class: "clock" }, "step 0");
  const rateNote = (notes.rate = h("span", { class: "note" }));
  const linkInput = h("input", { type: "url", placeholder: "Paste a tensorflow-playground link", "aria-label": "Link to read" });
  const linkForm = h("form", { class: "readlink", onsubmit: (event: Event) => { event.preventDefault(); act.readLink(linkInput.value.trim()); } }, linkInput, h("button", { type: "submit" }, "Read"));
  const lessonPanel = panel("lesson", "");
  const legend = h("ul", { class: "legend" }, ...LEGEND.map(([kind, id, words]) => h("li", { class: kind }, h("button", { type: "button", class: "key", onclick: () => act.explain(id) }, h("i", { class: kind, "aria-hidden": "true" }), words))));
  const theme = h("button", { type: "button", class: "quiet theme", "aria-label": "Switch between light and dark", onclick: () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    layout.onTheme();
  } }, "◐");

  const top = h("header", { class: "top" },
    h("h1", {}, h("span", { class: "brand" }, "gnomon"), " playground"),
    served ? h("p", { class: "served" }, `${served.name} on ${served.data}`) : h("nav", { class: "lessons", "aria-label": "Lessons" }, previous, picker, next),
    sentence,
    h("div", { class: "links" },
      served ? null : h("button", { type: "button", onclick: () => act.copyLink() }, "Copy link"),
      served ? null : h("button", { type: "button", onclick: () => act.copyPython() }, "Copy as Python"), theme));
  const center = h("section", { class: "center" },
    h("div", { class: "stage" }, canvases.picture),
    h("div", { class: "under" }, legend,
      h("button", { class: "q", type: "button", "aria-label": "The picture as a table", title: "Table", onclick: () => act.table("picture") }, "≡")),
    h("div", { class: "transport" }, runButton,
      h("button", { type: "button", "aria-label": "Step: one record further", title: "Step ( . )", onclick: () => act.step() }, "Step"),
      h("button", { type: "button", "aria-label": "Reset to the start", title: "Reset ( r )", onclick: () => act.reset() }, "Reset"),
      slider, clock));
  const card = h("section", { class: "card" }, title, story, question, tryNext, linkForm);
  if (served) card.replaceChildren(h("h2", { class: "title" }, served.name), h("p", { class: "story" }, served.module), h("p", {}, `Data: ${served.data}. Loss: ${served.loss}.`), h("p", {}, "The dashed line was computed by gnomon.predict before training; dots are gnomon.train on a copy of the network."));
  const side = h("aside", { class: "side" }, panel("loss", "Loss").root, panel("modes", "Error left per mode").root, panel("regime", "Lazy or rich").root);
  const sheet = h("details", { class: "sheet", open: true }, h("summary", {}, "Settings"), controls, rateNote, served ? null : h("button", { type: "button", class: "quiet", onclick: () => act.original() }, "Back to the lesson's setting"));
  const narrow = matchMedia("(max-width: 900px)");
  const fold = () => (sheet.open = !narrow.matches);
  narrow.addEventListener("change", fold);
  fold();
  const root = h("main", {}, top, sheet, center, side, h("section", { class: "below" }, card, lessonPanel.root), live, quiet);

  let silence = 0;
  const layout: Layout = {
    root, canvases, sentence, question, tryNext, onTheme: () => {},
    say(words) {
      live.textContent = words;
      live.classList.add("shown");
      clearTimeout(silence);
      silence = window.setTimeout(() => live.classList.remove("shown"), 5000);
    },
    whisper(words) {
      quiet.textContent = words;
    },
    showLesson(lesson, index, stars) {
      position = index;
      previous.disabled = index === 0;
      next.disabled = index === LESSONS.length - 1;
      [...picker.options].forEach((option, k) => {
        const got = stars[LESSONS[k]!.id];
        option.textContent = `${k + 1}. ${LESSONS[k]!.title}${got ? ` ${"★".repeat(got)}` : ""}`;
      });
      picker.value = lesson.id;
      if (!served) [title.textContent, story.textContent, tryNext.textContent] = [lesson.title, lesson.story, lesson.tryNext];
      lessonPanel.name.textContent = lesson.panelTitle;
      for (const button of lessonPanel.root.querySelectorAll("button")) button.setAttribute("aria-label", button.title === "Table" ? `${lesson.panelTitle} as a table` : `Explain: ${lesson.panelTitle}`);
      linkForm.hidden = lesson.id !== "free";
      document.title = `${lesson.title} · gnomon playground`;
    },
    setScrub(last) {
      slider.max = String(last);
      slider.value = "0";
    },
    setPosition(index, step, running, ended) {
      slider.value = String(Math.max(0, index));
      slider.setAttribute("aria-valuetext", `step ${count(step)}`);
      slider.style.setProperty("--at", `${(100 * Math.max(0, index)) / (Number(slider.max) || 1)}%`);
      clock.textContent = `step ${count(step)}`;
      const words = running ? "❚❚ Pause" : ended ? "↻ Run again" : "▶ Run";
      if (runButton.textContent !== words) runButton.textContent = words;
    },
    facts(words) {
      for (const [key, text] of Object.entries(words)) if (notes[key] && notes[key]!.textContent !== text) notes[key]!.textContent = text ?? "";
    },
  };
  return layout;
}
