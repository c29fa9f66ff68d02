// Plays steps on the Explore page in Chromium and prints what it shows after each, as JSON.
//
//   node explore.mjs <request.json>
//
// The request: { chromium, base, plays: [[step]] }, a step being one of { open: address },
// { click: selector }, { press: key }, { select: anchor of a table }, { go: -1 or 1 },
// { width: px }, { scheme: "light" | "dark" }, { fail: part of an address that then fails },
// { script: false }. The answer: for each play what it showed after each step, and all messages.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await chromium.launch({ executablePath: request.chromium, args: ["--no-sandbox"] });

// Runs in the page: what a reader sees.
function look() {
  const text = (selector) =>
    [...document.querySelectorAll(selector)]
      .filter((element) => element.checkVisibility())
      .map((element) => element.textContent.replace(/\s+/g, " ").trim());
  const svg = document.querySelector("#explore figure:not([hidden]) svg");
  const checked = (name) => [...document.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value);
  return {
    search: location.search,
    status: text("[role=status]").join(),
    notices: text(".explore-notices li"),
    caption: text("caption"),
    names: text("table.explore tbody th[scope=row]"),
    figures: text("table.explore td.right:not(:last-child)"),
    links: [...document.querySelectorAll("table.explore td a")].map((a) => a.getAttribute("href")),
    form: document.querySelector("#explore form").checkVisibility(),
    reports: checked("reports"),
    libraries: checked("libraries"),
    scenarios: checked("scenarios"),
    focus: document.activeElement.value ?? document.activeElement.tagName,
    chart: svg && {
      title: svg.querySelector("title").textContent,
      description: svg.querySelector("desc").textContent,
      named: svg.getAttribute("aria-labelledby").split(" ").every((id) => svg.querySelector(`#${id}`)),
      texts: [...svg.querySelectorAll("text")].map((label) => label.textContent),
      bars: [...svg.querySelectorAll("line[stroke^='var(']")]
        .filter((line) => Number.parseFloat(line.getAttribute("stroke-width")) > 5)
        .map((line) => getComputedStyle(line).stroke),
      width: svg.getBoundingClientRect().width,
    },
  };
}

async function play(steps) {
  const script = !steps.some((step) => step.script === false);
  const context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: "reduce" });
  const page = await context.newPage();
  const messages = [];
  const requests = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (asked) => requests.push(asked.url()));
  const seen = [];
  for (const step of steps) {
    if (step.fail) await page.route(new RegExp(step.fail), (route) => route.abort());
    if (step.open !== undefined) await page.goto(new URL(step.open, request.base).href, { waitUntil: "load" });
    if (step.click) await page.click(step.click);
    if (step.press) await page.keyboard.press(step.press);
    if (step.select) await page.selectOption("select", step.select);
    if (step.go) await page.evaluate((by) => history.go(by), step.go);
    if (step.width) await page.setViewportSize({ width: step.width, height: 900 });
    if (step.scheme) await page.emulateMedia({ colorScheme: step.scheme });
    if (step.fail || step.script === false) continue;
    await page.waitForTimeout(100);
    if (script) await page.waitForSelector("#explore:not([hidden]) .explore-output:not([aria-busy])");
    seen.push(await page.evaluate(look));
  }
  await context.close();
  return { seen, messages, requests };
}

const played = [];
for (const steps of request.plays) played.push(await play(steps));
await browser.close();
console.log(JSON.stringify(played));
