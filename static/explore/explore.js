// Explore: pick reports, a table of theirs, libraries and scenarios; see them as chart and table.
//
// Everything is read from the results.json of the picked reports. No figure is formatted here: its
// text is the one that the report's page shows. What is picked stands in the address.

import { MOST_BARS, marks } from "./marks.js";
import { day, groups, hosts, options, read, tables, write } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Figure} Figure */
/** @typedef {import("./view.js").Table} Table */
/** @typedef {import("./view.js").Option} Option */

/** @param {string} selector @param {ParentNode} [within] @returns {any} */
const one = (selector, within = document) => within.querySelector(selector);

const page = one("#explore");
const form = one("form", page);
const status = one("[role=status]", page);
const output = one(".explore-output", page);
const figure = one("figure", output);
const drawing = one(".explore-chart", output);

/** @type {Option[]} newest first */
const known = [...form.querySelectorAll("[name=reports]")].map((input) => ({
  id: input.value,
  text: input.parentElement.textContent.trim(),
}));

/** @type {View} */
let view = { reports: null, table: null, libraries: null, scenarios: null };
/** Draws the chart again, where its width changes. @type {(() => Promise<void>) | null} */
let redraw = null;
let turn = 0;

/** An element with attributes and children. @param {string} name @param {Record<string, string>} attributes @param {...(Node | string)} children */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();

/** The results.json of a report. @param {string} id */
function results(id) {
  const known = loaded.get(id) ?? fetchResults(id);
  loaded.set(id, known);
  known.catch(() => loaded.delete(id));
  return known;
}

