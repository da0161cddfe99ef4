// The page: holds the state, the lesson and the guess, and connects controls, run and pictures.
import { consistent, pointsOf, readState, type State } from "../core/state";
import { isTensorflowLink, readTensorflowLink } from "../core/tfplayground";
import { Controls } from "./controls";
import { count } from "./dom";
import type { ServedNetwork } from "./engine";
import { explain, explanationView } from "./explain";
import { HANDLES, newGuess, questionView, scoreOf, asksForNumbers, withdraw, type Guess, type Score } from "./guess";
import { Jobs } from "./jobs";
import { listenToKeys } from "./keys";
import { buildLayout, openDialog, type Layout } from "./layout";
import { LESSONS, lessonOf, lessonState, measuresSharpness, type Lesson } from "./lessons";
import { copy, linkTo, setLink } from "./links";
import { Painter, panelInput, type Scene } from "./painter";
import type { Player } from "./player";
import { listen } from "./pointer";
import { asPython } from "./python";
import { sentence } from "./sentence";
import { Stars } from "./stars";
import { tableOf, tableView } from "./tables";

const FIRST_RUN_MILLISECONDS = 400;

export class App {
  state: State;
  lesson: Lesson;
  guess: Guess;
  selected = 0;
  private dirty = true;
  private scored = false;
  private jobsWanted = false;
  private readonly stars = new Stars();
  private readonly jobs = new Jobs(() => {
    this.showScore();
    this.redraw();
  });
  private readonly layout: Layout;
  private readonly controls: Controls;
  private readonly painter: Painter;

  /** `player` is already asked for the first state, so that it is computed while the page is built. */
  constructor(readonly chrome: boolean, start: State, private readonly served: ServedNetwork | null, private readonly player: Player) {
    this.state = start;
    this.lesson = lessonOf(start.lesson)!;
    this.guess = newGuess(this.lesson);
    this.controls = new Controls((part, final) => this.change(part, final), (id) => this.explain(id), served !== null);
    this.layout = buildLayout(this.controls.root, served, {
      run: () => this.toggle(), step: () => this.step(), reset: () => this.reset(), scrub: (index) => this.scrub(index),
      explain: (id) => this.explain(id), table: (id) => this.table(id), lesson: (id) => this.openLesson(id),
      original: () => this.openLesson(this.lesson.id), copyLink: () => this.copyLink(), copyPython: () => this.copyPython(),
      readLink: (text) => this.readLink(text),
    });
    document.body.classList.toggle("embedded", !chrome);
    document.body.classList.toggle("own", served !== null);
    document.getElementById("loading")?.remove();
    document.body.append(this.layout.root);
    this.painter = new Painter(this.layout);
    this.listen();
  }

