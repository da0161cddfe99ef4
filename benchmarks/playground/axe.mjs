// axe-core on every lesson, light and dark, desktop and phone; touch targets and horizontal scrolling on the phone.
import { readFileSync } from "node:fs";

import { criterion, finish, open, require, visit } from "./browser.mjs";

const SCREENS = [[1400, 900], [390, 844]];
const SMALLEST_TARGET = 43.5; // 44 px, less rounding
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const found = { runs: 0, violations: [], scrolling: [], small: [], errors: [] };

for (const scheme of ["light", "dark"]) {
  for (const [width, height] of SCREENS) {
    const phone = width < 500;
    const { browser, page, errors } = await open({ viewport: { width, height }, colorScheme: scheme, hasTouch: phone, isMobile: phone });
    await visit(page, "lesson=free");
    const lessons = await page.evaluate(() => [...document.querySelectorAll("nav select option")].map((option) => option.value));
    for (const lesson of lessons) {
      await visit(page, `lesson=${lesson}`);
      await page.evaluate(axe);
      await check(page, `${lesson}, ${scheme}, ${width} px`);
      await page.evaluate(() => {
        document.querySelector(".question button.quiet")?.click();
        document.querySelector(".panel.loss .q").click();
      });
      await check(page, `${lesson}, ${scheme}, ${width} px, explained`);
      if (phone) await lookAtTargets(page, lesson);
    }
    found.errors.push(...errors);
    await browser.close();
  }
}
const list = (values) => (values.length ? `${values.length}: ${values.slice(0, 5).join("; ")}` : "0");
criterion(`axe violations in ${found.runs} runs`, list(found.violations), "0", !found.violations.length);
criterion("horizontal scrolling at 390 px", list(found.scrolling), "0", !found.scrolling.length);
criterion("touch targets below 44 px", list(found.small), "0", !found.small.length);
criterion("errors", list(found.errors), "0", !found.errors.length);
finish();

async function check(page, where) {
  const violations = await page.evaluate(async () => (await window.axe.run(document)).violations.map((v) => `${v.id} at ${v.nodes.slice(0, 2).map((n) => `${n.target.join(" ")} (${n.any[0]?.message ?? ""})`).join(", ")}`));
  found.runs++;
  found.violations.push(...violations.map((words) => `${where}: ${words}`));
}

async function lookAtTargets(page, lesson) {
  const [scrolls, small] = await page.evaluate((least) => {
    document.querySelector("dialog")?.close();
    document.querySelector("details.sheet").open = true;
    const targets = document.querySelectorAll("button,select,summary,input:not([type=checkbox]):not([type=radio]),.control.check,.choices label");
    const low = [...targets].filter((e) => e.offsetParent && e.getBoundingClientRect().height < least);
    return [document.documentElement.scrollWidth - innerWidth, low.map((e) => e.outerHTML.slice(0, 70))];
  }, SMALLEST_TARGET);
  if (scrolls > 0) found.scrolling.push(`${lesson} by ${scrolls} px`);
  found.small.push(...small.map((words) => `${lesson}: ${words}`));
}
