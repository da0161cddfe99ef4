// Memory of the page while it runs again and again: heap of the main thread after garbage collection, and resident size.
// Usage: node memory.mjs [seconds]
import { readFileSync } from "node:fs";

import { criterion, finish, open, visit } from "./browser.mjs";

const seconds = Number(process.argv[2] ?? 600);
const SETTLED_SECONDS = Math.min(60, seconds / 4);
const SAMPLE_SECONDS = Math.min(30, seconds / 8);
const MOST_GROWTH = 10;

const { browser, context, page, errors } = await open();
const session = await context.newCDPSession(page);
const processes = await browser.newBrowserCDPSession();
await visit(page, "lesson=free");
const start = Date.now();
const samples = [];
while (Date.now() - start < 1000 * seconds) {
  await page.evaluate(() => playground.report.running || playground.run());
  await page.waitForTimeout(500);
  if (Date.now() - start < 1000 * SAMPLE_SECONDS * (samples.length + 1)) continue;
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  samples.push({ seconds: Math.round((Date.now() - start) / 1000), heap: usedSize / 1e6, resident: await resident() });
  const { seconds: at, heap, resident: size } = samples.at(-1);
  console.log(`      ${at} s: heap ${heap.toFixed(2)} MB, page and workers ${size.toFixed(0)} MB resident`);
}
const settled = samples.filter((s) => s.seconds >= SETTLED_SECONDS);
for (const [name, key] of [["heap", "heap"], ["resident size", "resident"]]) {
  const growth = settled.at(-1)[key] - settled[0][key];
  criterion(`growth of the ${name} from ${settled[0].seconds} to ${settled.at(-1).seconds} s`, `${growth.toFixed(2)} MB`, `at most ${MOST_GROWTH} MB`, growth <= MOST_GROWTH);
}
criterion("errors", errors.length, "0", errors.length === 0);
await browser.close();
finish();

/** Resident size of the page's processes in MB. */
async function resident() {
  const { processInfo } = await processes.send("SystemInfo.getProcessInfo");
  const sizes = processInfo.filter((one) => one.type === "renderer").map(({ id }) => Number(readFileSync(`/proc/${id}/status`, "utf8").match(/VmRSS:\s+(\d+)/)?.[1] ?? 0));
  return sizes.reduce((a, b) => a + b, 0) / 1024;
}
