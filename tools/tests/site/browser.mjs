// Looks at pages in Chromium and prints what it saw as JSON.
//
//   node browser.mjs <request.json>
//
// The request: { chromium, base, pages: [path], widths: [px], schemes: ["light" | "dark"],
// shots: folder }. The answer: one object for each page, width and scheme.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await chromium.launch({
  executablePath: request.chromium,
  args: ["--no-sandbox", "--font-render-hinting=none", "--hide-scrollbars"],
});

// Runs in the page: what is wider than the box it stands in. A scrolling box may hold more.
function overflowing() {
  const found = [];
  const name = (e) => `${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""} "${e.textContent.trim().slice(0, 40)}"`;
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.push(`page: ${page.scrollWidth} of ${page.clientWidth} px`);
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg") || element.matches(".skip, thead, thead *")) continue;
    const style = getComputedStyle(element);
    if (style.overflowX === "auto" || style.overflowX === "scroll" || style.display.startsWith("inline")) continue;
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0) found.push(name(element));
  }
  for (const svg of document.querySelectorAll("svg[viewBox]")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const inner = text.getBoundingClientRect();
      if (inner.width && (inner.left < box.left - 1 || inner.right > box.right + 1 || inner.top < box.top - 1 || inner.bottom > box.bottom + 1))
        found.push(`label of a chart: ${text.textContent}`);
    }
  }
  return found;
}

const seen = [];
for (const scheme of request.schemes) {
  for (const width of request.widths) {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      reducedMotion: "reduce",
      bypassCSP: false,
    });
    for (const path of request.pages) {
      const page = await context.newPage();
      const messages = [];
      const requests = [];
      page.on("console", (message) => messages.push(message.text()));
      page.on("pageerror", (error) => messages.push(String(error)));
      page.on("requestfinished", async (r) => {
        const sizes = await r.sizes().catch(() => null);
        requests.push({ url: r.url(), bytes: sizes?.responseBodySize ?? 0 });
      });
      page.on("requestfailed", (r) => requests.push({ url: r.url(), failed: r.failure()?.errorText }));
      await page.addInitScript(() => {
        globalThis.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) globalThis.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });
      });
      await page.goto(new URL(path, request.base).href, { waitUntil: "load" });
      const shift = await page.evaluate(() => globalThis.shift);
      const overflow = await page.evaluate(overflowing);
      const motion = await page.evaluate(() => document.getAnimations().length);
      const shot = join(request.shots, `${path.replaceAll("/", "_")}-${width}-${scheme}.png`);
      await page.screenshot({ path: shot, fullPage: request.full ?? false });
      // Playwright evaluates through the debugger, which the page's policy does not bind.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
      seen.push({
        page: path, width, scheme, messages, requests, shift, overflow, motion, shot,
        violations: violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 5).join("; ")}`),
      });
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
console.log(JSON.stringify(seen));
