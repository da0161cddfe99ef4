// A headless Chromium on the committed page.
import { execSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const require = createRequire(join(root, ".node", "package.json"));
export const address = pathToFileURL(join(root, "src", "gnomon", "playground", "playground.html")).href;
const { chromium } = require("playwright-core");
const executablePath = process.env.CHROMIUM ?? execSync("command -v chromium", { encoding: "utf8" }).trim();
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export async function open(context = {}) {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const opened = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...context });
  const page = await opened.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  return { browser, context: opened, page, errors };
}

export async function visit(page, link) {
  await page.goto("about:blank");
  await page.goto(`${address}#${link}`);
  await page.waitForFunction(() => window.playground?.report.ready);
}
