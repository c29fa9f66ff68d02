// Plays steps on the Explore page and reports what it shows after each: a part of browser.mjs.
//
// A request: { base, plays: [[step]] }, a step being one of { open: address },
// { click: selector }, { press: key }, { select: anchor of a table }, { choose: [name, value] },
// { save: true } (clicks and reads the file), { go: -1 or 1 },
// { width: px }, { scheme: "light" | "dark" }, { fail: part of an address that then fails },
// { answer: [part of an address, its body from then on] }. The answer: for each play what it showed
// after each step, and all messages.

import { readFileSync } from "node:fs";

// Runs in the page: what a reader sees.
function look() {
  const text = (selector) =>
    [...document.querySelectorAll(selector)]
      .filter((element) => element.checkVisibility())
      .map((element) => element.textContent.replace(/\s+/g, " ").trim());
  const svg = document.querySelector("#explore figure:not([hidden]) svg");
  const place = (element, x = 0) => {
    const matrix = element.getScreenCTM();
    return matrix.a * x + matrix.e;
  };
  const thick = [...(svg?.querySelectorAll("line[stroke^='var(']") ?? [])].filter(
    (line) => Number.parseFloat(line.getAttribute("stroke-width")) > 5,
  );
  return {
    search: location.search,
    status: text("[role=status]").join(),
    notices: text(".explore-notices li"),
    caption: text("caption"),
    names: text("table.explore tbody th[scope=row]"),
    figures: text("table.explore td.value"),
    ratios: text("table.explore td.ratio"),
    groups: [...document.querySelectorAll("table.explore th[scope=rowgroup]")].map((head) => head.firstChild.textContent),
    pages: [...document.querySelectorAll("table.explore th[scope=rowgroup]")].map((head) => {
      const link = head.querySelector("a");
      return link && [link.getAttribute("href"), link.getAttribute("aria-label"), link.checkVisibility()];
    }),
    selects: Object.fromEntries([...document.querySelectorAll("#explore select")].map((select) => [select.name, select.value])),
    reportNames: text("table.explore tbody td:not(.right) a"),
    drawings: document.querySelectorAll("#explore figure:not([hidden]) svg").length,
    lines: [...document.querySelectorAll("#explore figure svg polyline")].map((line) => {
      const points = line.getAttribute("points").split(" ").length;
      const { stroke, strokeDasharray } = getComputedStyle(line);
      return { points, stroke, dash: strokeDasharray };
    }),
    points: [...document.querySelectorAll("#explore figure svg .explore-point")].map((point) => ({
      title: point.querySelector("title")?.textContent ?? null,
      filled: getComputedStyle(point).fill !== "none",
      x: Math.round(point.getScreenCTM().e),
    })),
    versions: [...document.querySelectorAll("#explore figure svg")].map((svg) =>
      [...svg.querySelectorAll(".explore-versions text")].map((label) => [
        label.textContent,
        Math.round(label.getBoundingClientRect().x + label.getBoundingClientRect().width / 2),
      ]),
    ),
    overlaps: [...document.querySelectorAll("#explore figure svg")].flatMap((svg) => {
      const texts = [...svg.querySelectorAll("text")].map((label) => [label.textContent, label.getBoundingClientRect()]);
      const outer = svg.getBoundingClientRect();
      const outside = texts.filter(([, a]) => a.left < outer.left - 1 || a.right > outer.right + 1 || a.bottom > outer.bottom + 1);
      const both = texts.flatMap(([name, a], index) =>
        texts.slice(index + 1).flatMap(([other, b]) => {
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          return across > 1 && down > 0.5 * Math.min(a.height, b.height, a.width, b.width) ? [`${name} / ${other}`] : [];
        }),
      );
      return [...outside.map(([name]) => name), ...both];
    }),
    links: [...document.querySelectorAll("table.explore tbody a")].map((a) => a.getAttribute("href")),
    invalid: text("table.explore td.invalid"),
    hosts: text("table.explore tbody th[scope=row] + td:not(.right)"),
    intervals: text("table.explore td.interval"),
    reports: [...document.querySelectorAll("[name=reports]:checked")].map((box) => box.value),
    focus: document.activeElement.value ?? document.activeElement.tagName,
    chart: svg && {
      title: svg.querySelector("title").textContent,
      description: svg.querySelector("desc").textContent,
      named: svg.getAttribute("aria-labelledby").split(" ").every((id) => svg.querySelector(`#${id}`)),
      texts: [...svg.querySelectorAll("text")].map((label) => label.textContent),
      bars: thick.map((line) => getComputedStyle(line).stroke),
      spans: thick.map((line) => {
        const box = line.getBBox();
        return [place(line, box.x), place(line, box.x + box.width)];
      }),
      pale: thick.map((line) => Number.parseFloat(getComputedStyle(line).strokeOpacity) < 0.5),
      axis: [...svg.querySelectorAll(".explore-axis text")].map((label) => [
        Number(label.textContent.replace(",", "")),
        place(label, Number(label.getAttribute("x"))),
      ]),
      width: svg.parentElement.getBoundingClientRect().width,
      ends: thick.map((line) => Number(line.getAttribute("x2"))),
    },
  };
}

async function play(browser, request, steps) {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const messages = [];
  const requests = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (asked) => requests.push(asked.url()));
  const seen = [];
  const saved = [];
  for (const step of steps) {
    if (step.fail) await page.route(new RegExp(step.fail), (route) => route.abort());
    if (step.answer) await page.route(new RegExp(step.answer[0]), (route) => route.fulfill({ body: step.answer[1] }));
    if (step.open !== undefined) await page.goto(new URL(step.open, request.base).href, { waitUntil: "load" });
    if (step.click) await page.click(step.click);
    if (step.press) await page.keyboard.press(step.press);
    if (step.select) await page.selectOption("select[name=table]", step.select);
    if (step.choose) await page.selectOption(`select[name=${step.choose[0]}]`, step.choose[1]);
    if (step.save) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click("[data-save]")]);
      saved.push(readFileSync(await file.path(), "utf8"));
    }
    if (step.copy) {
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.click("[data-copy]");
      await page.waitForFunction(() => document.querySelector("[data-copy]").textContent === "Copied");
      saved.push(await page.evaluate(() => navigator.clipboard.readText()));
    }
    if (step.go) await page.evaluate((by) => history.go(by), step.go);
    if (step.width) await page.setViewportSize({ width: step.width, height: 900 });
    if (step.scheme) await page.emulateMedia({ colorScheme: step.scheme });
    if (step.fail || step.answer) continue;
    await page.waitForTimeout(100);
    await page.waitForSelector("#explore:not([hidden]) .explore-output:not([aria-busy])");
    seen.push(await page.evaluate(look));
  }
  await context.close();
  return { seen, saved, messages, requests };
}

export async function explore(browser, request) {
  const played = [];
  for (const steps of request.plays) played.push(await play(browser, request, steps));
  return played;
}
