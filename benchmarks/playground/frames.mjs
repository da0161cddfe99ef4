// New states of the network on the screen per second while it trains, and tasks that block the main thread.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { criterion, finish, open, visit } from "./browser.mjs";

const SECONDS = 5;
const CURVE = "lesson=free&data=sine&n=48&a=r&t=20000&o=s";
const CASES = [
  ["one layer of 512, 48 points", `${CURVE}&w=512&d=1`, 55],
  ["one layer of 2,048, 48 points", `${CURVE}&w=2048&d=1`, 30],
  ["two layers of 256, 48 points", `${CURVE}&w=256&d=2`, 30],
  ["two layers of 8 on a map, 48 points", "lesson=free&data=circle&t=20000", 30],
];

const folder = mkdtempSync(join(tmpdir(), "playground-"));
const { browser, page, errors } = await open();
for (const [name, link, wanted] of CASES) {
  await visit(page, link);
  await page.evaluate(() => playground.run());
  await page.waitForTimeout(500);
  const path = join(folder, "trace.json");
  await browser.startTracing(page, { path, categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  const measured = await page.evaluate(watchFrames, SECONDS);
  await browser.stopTracing();
  const states = measured.states / measured.seconds;
  criterion(`new states per second, ${name}`, states.toFixed(1), `at least ${wanted}`, states >= wanted);
  const drawn = measured.frames / measured.seconds;
  const [main, worker] = [threadTimes(path, "CrRendererMain"), threadTimes(path, "DedicatedWorker thread")];
  criterion(`longest main-thread task while running, ${name}`, `${measured.longest.toFixed(0)} ms, processor time ${main.longest.toFixed(0)} ms`, "at most 50 ms", measured.longest <= 50);
  console.log(`      screen ${drawn.toFixed(1)} frames/s, main thread ${(main.total / measured.frames).toFixed(1)} ms of processor time per frame, worker ${(worker.total / measured.states).toFixed(1)} ms per state, step ${measured.step}`);
}
criterion("errors", errors.length, "0", errors.length === 0);
await browser.close();
rmSync(folder, { recursive: true });
finish();

/** In the page: counts frames of the screen and changes of the state until the run ends. */
async function watchFrames(seconds) {
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ type: "longtask" });
  let [frames, states, last] = [0, 0, -1];
  const start = performance.now();
  await new Promise((done) => {
    const look = () => {
      frames++;
      const { step, running } = playground.report;
      if (step !== last) states++;
      last = step;
      if (!running || performance.now() - start > 1000 * seconds) done();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  observer.disconnect();
  return { frames, states, step: last, seconds: (performance.now() - start) / 1000, longest: Math.max(0, ...tasks) };
}

/** Processor time of the tasks of a thread in a trace. */
function threadTimes(path, name) {
  const events = JSON.parse(readFileSync(path)).traceEvents;
  const chosen = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === name).map((e) => `${e.pid}:${e.tid}`));
  const times = events.filter((e) => e.ph === "X" && e.name === "RunTask" && chosen.has(`${e.pid}:${e.tid}`)).map((e) => (e.tdur ?? 0) / 1000);
  return { total: times.reduce((a, b) => a + b, 0), longest: Math.max(0, ...times) };
}
