// The page: holds the state, talks to the engine, draws.
import { isCurve } from "../core/data";
import { consistent, pointsOf, readState, writeState, type State } from "../core/state";
import { isTensorflowLink, readTensorflowLink } from "../core/tfplayground";
import type { Frame, FromWorker, Setup } from "../engine/protocol";
import { Chart } from "./chart";
import { Controls } from "./controls";
import { readPalette, show, percent, count, type Palette } from "./dom";
import { localEngine, servedEngine, type Engine, type ServedNetwork } from "./engine";
import { HANDLES, newGuess, questionView, scoreOf, type Guess } from "./guess";
import { buildLayout, openDialog, type Layout } from "./layout";
import { DESCENT, DESCENT_DRAWS, DESCENT_SIZES, PANELS, type Background, type PanelInput } from "./lessonpanels";
import { LESSONS, lessonOf, lessonState, type Lesson } from "./lessons";
import { dialWords, drawDial, drawLoss, drawModes, lossSummary, type Progress } from "./panels";
import { listen } from "./pointer";
import { asPython } from "./python";
import { sentence } from "./sentence";
import { explain, explanationView } from "./explain";
import { tableOf, tableView } from "./tables";
import { drawCurve, drawMap, drawOutputs, type Picture } from "./views";

const SWEEP = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.85, 0.92, 0.97, 1.0, 1.03, 1.08, 1.15, 1.3, 1.5, 2, 3, 4];
const noBackground = (): Background => ({ seeds: [], sweep: [], phase: null, signals: null, descent: [], band: null });
const STARS_KEY = "gnomon-playground-stars";

export class App {
  state: State;
  lesson: Lesson;
  guess: Guess;
  private setup: Setup | null = null;
  private frame: Frame | null = null;
  private history: Frame[] = [];
  private scrub: number | null = null;
  private running = false;
  private waiting = false;
  private background = noBackground();
  private engine!: Engine;
  private jobs: Engine | null = null;
  private id = 0;
  private answered = true;
  private pending: State | null = null;
  private dirty = true;
  private lastWords = 0;
  private turn = 0;
  private colors: Palette = readPalette();
  private readonly layout: Layout;
  private readonly controls: Controls;
  private readonly charts: Record<string, Chart>;
  private stars: Record<string, number> = {};
  private scored = false;
  selected = 0;

  constructor(readonly chrome: boolean, start: State, private readonly served: ServedNetwork | null) {
    this.state = start;
    this.lesson = lessonOf(start.lesson)!;
    this.guess = newGuess(this.lesson);
    if (!chrome) this.guess.locked = true;
    this.controls = new Controls((part, final) => this.change(part, final), (id) => this.explain(id), served !== null);
    this.layout = buildLayout(this.controls.root, served, {
      run: () => this.toggle(), step: () => this.stepOnce(), reset: () => this.reset(),
      scrub: (index) => this.scrubTo(index), explain: (id) => this.explain(id), table: (id) => this.table(id),
      lesson: (id) => this.openLesson(id), copyLink: () => this.copyLink(), copyPython: () => this.copyPython(),
      readLink: (text) => this.readLink(text), original: () => this.openLesson(this.lesson.id),
    });
    document.body.classList.toggle("embedded", !chrome);
    document.getElementById("loading")?.remove();
    document.body.append(this.layout.root);
    const { canvases } = this.layout;
    this.charts = Object.fromEntries(Object.entries(canvases).map(([k, c]) => [k, new Chart(c)]));
    this.listenToPictures();
    this.listenToPage();
    try {
      this.stars = JSON.parse(localStorage.getItem(STARS_KEY) ?? "{}") as Record<string, number>;
    } catch {
      this.stars = {};
    }
  }