/** @param {string} id */
async function fetchResults(id) {
  const answer = await fetch(`${page.dataset.reports}${id}/results.json`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

/** Vega's view, or nothing where it could not be loaded. @type {Promise<any>} */
const chart = import(new URL(page.dataset.chart, document.baseURI).href).then(
  (module) => module.chart(drawing),
  () => undefined,
);

/** "1 figure", "2 figures". @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/**
 * What of a list is there, and what the address names that is not.
 *
 * @param {string[] | null} picked
 * @param {Option[]} there
 */
function pick(picked, there) {
  const ids = there.map((option) => option.id);
  return {
    ids: picked === null ? ids : ids.filter((id) => picked.includes(id)),
    missing: (picked ?? []).filter((id) => !ids.includes(id)),
  };
}

/** Shows the view. @param {string[]} [unknown] parameters of the address that mean nothing */
async function show(unknown = []) {
  turn += 1;
  const own = turn;
  const notices = unknown.map(
    (name) => `The address has a parameter that is not known here: ${name}.`,
  );
  const reports = pick(view.reports ?? known.slice(0, 1).map((option) => option.id), known);
  if (reports.missing.length) notices.push(`There is no report ${reports.missing.join(", ")}.`);

  output.setAttribute("aria-busy", "true");
  const answers = await Promise.allSettled(reports.ids.map(results));
  if (own !== turn) return; // something else was picked meanwhile
  const came = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  reports.ids.forEach((id, index) => {
    if (answers[index]?.status === "rejected")
      notices.push(`The figures of the report ${id} could not be loaded; its page has them.`);
  });

  const there = tables(came);
  const table = there.find((one) => one.anchor === view.table) ?? there[0];
  if (view.table && table && table.anchor !== view.table)
    notices.push(`The picked reports have no table ${view.table}; this is ${table.title}.`);
  const all = table?.figures ?? [];
  const choices = { libraries: options(all, "library"), scenarios: options(all, "scenario") };
  const libraries = pick(view.libraries, choices.libraries);
  const scenarios = pick(view.scenarios, choices.scenarios);
  for (const [noun, missing] of Object.entries({
    library: libraries.missing,
    scenario: scenarios.missing,
  }))
    if (missing.length && table)
      notices.push(`${table.title} of the picked reports has no ${noun} ${missing.join(", ")}.`);
  const shown = all.filter(
    (one) => libraries.ids.includes(one.library) && scenarios.ids.includes(one.scenario),
  );

  fill("reports", known, reports.ids);
  fill("libraries", choices.libraries, libraries.ids);
  fill("scenarios", choices.scenarios, scenarios.ids);
  fillTables(there, table);

  if (!reports.ids.length) notices.push("No report is picked: pick at least one.");
  else if (all.length && !libraries.ids.length)
    notices.push("No library is picked: pick at least one.");
  else if (all.length && !scenarios.ids.length)
    notices.push("No scenario is picked: pick at least one.");
  else if (all.length && !shown.length)
    notices.push("None of the picked libraries has a figure in the picked scenarios.");
  const places = hosts(shown);
  if (places.length > 1)
    notices.push(`These are figures of ${places.length} hosts: compare only those of one host.`);
  if (shown.length > MOST_BARS)
    notices.push(
      `${shown.length} bars are more than a chart can show: pick fewer scenarios for one of at most ${MOST_BARS}.`,
    );
  one(".explore-notices", output).replaceChildren(...notices.map((text) => make("li", {}, text)));
  one(".warnings", output).hidden = !notices.length;
  const from = counted(new Set(shown.map((one) => one.report)).size, "report");
  status.textContent = shown.length
    ? `${counted(shown.length, "figure")} from ${from}: ${table?.title}`
    : "No figures";
  fillTable(table, shown);
  const drawn = await chart;
  if (own !== turn) return;
  one(".explore-wait").hidden = true; // all at once: nothing moves when a part comes late
  page.hidden = false;
  await draw(drawn, table, shown);
  output.removeAttribute("aria-busy");
}

/**
 * The boxes of a list, made anew only where there are others than before.
 *
 * @param {"reports" | "libraries" | "scenarios"} name
 * @param {Option[]} there
 * @param {string[]} picked
 */
function fill(name, there, picked) {
  const group = one(`[data-list=${name}]`, form);
  const boxes = () => [...group.querySelectorAll("input")];
  if (
    boxes()
      .map((box) => box.value)
      .join() !== there.map((option) => option.id).join()
  ) {
    const items = there.map((option) => {
      const swatch = option.colour
        ? [make("span", { class: `swatch library-${option.colour}` })]
        : [];
      const box = make("input", { type: "checkbox", name, value: option.id });
      return make("li", {}, make("label", {}, box, ...swatch, make("span", {}, option.text)));
    });
    one("ul", group).replaceChildren(...items);
  }
  for (const box of boxes()) box.checked = picked.includes(box.value);
  one("summary span", group).textContent = `${picked.length} of ${there.length}`;
}

/** @param {Table[]} there @param {Table | undefined} table */
function fillTables(there, table) {
  const select = one("select", form);
  select.replaceChildren(
    ...there.map((one) => make("option", { value: one.anchor }, `${one.title}, ${one.unit}`)),
  );
  select.value = table?.anchor ?? "";
  select.disabled = !there.length;
}

/** @param {Table | undefined} table @param {Figure[]} shown */
function fillTable(table, shown) {
  const element = one("table", output);
  element.hidden = !shown.length;
  one(".explore-about", output).hidden = !shown.length;
  if (!table || !shown.length) return;
  const places = hosts(shown);
  const host = places.length === 1 ? ` Measured on ${places[0]}.` : "";
  one("caption", element).textContent =
    `${table.title} in ${table.unit}, ${table.better} is better.${host}`;
  one(".explore-host", element).hidden = places.length === 1;
  one(".explore-unit", element).textContent = table.unit;
  for (const body of element.querySelectorAll("tbody")) body.remove();
  element.append(
    ...groups(shown).map((group) =>
      make(
        "tbody",
        {},
        make("tr", {}, make("th", { colspan: host ? "4" : "5", scope: "rowgroup" }, group.name)),
        ...group.figures.map((one) => row(one, !host)),
      ),
    ),
  );
}

/** A figure as a row, as the page without JavaScript has it. @param {Figure} one @param {boolean} placed */
function row(one, placed) {
  const anchor = one.linked ? `#${one.scenario}` : "";
  const link = make("a", { href: `${page.dataset.reports}${one.report}/${anchor}` }, day(one.date));
  const reason = `${one.valid ? "" : "not counted: "}${one.note ?? ""}`;
  const note = reason ? [make("br", {}), make("small", { class: "note" }, reason)] : [];
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: `library-${one.colour}` }, one.label),
    make("td", {}, link),
    ...(placed ? [make("td", {}, one.host)] : []),
    make("td", { class: one.valid ? "right" : "right invalid" }, one.text, ...note),
    make("td", { class: "right" }, one.interval ?? "–"),
  );
}

