// Plays steps on the page Compare and reports what it shows after each: a part of browser.mjs.
//
// A request: { base, plays: [[step]] }, a step being one of { open: address },
// { choose: [name, value] }, { type: text } (into the filter), { click: selector },
// { press: key }, { go: -1 or 1 }, { fail: part of an address that then fails },
// { script: false } (from then on). The answer: for each play what it showed after each step, and
// all messages and requests.

// Runs in the page: what a reader sees.
function look() {
  const text = (element) => element.textContent.replace(/\s+/g, " ").trim();
  const all = (selector, within = document) =>
    [...within.querySelectorAll(selector)].filter((element) => element.checkVisibility());
  const rows = all("table.compare > tbody > tr:not(.compare-open)");
  const open = all(".compare-open")[0];
  return {
    search: location.search,
    status: all("[role=status]").map(text).join(),
    selects: Object.fromEntries(all("#compare select").map((select) => [select.name, select.value])),
    options: Object.fromEntries(
      all("#compare select").map((select) => [select.name, [...select.options].map((option) => option.value)]),
    ),
    heads: all("table.compare > thead th").map(text),
    rows: rows.map((row) => ({
      name: text(row.querySelector("th button") ?? row.querySelector("th").firstChild),
      key: row.dataset.row ?? "",
      about: text(row.querySelector("th small")),
      cells: [...row.querySelectorAll("td")].map(text),
      mark: row.querySelector("[role=img]")?.getAttribute("aria-label") ?? "",
      expanded: row.querySelector("button")?.getAttribute("aria-expanded"),
    })),
    open: !open ? null : {
      text: text(open),
      rows: all(":scope tbody tr", open).map((row) => [...row.children].map(text)),
      links: all("a", open).map((link) => link.href),
    },
    more: all("[data-more]").map(text).join(),
    focus: text(document.activeElement).slice(0, 200),
  };
}

async function play(browser, request, steps) {
  const script = steps.every((step) => step.script !== false);
  const context = await browser.newContext({ reducedMotion: "reduce", javaScriptEnabled: script });
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
    if (step.choose) await page.selectOption(`select[name=${step.choose[0]}]`, step.choose[1]);
    if (step.type !== undefined) await page.fill("input[name=q]", step.type);
    if (step.click) await page.click(step.click);
    if (step.press) await page.keyboard.press(step.press);
    if (step.go) await page.evaluate((by) => history.go(by), step.go);
    if (step.fail || step.script === false) continue;
    if (script) await page.waitForSelector("#compare.ready");
    await page.waitForTimeout(100);
    seen.push(await page.evaluate(look));
  }
  await context.close();
  return { seen, messages, requests };
}

export async function pick(browser, request) {
  const played = [];
  for (const steps of request.plays) played.push(await play(browser, request, steps));
  return played;
}