  start(engine: Engine): void {
    this.engine = engine;
    this.openState(this.state, false);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!still && (this.lesson.id === "free" || !this.chrome)) setTimeout(() => this.run(), 400);
    const loop = () => {
      this.tick();
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  // -- state ------------------------------------------------------------------------------------------------------

  private change(part: Partial<State>, final: boolean): void {
    this.state = consistent({ ...this.state, ...part });
    this.running = false;
    this.prepare();
    if (final) {
      this.controls.sync(this.state);
      this.writeLink(true);
      this.startJobs();
    }
    this.dirty = true;
  }

  private writeLink(push: boolean): void {
    const hash = `#${writeState(this.state, lessonState(this.state.lesson)!)}${this.chrome ? "" : "&chrome=0"}`;
    if (hash === location.hash) return;
    try {
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    } catch {
      // Some embedding pages forbid it; the link can still be copied.
    }
  }

  private openLesson(id: string): void {
    this.openState(lessonState(id)!, true);
  }

  private openState(state: State, push: boolean): void {
    this.state = state;
    this.lesson = lessonOf(state.lesson)!;
    this.guess = newGuess(this.lesson);
    if (this.served || !this.chrome) this.guess.locked = true; // embedded pages show, they do not ask
    this.scored = false;
    this.selected = Math.min(2, state.n - 1);
    this.running = false;
    this.controls.sync(state);
    this.layout.showLesson(this.lesson, LESSONS.indexOf(this.lesson), this.stars);
    this.renderQuestion();
    this.prepare();
    this.startJobs();
    if (push) this.writeLink(true);
  }

  /** Asks for a new setup; while one is being computed only the newest state is kept. */
  private prepare(): void {
    this.scrub = null;
    this.scored = false;
    if (!this.answered) {
      this.pending = this.state;
      return;
    }
    this.answered = false;
    this.pending = null;
    const sharpness = this.lesson.panel === "sharpness";
    this.engine.send({ type: "setup", id: ++this.id, state: this.state, band: isCurve(this.state.data), sharpness });
  }

  private startJobs(): void {
    this.background = { ...noBackground(), phase: this.background.phase?.id === this.phaseId ? this.background.phase : null, band: this.background.band };
    if (this.served) return;
    const { panel } = this.lesson;
    const job = (this.jobs ??= localEngine((message) => this.receiveJob(message)));
    const id = ++this.jobId;
    if (panel === "signals") {
      job.send({ type: "signals", id, state: this.state });
      if (!this.background.phase || this.phaseActivation !== this.state.activation) {
        [this.phaseId, this.phaseActivation] = [id, this.state.activation];
        job.send({ type: "phase", id, state: this.state });
      }
    }
    if (!this.guess.locked) return;
    if (panel === "sweep" || panel === "momentum") job.send({ type: "sweep", id, state: { ...this.state, batch: 0 }, rates: SWEEP, steps: 200 });
    if (panel === "descent") job.send({ type: "descent", id, ...DESCENT, draws: DESCENT_DRAWS, sizes: DESCENT_SIZES });
    if (this.lesson.seeds) job.send({ type: "seeds", id, state: this.state, count: this.lesson.seeds });
  }
  private jobId = 0;
  private phaseId = -1;
  private phaseActivation = "";

  // -- messages ---------------------------------------------------------------------------------------------------

  receive(message: FromWorker): void {
    if (message.type === "failed") {
      this.answered = true;
      this.waiting = this.running = false;
      this.layout.say(`This setting could not be computed: ${message.words}`);
      return;
    }
    if (message.id !== this.id) return;
    if (message.type === "ready") {
      this.setup = message.setup;
      this.history = [];
      this.frame = null;
      this.waiting = false;
      this.background.band = null;
      this.layout.setScrub(message.setup.records.length - 1);
    } else if (message.type === "frame") {
      this.frame = message.frame;
      this.waiting = false;
      if (message.frame.record >= 0 || message.frame.diverged) this.history.push(message.frame);
      if (!this.guess.touched && !this.guess.locked && this.setup && this.setup.dimension === 1) {
        const { start } = this.setup; // handles start on the curve before training
        HANDLES.forEach((x, k) => (this.guess.curve[k] = start[Math.round(((x + 2) / 4) * (start.length - 1))]!));
      }
      if (!this.answered) {
        this.answered = true;
        if (this.pending) this.prepare();
      }
      if (this.ended) this.finish();
    } else if (message.type === "band") {
      this.background.band = { mean: message.mean, std: message.std };
    }
    this.dirty = true;
  }

  private receiveJob(message: FromWorker): void {
    if (message.type === "phase" && message.id === this.phaseId) this.background.phase = message;
    else if (message.id === this.jobId) {
      if (message.type === "seed") this.background.seeds.push(message.curve);
      if (message.type === "sweep") this.background.sweep.push({ rate: message.rate, ratio: message.ratio });
      if (message.type === "signals") this.background.signals = message;
      if (message.type === "descent") this.background.descent.push({ size: message.size, measured: message.measured });
    }
    this.renderScore();
    this.dirty = true;
  }

  // -- running ----------------------------------------------------------------------------------------------------

  private get ended(): boolean {
    return this.frame !== null && this.setup !== null && (this.frame.diverged || this.frame.step >= this.setup.records.at(-1)!);
  }

  private request(records = 1): void {
    if (this.waiting || !this.setup || this.ended) return;
    this.waiting = true;
    this.engine.send({ type: "advance", id: this.id, records });
  }

  private toggle(): void {
    if (this.running) this.pause();
    else this.run();
  }

  run(): void {
    if (!this.guess.locked) this.lock();
    if (this.scrub !== null) this.scrubTo(null);
    if (this.ended) this.prepare();
    this.running = true;
    if (this.answered) this.request();
    this.dirty = true;
  }

  private pause(): void {
    this.running = false;
    this.say();
    this.dirty = true;
  }

  private stepOnce(): void {
    if (!this.guess.locked) this.lock();
    this.running = false;
    if (this.scrub !== null) this.scrubTo(null);
    if (this.ended) this.prepare();
    else this.request();
    this.dirty = true;
  }

  private reset(): void {
    this.running = false;
    this.prepare();
  }

  private finish(): void {
    this.running = false;
    this.say();
    this.renderScore();
  }

  private scrubTo(index: number | null): void {
    this.running = false;
    this.scrub = index === null ? null : Math.min(index, this.history.length - 1);
    this.dirty = true;
  }

  // -- guessing ---------------------------------------------------------------------------------------------------

  private lock(): void {
    this.guess.locked = true;
    this.renderQuestion();
    this.startJobs();
    this.dirty = true;
  }

  private renderQuestion(): void {
    const progress = this.progress();
    const score = progress && this.guess.locked ? scoreOf(this.lesson, this.guess, this.panelInput(progress)) : null;
    this.layout.question.replaceChildren(questionView(this.lesson, this.guess, score, { changed: () => (this.dirty = true), lock: () => this.lock() }));
    if (score?.stars != null) this.keepStars(score.stars);
    this.layout.tryNext.hidden = !(score || this.lesson.question === null);
  }

  private renderScore(): void {
    const progress = this.progress();
    if (this.scored || !progress || !this.guess.locked) return;
    if (scoreOf(this.lesson, this.guess, this.panelInput(progress))) {
      this.scored = true;
      this.renderQuestion();
    }
  }

  private keepStars(stars: number): void {
    if ((this.stars[this.lesson.id] ?? -1) >= stars) return;
    this.stars[this.lesson.id] = stars;
    try {
      localStorage.setItem(STARS_KEY, JSON.stringify(this.stars));
    } catch {
      // Pages from disk may not store anything; the stars are kept while the page is open.
    }
    this.layout.showLesson(this.lesson, LESSONS.indexOf(this.lesson), this.stars);
  }

  // -- drawing ----------------------------------------------------------------------------------------------------

  private progress(): Progress | null {
    const { setup, history } = this;
    const frame = this.scrub === null ? this.frame : (history[this.scrub] ?? this.frame);
    if (!setup || !frame) return null;
    return { setup, frame, history, record: frame.record >= 0 ? frame.record : recordBefore(setup.records, frame.step) };
  }

  private panelInput(progress: Progress): PanelInput {
    const guess = this.lesson.question?.kind === "number" && this.guess.touched ? this.guess.number : null;
    return { progress, state: this.state, background: this.background, guess, selected: Math.min(this.selected, progress.setup.y.length - 1) };
  }

  private picture(): Picture | null {
    const p = this.progress();
    if (!p) return null;
    const guessing = this.lesson.question?.kind === "curve";
    return {
      setup: p.setup, frame: p.frame, record: p.record, band: this.background.band, seeds: this.background.seeds,
      guess: guessing && (this.guess.touched || !this.guess.locked) ? this.guess.curve : null, guessX: HANDLES, guessOpen: guessing && !this.guess.locked,
      selected: this.selected, focused: document.activeElement === this.layout.canvases.picture, showEnd: !(guessing && !this.guess.locked),
      best: p.setup.best, width: this.state.width, depth: this.state.depth,
    };
  }

  private tick(): void {
    if (this.running && this.answered) this.request(); // one record per frame of the screen
    if (!this.dirty) return;
    this.dirty = false;
    const p = this.progress();
    const picture = this.picture();
    if (!p || !picture) return;
    const c = this.colors;
    const hidden = this.lesson.question?.kind === "curve" && !this.guess.locked;
    const shown = hidden ? { ...picture, band: null } : picture;
    const main = this.charts.picture!;
    if (p.setup.dimension === 1) drawCurve(main, shown, c);
    else if (p.setup.dimension === 2) drawMap(main, shown, c);
    else drawOutputs(main, shown, c);
    const panels: [string, () => void][] = [
      ["loss", () => drawLoss(this.charts.loss!, hidden ? { ...p, setup: { ...p.setup, predicted: null } } : p, c)],
      ["modes", () => drawModes(this.charts.modes!, p, c)],
      ["lesson", () => this.drawLessonPanel(p)],
      ["regime", () => drawDial(this.charts.regime!, p, c)],
    ];
    this.turn = (this.turn + 1) % panels.length;
    panels.forEach(([name, draw], k) => {
      // While running, panels take turns: each is drawn in every fourth frame. Embedded pages hide some of them.
      if ((!this.running || k === this.turn) && this.charts[name]!.canvas.clientHeight > 30) draw();
    });
    const now = performance.now();
    if (!this.running || now - this.lastWords > 120) {
      this.lastWords = now;
      this.words(p);
    }
  }

  private drawLessonPanel(p: Progress): void {
    const chart = this.charts.lesson!;
    chart.begin();
    if (!this.guess.locked && this.lesson.question?.kind === "number") {
      chart.text("Lock your guess to see theory and measurement here.", chart.width / 2, chart.height / 2, this.colors.muted, "center", "13px system-ui, sans-serif");
      return;
    }
    PANELS[this.lesson.panel](chart, this.panelInput(p), this.colors);
  }

  private words(p: Progress): void {
    const { setup, frame } = p;
    const revealed = this.guess.locked || this.lesson.question === null;
    this.layout.sentence.textContent = sentence(this.state, p, this.running, revealed);
    this.layout.setPosition(this.scrub ?? this.history.length - 1, frame.step, this.running, this.ended);
    this.layout.facts({
      loss: `${show(frame.loss)}${setup.predicted && revealed ? ` · predicted ${show(setup.predicted.loss[Math.max(0, p.record)])}` : ""}`,
      modes: `${Math.min(14, setup.rates.length)} of ${setup.rates.length}`,
      regime: `drift ${percent(frame.drift ?? 0)} · alignment ${frame.alignment === null ? "–" : frame.alignment.toFixed(2)}`,
      rate: this.state.optimizer === "adam" ? `learning rate ${show(setup.lr)}` : `rate ${show(setup.lr)}${revealed || this.lesson.id !== "stable-rate" ? `, largest stable ${show(setup.largest)}` : ""}`,
    });
    document.body.dataset.view = setup.best ? "line" : ["outputs", "curve", "map"][setup.dimension];
    const { canvases } = this.layout;
    const kind = setup.dimension === 1 ? "Curve of the network through the points" : setup.dimension === 2 ? "Map of the network's output over two inputs" : "Outputs of the network against predicted outputs";
    canvases.picture.setAttribute("aria-label", `${kind}, step ${frame.step}. ${setup.y.length} points. Arrow keys choose a point, up and down move it.`);
    canvases.loss.setAttribute("aria-label", lossSummary(p));
    canvases.modes.setAttribute("aria-label", `Error left in ${setup.rates.length} modes.`);
    canvases.regime.setAttribute("aria-label", `Training is ${dialWords(frame.drift ?? 0)}: the kernel changed by ${percent(frame.drift ?? 0)}.`);
    canvases.lesson.setAttribute("aria-label", `${this.lesson.panelTitle}. The table has the numbers.`);
  }

  private say(): void {
    const p = this.progress();
    if (p) this.layout.whisper(sentence(this.state, p, false, true));
  }

  // -- dialogs ----------------------------------------------------------------------------------------------------

  private explain(id: string): void {
    const p = this.progress();
    if (!p) return;
    const found = explain(id === "lesson" ? this.lesson.panel : id, this.state, p);
    openDialog(found.title, explanationView(found));
  }

  private table(id: string): void {
    const p = this.progress();
    if (p) openDialog("The numbers", tableView(tableOf(id === "lesson" ? this.lesson.panel : id, p, this.panelInput(p))));
  }

  private copyLink(): void {
    this.writeLink(false);
    void copy(location.href, (done) => this.layout.say(done ? "Link copied." : location.href));
  }

  private copyPython(): void {
    const text = asPython(this.state);
    const pre = document.createElement("pre");
    pre.textContent = text;
    pre.tabIndex = 0;
    openDialog("The same with gnomon", pre);
    void copy(text, (done) => this.layout.say(done ? "Python copied." : "Select the text and copy it."));
  }

  private readLink(text: string): void {
    if (isTensorflowLink(text)) {
      const { state, notes } = readTensorflowLink(text);
      this.openState(state, true);
      this.layout.say(`Read the tensorflow-playground link; ${notes.join("; ")}.`);
    } else if (text.includes("lesson=")) {
      const { state, problems } = readState(text.slice(text.indexOf("#") + 1), lessonState);
      this.openState(state, true);
      if (problems.length) this.layout.say(problems.join(" "));
    } else this.layout.say("This is not a link of this page or of tensorflow-playground.");
  }

  // -- events -----------------------------------------------------------------------------------------------------

  private listenToPictures(): void {
    const app = this;
    listen(this.layout.canvases.picture, {
      chart: this.charts.picture!, picture: () => app.picture(), points: () => pointsOf(app.state),
      get guess() { return app.guess; },
      guessing: () => app.lesson.question?.kind === "curve" && !app.guess.locked,
      editable: () => app.served === null && app.chrome,
      moved: (points, final) => {
        if (app.setup && points.dimension === app.setup.dimension && points.y.length === app.setup.y.length) {
          app.setup.x = points.x; // the point follows the pointer at once; the prediction follows when it is computed
          app.setup.y = points.y;
        }
        app.change({ points }, final);
      },
      guessed: () => (app.dirty = true),
      get selected() { return app.selected; },
      set selected(i: number) { app.selected = i; },
      redraw: () => (app.dirty = true), say: (words) => app.layout.whisper(words),
    });
  }

  private listenToPage(): void {
    const redraw = () => {
      this.colors = readPalette();
      this.dirty = true;
    };
    window.addEventListener("resize", redraw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    this.layout.onTheme = redraw;
    this.layout.canvases.picture.addEventListener("focus", redraw);
    this.layout.canvases.picture.addEventListener("blur", redraw);
    window.addEventListener("popstate", () => this.openHash());
    window.addEventListener("hashchange", () => this.openHash());
    document.addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA|BUTTON)$/.test(target.tagName) || document.querySelector("dialog[open]")) return;
      if (event.key === " ") this.toggle();
      else if (event.key === ".") this.stepOnce();
      else if (event.key === "r") this.reset();
      else if (event.key === "[" || event.key === "]") this.neighbor(event.key === "]" ? 1 : -1);
      else return;
      event.preventDefault();
    });
  }

  neighbor(step: number): void {
    const next = LESSONS[LESSONS.indexOf(this.lesson) + step];
    if (next && !this.served) this.openLesson(next.id);
  }

  private openHash(): void {
    if (isTensorflowLink(location.hash)) return this.readLink(location.hash);
    const { state, problems } = readState(location.hash, lessonState);
    if (writeState(state, lessonState(state.lesson)!) === writeState(this.state, lessonState(this.state.lesson)!)) return;
    if (state.lesson === this.state.lesson) {
      this.state = state;
      this.controls.sync(state);
      this.prepare();
      this.startJobs();
    } else this.openState(state, false);
    if (problems.length) this.layout.say(problems.join(" "));
  }

  /** For measurements and tests. */
  get report() {
    return { step: this.frame?.step ?? 0, loss: this.frame?.loss ?? NaN, lr: this.setup?.lr ?? NaN, largest: this.setup?.largest ?? NaN, predicted: this.setup?.predicted?.loss.at(-1) ?? NaN, running: this.running, ready: this.answered && this.frame !== null, python: asPython(this.state), records: count(this.setup?.records.length ?? 0) };
  }
}

function recordBefore(records: number[], step: number): number {
  let k = 0;
  while (k + 1 < records.length && records[k + 1]! <= step) k++;
  return k;
}

async function copy(text: string, done: (worked: boolean) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    done(true);
  } catch {
    done(false);
  }
}

/** Starts the page. */
export async function main(): Promise<void> {
  let app: App | null = null;
  const receive = (message: FromWorker) => app?.receive(message);
  const served = await servedEngine(receive);
  const link = isTensorflowLink(location.hash) ? null : readState(location.hash, lessonState);
  const start = served ? { ...lessonState("free")!, optimizer: "gd" as const } : (link?.state ?? readTensorflowLink(location.hash).state);
  app = new App(link?.chrome ?? true, start, served?.network ?? null);
  (window as unknown as { playground: App }).playground = app;
  app.start(served?.engine ?? localEngine(receive));
}
