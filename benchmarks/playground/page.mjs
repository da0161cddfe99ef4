// Loading with a slowed processor, response to a drag, keyboard, links, requests and reduced motion.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { address, criterion, finish, open, pagePath, quantile, ready, visit } from "./browser.mjs";

const LOADS = 7;
const DRAGS = 60;
const TENSORFLOW = "activation=tanh&batchSize=10&dataset=spiral&regDataset=reg-plane&learningRate=0.03&regularizationRate=0&noise=10&networkShape=4,2&seed=0.43&x=true&y=true&xSquared=true&problem=classification";

const size = gzipSync(readFileSync(pagePath), { level: 9 }).length;
criterion("size of the page", `${(size / 1000).toFixed(1)} kB gzipped`, "at most 150 kB", size <= 150_000);
await measureLoading();
await measureDrags();
await tryKeyboardAndLinks();
await tryReducedMotion();
finish();

async function measureLoading() {
  const [paints, times] = [[], []];
  for (let k = 0; k < LOADS; k++) {
    const { browser, page, context } = await open();
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.addInitScript(() => {
      const look = () => (window.playground?.report.ready ? (window.readyAt = performance.now()) : setTimeout(look, 5));
      look();
    });
    await page.goto(`${address}#lesson=function-space`);
    await page.waitForFunction(() => window.readyAt);
    const [paint, interactive] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime, window.readyAt]);
    paints.push(paint / 1000);
    times.push(interactive / 1000);
    await browser.close();
  }
  const words = (values) => `median ${quantile(values, 0.5).toFixed(2)} s of ${values.map((v) => v.toFixed(2)).join(", ")}`;
  criterion("first paint, processor slowed 4 times", words(paints), "at most 0.5 s", quantile(paints, 0.5) <= 0.5);
  criterion("interactive, processor slowed 4 times", words(times), "at most 1 s", quantile(times, 0.5) <= 1);
}

async function measureDrags() {
  const { browser, page, errors } = await open();
  for (const [name, link] of [["8 points, width 2,048", "lesson=function-space"], ["48 points, width 512", "lesson=free&data=sine&n=48&a=r&w=512&d=1&o=s"]]) {
    await visit(page, link);
    await page.evaluate(() => document.querySelector(".question button.quiet")?.click());
    const { point, prediction } = await page.evaluate(dragPoint, DRAGS);
    criterion(`a dragged point is redrawn, ${name}`, `95 % within ${quantile(point, 0.95).toFixed(0)} ms`, "at most 50 ms", quantile(point, 0.95) <= 50);
    criterion(`its prediction is redrawn, ${name}`, `median ${quantile(prediction, 0.5).toFixed(0)} ms, 95 % within ${quantile(prediction, 0.95).toFixed(0)} ms`, "at most 50 ms", quantile(prediction, 0.95) <= 50);
  }
  criterion("errors", errors.length, "0", errors.length === 0);
  await browser.close();
}

/** In the page: moves a point again and again, and waits until the point and the new prediction are drawn. */
async function dragPoint(count) {
  const canvas = document.getElementById("picture");
  const box = canvas.getBoundingClientRect();
  const [X, Y] = [(x) => box.left + 36 + ((x + 2) / 4) * (box.width - 48), (y) => box.top + 12 + ((2 - y) / 4) * (box.height - 36)];
  canvas.setPointerCapture = () => {};
  const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, bubbles: true }));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const { x, marks } = playground.report.setup;
  send("pointerdown", X(x[3]), Y(marks[3]));
  const [point, prediction] = [[], []];
  for (let k = 0; k < count; k++) {
    await frame();
    const [before, start] = [playground.report.setup, performance.now()];
    send("pointermove", X(0.1 + 0.01 * k), Y(0.5 - 0.02 * k));
    await frame();
    point.push(performance.now() - start);
    while (playground.report.setup === before || !playground.report.ready) await new Promise((done) => setTimeout(done));
    await frame(); // the page draws in this frame, before the next line
    prediction.push(performance.now() - start);
  }
  send("pointerup", X(0.5), Y(0));
  return { point, prediction };
}

async function tryKeyboardAndLinks() {
  const { browser, page, errors } = await open();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await visit(page, "lesson=function-space");
  await page.focus("#picture");
  for (const key of ["ArrowUp", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press(" ");
  await page.waitForFunction(() => !playground.report.running && playground.report.step > 0);
  const [step, score] = await page.evaluate(() => [playground.report.step, document.querySelector(".score")?.innerText.replaceAll("\n", " ")]);
  criterion("guess and run by keyboard", `step ${step}; ${score}`, "step 300 and a score", step === 300 && Boolean(score));
  await page.evaluate(() => playground.neighbor(1));
  await page.waitForFunction(() => location.hash.startsWith("#lesson=spectral-bias"));
  await page.goBack();
  await page.waitForFunction(() => playground.state.lesson === "function-space" && playground.report.ready);
  criterion("back button", "returns to the lesson before", "the same", true);
  const [href, predicted] = await page.evaluate(() => [location.href, playground.report.predicted]);
  await page.goto("about:blank");
  await page.goto(href);
  await ready(page);
  const again = await page.evaluate(() => playground.report.predicted);
  criterion("a link gives the same numbers", `${predicted} and ${again}`, "equal", predicted === again);
  await visit(page, TENSORFLOW);
  const read = await page.evaluate(() => [playground.state.data, playground.state.width, playground.state.depth].join(", "));
  criterion("a tensorflow-playground link", read, "spiral, 4, 2", read === "spiral, 4, 2");
  const outside = requests.filter((url) => !/^(blob|about|data):/.test(url) && !url.startsWith(address));
  criterion("requests besides the page itself", outside.length, "0", outside.length === 0);
  criterion("errors", errors.length, "0", errors.length === 0);
  await browser.close();
}

async function tryReducedMotion() {
  const { browser, page } = await open({ reducedMotion: "reduce" });
  await visit(page, "lesson=free");
  await page.waitForTimeout(1500);
  const { step, running } = await page.evaluate(() => ({ step: playground.report.step, running: playground.report.running }));
  criterion("reduced motion starts paused", `step ${step}, running ${running}`, "step 0, not running", step === 0 && !running);
  await browser.close();
}
