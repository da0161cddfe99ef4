// Draws what is on the screen: the picture, the panels, and the words around them.
import type { State } from "../core/state";
import { Chart } from "./chart";
import { percent, readPalette, show, type Palette } from "./dom";
import { HANDLES, type Guess } from "./guess";
import type { Background } from "./jobs";
import type { CanvasName, Layout } from "./layout";
import type { PanelInput } from "./lessonnumbers";
import { PANELS } from "./lessonpanels";
import type { Lesson } from "./lessons";
import { change, dialWords, drawDial, drawLoss, drawModes, lossSummary, MODES_SHOWN, type Progress } from "./panels";
import { sentence } from "./sentence";
import { drawCurve, drawMap, drawOutputs, type Picture } from "./views";

/** Everything that is drawn. */
export interface Scene {
  state: State;
  lesson: Lesson;
  guess: Guess;
  progress: Progress;
  background: Background;
  selected: number;
  running: boolean;
  ended: boolean;
  position: number;
}

const WORDS_MILLISECONDS = 120;
const SMALLEST_PANEL = 30;

/** What the panel of a lesson needs. */
export function panelInput({ lesson, guess, progress, state, background, selected }: Scene): PanelInput {
  const number = lesson.question?.kind === "number" && guess.touched ? guess.number : null;
  return { progress, state, background, guess: number, selected: Math.min(selected, progress.setup.marks.length - 1) };
}

/** The learning rate in numbers, unless it is what the lesson asks for. */
function rateWords({ state, lesson, progress: { setup } }: Scene, revealed: boolean): string {
  if (lesson.id === "stable-rate" && !revealed) return `learning rate: ${show(state.rate)} × max; max is what you guess`;
  return `learning rate ${show(setup.lr)}${state.optimizer === "adam" ? "" : `; largest stable ${show(setup.largest)}`}`;
}

export class Painter {
  readonly charts: Record<CanvasName, Chart>;
  private colors: Palette = readPalette();
  private turn = 0;
  private lastWords = 0;

  constructor(private readonly layout: Layout) {
    this.charts = Object.fromEntries(Object.entries(layout.canvases).map(([name, canvas]) => [name, new Chart(canvas)])) as Record<CanvasName, Chart>;
  }

  readColors(): void {
    this.colors = readPalette();
  }

  picture({ lesson, guess, progress: { setup, frame, record }, background, selected, state }: Scene): Picture {
    const asks = lesson.question?.kind === "curve";
    const open = asks && !guess.locked;
    const spoils = lesson.panel === "spread" && !guess.locked; // the band is the answer
    return {
      setup, frame, record, band: open || spoils ? null : background.band, seeds: background.seeds,
      guess: asks && (guess.touched || open) ? guess.curve : null, guessX: HANDLES, guessOpen: open,
      selected, focused: document.activeElement === this.layout.canvases.picture, showEnd: !open, width: state.width, depth: state.depth,
    };
  }

  draw(scene: Scene): void {
    const { progress: p, lesson, guess, running } = scene;
    const c = this.colors;
    const picture = this.picture(scene);
    [drawOutputs, drawCurve, drawMap][p.setup.dimension]!(this.charts.picture, picture, c);
    const hidden = lesson.question?.kind === "curve" && !guess.locked;
    const panels: [CanvasName, () => void][] = [
      ["loss", () => drawLoss(this.charts.loss, hidden ? { ...p, setup: { ...p.setup, predicted: null } } : p, c)],
      ["modes", () => drawModes(this.charts.modes, p, c)],
      ["lesson", () => this.drawLessonPanel(scene)],
      ["regime", () => drawDial(this.charts.regime, p, c)],
    ];
    this.turn = (this.turn + 1) % panels.length;
    panels.forEach(([name, draw], k) => {
      // While running, panels take turns: each is drawn in every fourth frame. Embedded pages hide some of them.
      if ((!running || k === this.turn) && this.charts[name].canvas.clientHeight > SMALLEST_PANEL) draw();
    });
    const now = performance.now();
    if (!running || now - this.lastWords > WORDS_MILLISECONDS) {
      this.lastWords = now;
      this.writeWords(scene);
    }
  }

  private drawLessonPanel(scene: Scene): void {
    const chart = this.charts.lesson;
    chart.begin();
    if (!scene.guess.locked && scene.lesson.question?.kind === "number") {
      chart.text("Lock your guess to see theory and measurement here.", chart.width / 2, chart.height / 2, this.colors.muted, "center", "13px system-ui, sans-serif");
      return;
    }
    PANELS[scene.lesson.panel](chart, panelInput(scene), this.colors);
  }

  private writeWords(scene: Scene): void {
    const { state, lesson, guess, progress: p, running } = scene;
    const { setup, frame } = p;
    const revealed = guess.locked || lesson.question === null;
    this.layout.sentence.textContent = sentence(state, p, running, revealed);
    this.layout.setPosition(scene.position, frame.step, running, scene.ended);
    const predicted = setup.predicted && revealed ? ` · predicted ${show(setup.predicted.loss[Math.max(0, p.record)])}` : "";
    this.layout.facts({
      loss: `${show(frame.loss)}${predicted}`,
      modes: `${Math.min(MODES_SHOWN, setup.rates.length)} of ${setup.rates.length}`,
      regime: frame.step === 0 ? "not trained yet" : `drift ${change(frame.drift ?? 0)}${frame.alignment === null ? "" : ` · alignment ${frame.alignment.toFixed(2)}`}`,
      rate: rateWords(scene, revealed),
    });
    document.body.classList.toggle("banded", this.picture(scene).band !== null && !state.centered);
    document.body.dataset.view = setup.best ? "line" : ["outputs", "curve", "map"][setup.dimension];
    this.describePictures(p, lesson);
  }

  private describePictures(p: Progress, lesson: Lesson): void {
    const { setup, frame } = p;
    const { canvases } = this.layout;
    const kind = ["Outputs of the network against predicted outputs", "Curve of the network through the points", "Map of the network's output over two inputs"][setup.dimension];
    const drift = frame.drift ?? 0;
    const words: Record<CanvasName, string> = {
      picture: `${kind}, step ${frame.step}. ${setup.marks.length} points. Arrow keys choose a point, up and down move it.`,
      loss: lossSummary(p), modes: `Error left in ${setup.rates.length} modes.`, lesson: `${lesson.panelTitle}. The table has the numbers.`,
      regime: frame.step === 0 ? "Lazy or rich is not known before the first step." : `Training is ${dialWords(drift)}: the kernel changed by ${percent(drift)}.`,
    };
    for (const [name, text] of Object.entries(words)) canvases[name as CanvasName].setAttribute("aria-label", text);
  }
}
