// Memory of the page while it runs again and again: the heap of the main thread after garbage collection, and the
// resident size of the browser's processes.
import { execSync } from "node:child_process";
import { open, visit } from "./browser.mjs";

const seconds = Number(process.argv[2] ?? 600);
const { browser, context, page, errors } = await open();
const session = await context.newCDPSession(page);
const resident = () => execSync(`ps -o rss=,args= -u $(id -u)`, { encoding: "utf8" }).split("\n")
  .filter((line) => line.includes("--type=renderer") && line.includes("headless")).reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[0]), 0) / 1024;
await visit(page, "lesson=free");
const start = Date.now();
let next = 0;
while (Date.now() - start < 1000 * seconds) {
  await page.evaluate(() => playground.report.running || playground.run());
  await page.waitForTimeout(1000);
  if (Date.now() - start < next) continue;
  next += 30000;
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  console.log(`${Math.round((Date.now() - start) / 1000)} s: heap ${(usedSize / 1e6).toFixed(2)} MB, renderer ${resident().toFixed(0)} MB`);
}
console.log("errors", errors.length);
await browser.close();