  /** Opens the first state and starts drawing. */
  start(): void {
    this.showState();
    this.player.listen({
      ready: () => this.ready(), changed: () => this.redraw(), ended: () => this.ended(),
      failed: (words) => this.layout.say(`This setting could not be computed: ${words}`),
    });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!still && (this.lesson.id === "free" || !this.chrome)) setTimeout(() => this.run(), FIRST_RUN_MILLISECONDS);
    const loop = () => {
      this.player.tick();
      const scene = this.dirty && this.scene();
      if (scene) {
        this.dirty = false;
        this.painter.draw(scene);
      }
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  private redraw(): void {
    this.dirty = true;
  }

  private scene(): Scene | null {
    const { state, lesson, guess, selected, player } = this;
    const progress = player.progress();
    return progress && { state, lesson, guess, progress, background: this.jobs.results, selected, running: player.running, ended: player.atEnd, position: player.position };
  }

  // -- state ------------------------------------------------------------------------------------------------------

  private change(part: Partial<State>, final: boolean): void {
    this.state = consistent({ ...this.state, ...part });
    if (final) this.askAgain();
    this.prepare();
    if (final) {
      this.controls.sync(this.state);
      this.writeLink(true);
      this.startJobs();
    }
    this.redraw();
  }

  private openLesson(id: string): void {
    this.openState(lessonState(id)!, true);
  }

  private openState(state: State, push: boolean): void {
    this.state = state;
    this.lesson = lessonOf(state.lesson)!;
    this.guess = newGuess(this.lesson);
    this.jobs.results.band = null;
    this.prepare();
    this.showState();
    if (push) this.writeLink(true);
  }

  private showState(): void {
    if (this.served || !this.chrome) this.guess.locked = true; // embedded pages show, they do not ask
    this.selected = Math.min(2, this.state.n - 1);
    this.controls.sync(this.state);
    this.layout.showLesson(this.lesson, LESSONS.indexOf(this.lesson), this.stars.all);
    this.showQuestion();
    this.startJobs();
  }

  private prepare(): void {
    this.scored = false;
    this.player.prepare(this.state, measuresSharpness(this.lesson));
  }

  private startJobs(): void {
    this.jobsWanted = !this.player.settled;
    if (!this.served && this.player.settled) this.jobs.start(this.state, this.lesson, this.guess.locked);
  }

  private ready(): void {
    const setup = this.player.setup!;
    this.layout.setScrub(setup.records.length - 1);
    if (!this.served) this.jobs.askForBand(this.state, setup.lr);
    if (this.jobsWanted) this.startJobs();
    if (!this.guess.touched && !this.guess.locked && setup.dimension === 1) {
      const { start } = setup; // handles start on the curve before training
      HANDLES.forEach((x, k) => (this.guess.curve[k] = start[Math.round(((x + 2) / 4) * (start.length - 1))]!));
    }
  }

  // -- running ----------------------------------------------------------------------------------------------------

  private toggle(): void {
    if (this.player.running) this.pause();
    else if (!this.guess.locked && !this.guess.touched) this.layout.say('Guess first, or choose "Show me without guessing".');
    else this.run();
  }

  run(): void {
    if (!this.guess.locked) this.lock();
    if (this.player.atEnd) this.prepare();
    this.player.run();
    this.redraw();
  }

  private pause(): void {
    this.player.pause();
    this.whisper();
    this.redraw();
  }

  private step(): void {
    if (!this.guess.locked) this.lock();
    if (this.player.atEnd) this.prepare();
    else this.player.step();
    this.redraw();
  }

  private reset(): void {
    this.prepare();
  }

  private scrub(index: number): void {
    this.player.scrubTo(index);
    this.redraw();
  }

  private ended(): void {
    this.whisper();
    this.showScore();
  }

  /** Tells a screen reader what the sentence says. */
  private whisper(): void {
    const progress = this.player.progress();
    if (progress) this.layout.whisper(sentence(this.state, progress, false, true));
  }

  // -- guessing ---------------------------------------------------------------------------------------------------

  private askAgain(): void {
    if (withdraw(this.guess)) this.layout.say("The settings changed. Make your guess again.");
    if (!this.guess.locked) this.showQuestion();
  }

  private lock(): void {
    this.guess.locked = true;
    this.guess.asked = this.lesson.question?.ask(this.state) ?? "";
    this.showQuestion();
    this.startJobs();
    this.redraw();
  }

  private score(): Score | null {
    const scene = this.scene();
    return scene && this.guess.locked && this.player.settled ? scoreOf(this.lesson, this.guess, panelInput(scene)) : this.guess.score;
  }

  private showQuestion(): void {
    const score = this.score();
    this.layout.question.replaceChildren(questionView(this.lesson, this.state, this.guess, score, { changed: () => this.redraw(), lock: () => this.lock() }));
    if (score?.stars != null && this.stars.keep(this.lesson.id, score.stars)) this.layout.showLesson(this.lesson, LESSONS.indexOf(this.lesson), this.stars.all);
    this.layout.tryNext.hidden = !(score || this.lesson.question === null);
  }

  private showScore(): void {
    if (this.scored || !this.score()) return;
    this.scored = true;
    this.showQuestion();
  }

  // -- dialogs and links ------------------------------------------------------------------------------------------

  private explain(id: string): void {
    const progress = this.player.progress();
    if (!progress) return;
    const found = explain(id === "lesson" ? this.lesson.panel : id, this.state, progress);
    openDialog(found.title, explanationView(asksForNumbers(this.lesson, this.guess) ? { ...found, numbers: "The numbers appear after your guess.", call: "" } : found));
  }

  private table(id: string): void {
    const scene = this.scene();
    if (asksForNumbers(this.lesson, this.guess)) this.layout.say("The numbers appear after your guess.");
    else if (scene) openDialog("The numbers", tableView(tableOf(id === "lesson" ? this.lesson.panel : id, scene.progress, panelInput(scene))));
  }

  private writeLink(push: boolean): void {
    if (!this.served) setLink(linkTo(this.state, this.chrome), push);
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

  /** Follows the address after "back", "forward" or an edited link. */
  private openHash(): void {
    if (this.served) return;
    if (isTensorflowLink(location.hash)) return this.readLink(location.hash);
    const { state, problems } = readState(location.hash, lessonState);
    if (linkTo(state, true) === linkTo(this.state, true)) return;
    if (state.lesson === this.state.lesson) {
      this.state = state;
      this.askAgain();
      this.controls.sync(state);
      this.prepare();
      this.startJobs();
    } else this.openState(state, false);
    if (problems.length) this.layout.say(problems.join(" "));
  }

  /** Opens the lesson this many places further. */
  neighbor(places: number): void {
    const next = LESSONS[LESSONS.indexOf(this.lesson) + places];
    if (next && !this.served) this.openLesson(next.id);
  }

  // -- events -----------------------------------------------------------------------------------------------------

  private listen(): void {
    const app = this;
    listen(this.layout.canvases.picture, {
      chart: this.painter.charts.picture, points: () => pointsOf(app.state),
      picture: () => { const scene = app.scene(); return scene && app.painter.picture(scene); },
      get guess() { return app.guess; },
      guessing: () => app.lesson.question?.kind === "curve" && !app.guess.locked,
      editable: () => app.served === null && app.chrome,
      moved: (points, final) => {
        const { setup } = app.player;
        if (setup && points.dimension === setup.dimension && points.y.length === setup.y.length) {
          setup.x = points.x; // the point follows the pointer at once; the prediction follows when it is computed
          setup.y = setup.marks = points.y;
        }
        app.change({ points }, final);
      },
      guessed: () => {
        app.showQuestion();
        app.redraw();
      },
      get selected() { return app.selected; },
      set selected(i: number) { app.selected = i; },
      redraw: () => app.redraw(), say: (words) => app.layout.whisper(words),
    });
    const colors = () => {
      this.painter.readColors();
      this.redraw();
    };
    window.addEventListener("resize", colors);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colors);
    this.layout.onTheme = colors;
    for (const event of ["focus", "blur"]) this.layout.canvases.picture.addEventListener(event, () => this.redraw());
    for (const event of ["popstate", "hashchange"]) window.addEventListener(event, () => this.openHash());
    listenToKeys({ " ": () => this.toggle(), ".": () => this.step(), r: () => this.reset(), "[": () => this.neighbor(-1), "]": () => this.neighbor(1) });
  }

  /** The numbers on the screen, for measurements and tests. */
  get report() {
    const { player } = this;
    const progress = player.progress();
    return {
      step: progress?.frame.step ?? 0, loss: progress?.frame.loss ?? NaN, lr: player.setup?.lr ?? NaN, largest: player.setup?.largest ?? NaN,
      predicted: player.setup?.predicted?.loss.at(-1) ?? NaN, running: player.running, ready: player.answered && progress !== null,
      python: asPython(this.state), records: count(player.setup?.records.length ?? 0), setup: player.setup, history: player.history.length,
    };
  }
}