/** @param {any} view Vega's @param {Table | undefined} table @param {Figure[]} shown */
async function draw(view, table, shown) {
  redraw = null;
  figure.hidden = !view || !shown.length || shown.length > MOST_BARS;
  if (!view) status.textContent += ". The chart could not be loaded; the table has all figures";
  if (figure.hidden || !table) return;
  one("figcaption", figure).textContent = `${table.title}, ${table.unit}`;
  const unit = `${table.unit}, ${table.better} is better`;
  const description = groups(shown)
    .map((group) => `${group.name}: ${group.figures.map((f) => `${f.label} ${f.text}`).join(", ")}`)
    .join("; ");
  redraw = async () => {
    const size = 0.8 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const made = marks(groups(shown), unit, drawing.clientWidth, size);
    for (const layer of /** @type {const} */ (["bars", "intervals", "values", "texts"]))
      view.data(layer, made[layer]);
    view.signal("fontSize", size).signal("thickness", 0.9 * size);
    view.signal("ticks", Math.max(2, Math.floor(made.width / (9 * size))));
    await view.padding(made.padding).width(made.width).height(made.height).runAsync();
    describe(`${table.title}, ${unit}`, description);
  };
  await redraw();
}

/** Gives the drawing its title and description. @param {string} title @param {string} text */
function describe(title, text) {
  const svg = one("svg", drawing);
  for (const old of svg.querySelectorAll("title, desc")) old.remove();
  const named = ["title", "desc"].map((name) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    element.id = `explore-${name}`;
    element.textContent = name === "title" ? title : text;
    return element;
  });
  svg.prepend(...named);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-labelledby", named.map((element) => element.id).join(" "));
}

/** Takes what is picked in the form, and what follows from it, into the address. @param {string} name */
function change(name) {
  /** @param {string} list */
  const picked = (list) => {
    const boxes = [...form.querySelectorAll(`[name=${list}]`)];
    const on = boxes.filter((box) => box.checked).map((box) => box.value);
    return on.length === boxes.length && list !== "reports" ? null : on;
  };
  view = {
    // Named even where it is the newest: a link must mean the same when there is a newer one.
    reports: picked("reports"),
    table: one("select", form).value || null,
    libraries: name === "reports" ? null : picked("libraries"),
    scenarios: name === "table" ? null : picked("scenarios"),
  };
  history.pushState(null, "", `${location.pathname}${write(view)}`);
  show();
}

function follow() {
  const asked = read(location.search);
  view = asked.view;
  show(asked.unknown);
}

form.addEventListener("change", (/** @type {any} */ event) => change(event.target.name));
form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
form.addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("button[data-all]");
  if (!button) return;
  const group = button.closest("[data-list]");
  for (const box of group.querySelectorAll("input")) box.checked = button.dataset.all === "true";
  change(group.dataset.list);
});
addEventListener("popstate", follow);
let drawn = 0;
new ResizeObserver(() => {
  if (drawing.clientWidth !== drawn) redraw?.();
  drawn = drawing.clientWidth;
}).observe(drawing);
if (matchMedia("(max-width: 60rem)").matches)
  for (const list of form.querySelectorAll("details")) list.open = false;
follow();
