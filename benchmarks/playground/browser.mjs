// A headless Chromium on the committed page, and lines that say what was measured, what was wanted and whether it is met.
import { execSync } from "node:child_process";
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const require = createRequire(join(root, ".node", "package.json"));
export const pagePath = process.env.PLAYGROUND ?? join(root, "src", "gnomon", "playground", "playground.html");
export const address = pathToFileURL(pagePath).href;
const { chromium } = require("playwright-core");
const executablePath = process.env.CHROMIUM ?? execSync("command -v chromium", { encoding: "utf8" }).trim();
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PATIENCE = 120_000;

export async function open(context = {}) {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const opened = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...context });
  opened.setDefaultTimeout(PATIENCE);
  const page = await opened.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  return { browser, context: opened, page, errors };
}

export const ready = (page) => page.waitForFunction(() => window.playground?.report.ready);

export async function visit(page, link) {
  await page.goto("about:blank");
  await page.goto(`${address}#${link}`);
  await ready(page);
}

/** The value below which a part of the values lies. */
export const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];

let failed = 0;

/** Prints one criterion; `met` decides between PASS and FAIL. */
export function criterion(name, found, wanted, met) {
  if (!met) failed++;
  console.log(`${met ? "PASS" : "FAIL"}  ${name}: ${found} (wanted: ${wanted}; load ${loadavg()[0].toFixed(1)})`);
}

/** Ends the script; the exit code is 1 if a criterion is not met. */
export function finish() {
  console.log(failed ? `${failed} criteria not met` : "all criteria met");
  process.exitCode = failed ? 1 : 0;
}
