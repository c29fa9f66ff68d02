// Explore: shows selected reports, a table of them, libraries and scenarios as chart and table.
//
// All data come from the results.json of the selected reports. Figures are not formatted here: their
// texts are those of the report's page. The address contains the selection.

import { against, baselineId, byDifference, csv, differing, shownFrom } from "./compare.js";
import { bars, extent } from "./draw.js";
import { lines } from "./lines.js";
import { MOST_BARS, versionsWidth } from "./marks.js";
import { fillTable, make } from "./table.js";
import { groups, hosts, nothing, options, read, SINGLE, tables, write } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Figure} Figure */
/** @typedef {import("./view.js").Table} Table */
/** @typedef {import("./view.js").Option} Option */
/** @typedef {import("./view.js").Group} Group */
/** @typedef {(figure: Figure) => import("./view.js").Comparison | undefined} Compare */

/** @param {string} selector @param {ParentNode} [within] @returns {any} */
const one = (selector, within = document) => within.querySelector(selector);

const page = one("#explore");
const form = one("form", page);
const status = one("[role=status]", page);
const output = one(".explore-output", page);
const figure = one("figure", output);
const drawing = one(".explore-chart", output);

/** Addresses of reports and scenarios, and the rows that have a page of a scenario. */
const site = {
  reports: page.dataset.reports,
  scenarios: page.dataset.scenarios,
  shared: new Set(page.dataset.shared.split(",")),
};

/** @type {Option[]} newest first */
const known = [...form.querySelectorAll("[name=reports]")].map((input) => ({
  id: input.value,
  text: input.parentElement.textContent.trim(),
}));

/** @type {View} */
let view = nothing();
/** The shown figures as CSV, for a reader to save. */
let file = "";
/** Draws the chart again after its width changes. @type {(() => void) | null} */
let redraw = null;
let turn = 0;

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();

/** A file of a report: results.json, comparisons.json. @param {string} id @param {string} name */
function load(id, name) {
  const path = `${id}/${name}`;
  const known = loaded.get(path) ?? fetchFile(path);
  loaded.set(path, known);
  known.catch(() => loaded.delete(path));
  return known;
}

/** @param {string} path */
async function fetchFile(path) {
  const answer = await fetch(`${site.reports}${path}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

/** "1 figure", "2 figures". @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/**
 * The selected entries of a list that exist, and those in the address that do not exist.
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

/**
 * Shows the view.
 *
 * @param {string[]} unknown parameters of the address that are not known
 * @param {boolean} chosen whether the reader used the form, not an address
 */
async function show(unknown, chosen) {
  turn += 1;
  const own = turn;
  const notices = unknown.map(
    (name) => `The address has a parameter that is not known here: ${name}.`,
  );
  const reports = pick(view.reports ?? [page.dataset.featured], known);
  if (reports.missing.length) notices.push(`There is no report ${reports.missing.join(", ")}.`);

  output.setAttribute("aria-busy", "true");
  const answers = await Promise.allSettled(reports.ids.map((id) => load(id, "results.json")));
  if (own !== turn) return; // the selection changed meanwhile
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
  for (const name of /** @type {const} */ (["protocol", "side"]))
    if (table && view[name] && !all.some((one) => one[name] === view[name])) {
      notices.push(
        `${table.title} of the picked reports has no ${name} ${view[name]}: all are shown.`,
      );
      view = { ...view, [name]: null };
      if (chosen) history.replaceState(null, "", address());
    }
  let shown = all.filter(
    (one) =>
      libraries.ids.includes(one.library) &&
      scenarios.ids.includes(one.scenario) &&
      (!view.protocol || one.protocol === view.protocol) &&
      (!view.side || one.side === view.side),
  );
  const compare = await comparing(table, came, notices);
  if (own !== turn) return;
  const picked = shown;
  let ordered = groups(shown);
  if (compare && view.only === "differing") ordered = differing(ordered, compare);
  if (compare && view.sort === "difference") ordered = byDifference(ordered, compare);
  shown = ordered.flatMap((group) => group.figures);

  fill("reports", known, reports.ids);
  fill("libraries", choices.libraries, libraries.ids);
  fill("scenarios", choices.scenarios, scenarios.ids);
  fillTables(there, table);
  fillSelects(all);

  if (!reports.ids.length) notices.push("No report is picked: pick at least one.");
  else if (all.length && !libraries.ids.length)
    notices.push("No library is picked: pick at least one.");
  else if (all.length && !scenarios.ids.length)
    notices.push("No scenario is picked: pick at least one.");
  else if (all.length && !shown.length)
    notices.push(
      compare && view.only
        ? `None of the picked scenarios shows a difference from the baseline${shownFrom(picked, compare)}.`
        : "None of the picked libraries has a figure in the picked scenarios.",
    );
  const places = hosts(shown);
  if (places.length > 1)
    notices.push(`These are figures of ${places.length} hosts: compare only those of one host.`);
  if (view.scale === "log")
    notices.push("The axis is logarithmic: the length of a bar does not show an amount.");
  one(".explore-notices", output).replaceChildren(...notices.map((text) => make("li", {}, text)));
  one(".warnings", output).hidden = !notices.length;
  const from = counted(new Set(shown.map((one) => one.report)).size, "report");
  status.textContent = shown.length
    ? `${counted(shown.length, "figure")} from ${from}: ${table?.title}`
    : "No figures";
  const element = one("table.explore", output);
  element.hidden = !shown.length;
  one(".explore-about", output).hidden = !shown.length;
  if (table && shown.length)
    fillTable(element, table, ordered, { ...site, compare, baseline: view.baseline });
  keep(table, shown, compare);
  one(".explore-wait").hidden = true; // shown at once, so that nothing moves when a part loads late
  page.hidden = false;
  draw(table, ordered);
  output.removeAttribute("aria-busy");
}

/**
 * The function that compares a figure with the selected baseline; undefined without a baseline.
 *
 * @param {Table | undefined} table
 * @param {any[]} came results of the selected reports
 * @param {string[]} notices
 * @returns {Promise<Compare | undefined>}
 */
async function comparing(table, came, notices) {
  if (!view.baseline || !table) return undefined;
  const id = view.baseline;
  const of = table.figures.find((one) => baselineId(one) === id);
  if (!of) {
    notices.push(`${table.title} of the picked reports has no baseline ${id}.`);
    return undefined;
  }
  const report = came.find((one) => one.id === of.report);
  const shown = report.tables.find((/** @type {any} */ one) => one.anchor === table.anchor);
  const own = shown.baseline === of.library;
  let comparisons;
  if (!own && !shown.by_phase) {
    try {
      comparisons = await load(of.report, "comparisons.json");
    } catch {
      notices.push(`The ratios to ${of.label} could not be loaded.`);
    }
  } else if (!own) notices.push("Phases have ratios only to the baseline of their report.");
  if (new Set(table.figures.map((one) => one.report)).size > 1)
    notices.push(
      "Only the figures of the baseline's report have a ratio to it: rates of two days differ by themselves.",
    );
  const baseline = { report: of.report, library: of.library, own, comparisons };
  return (figure) => against(figure, baseline);
}

/**
 * Makes the boxes of a list, unless they are the same as before.
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
  const select = one("select[name=table]", form);
  select.replaceChildren(
    ...there.map((one) => make("option", { value: one.anchor }, `${one.title}, ${one.unit}`)),
  );
  select.value = table?.anchor ?? "";
  select.disabled = !there.length;
}

/** Fills the lists of single values, and marks the selected ones. @param {Figure[]} all */
function fillSelects(all) {
  /** @param {string} name @param {[string, string][]} choices */
  function fillSelect(name, choices) {
    const select = one(`select[name=${name}]`, form);
    const picked = view[/** @type {keyof View} */ (name)];
    select.replaceChildren(
      make("option", { value: "" }, select.dataset.none),
      ...choices.map(([value, text]) => make("option", { value }, text)),
    );
    select.value = picked ?? "";
    if (select.value !== (picked ?? "")) select.value = "";
  }
  /** @param {(figure: Figure) => string | undefined} key @returns {[string, string][]} */
  const each = (key) =>
    [...new Set(all.map(key))].flatMap((value) => (value ? [[value, value]] : []));
  fillSelect(
    "protocol",
    each((one) => one.protocol).map(([id]) => [id, `TLS ${id}`]),
  );
  fillSelect(
    "side",
    each((one) => one.side),
  );
  const several = new Set(all.map((one) => one.report)).size > 1;
  const baselines = new Map(all.map((one) => [baselineId(one), one]));
  fillSelect(
    "baseline",
    [...baselines].map(([id, of]) => [id, several ? `${of.label}, ${of.report}` : of.label]),
  );
  for (const name of ["sort", "only", "scale", "chart"]) {
    const select = one(`[name=${name}]`, form);
    if (select.type === "checkbox") select.checked = Boolean(view[/** @type {"only"} */ (name)]);
    else select.value = view[/** @type {"sort"} */ (name)] ?? "";
  }
  for (const name of ["sort", "only"]) one(`[name=${name}]`, form).disabled = !view.baseline;
}

/** Stores the shown figures as CSV. @param {Table | undefined} table @param {Figure[]} shown @param {Compare | undefined} compare */
function keep(table, shown, compare) {
  file = table ? csv(shown, table.unit, compare ?? (() => undefined), view.baseline ?? "") : "";
}

/** @param {Table | undefined} table @param {Group[]} ordered */
function draw(table, ordered) {
  redraw = null;
  const shown = ordered.flatMap((group) => group.figures);
  figure.hidden = !shown.length;
  if (figure.hidden || !table) {
    drawing.replaceChildren();
    return;
  }
  one("figcaption", figure).textContent = `${table.title}, ${table.unit}`;
  const unit = `${table.unit}, ${table.better} is better`;
  const many = view.chart === "lines" || view.chart === "multiples" || shown.length > MOST_BARS;
  drawing.classList.toggle("explore-multiples", many);
  redraw = () => {
    const size = 0.8 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const log = view.scale === "log";
    const look = { title: `${table.title}, ${unit}`, unit, size, log };
    if (!many) {
      drawing.replaceChildren(bars(ordered, { ...look, width: drawing.clientWidth, id: 0 }));
      return;
    }
    const least = view.chart === "lines" ? versionsWidth(ordered, size) + 2 * size : 0;
    const room = (drawing.clientWidth + 2 * size) / Math.max(24 * size, least);
    const columns = Math.max(1, Math.floor(room));
    const width = Math.floor((drawing.clientWidth - 2 * size * (columns - 1)) / columns);
    const within = extent(shown, log);
    drawing.replaceChildren(
      ...ordered.map((group, id) => {
        const own = { ...look, title: group.name, width, id };
        return view.chart === "lines"
          ? lines(group, own)
          : bars([group], { ...own, domain: within });
      }),
    );
  };
  redraw();
}

/** Writes the selection of the form into the address, with its consequences. @param {string} name */
function change(name) {
  /** @param {string} list */
  const picked = (list) => {
    const boxes = [...form.querySelectorAll(`[name=${list}]`)];
    const on = boxes.filter((box) => box.checked).map((box) => box.value);
    return on.length === boxes.length && list !== "reports" ? null : on;
  };
  /** @param {string} single */
  function value(single) {
    const field = one(`[name=${single}]`, form);
    return (field.type === "checkbox" && !field.checked ? "" : field.value) || null;
  }
  const singles = Object.fromEntries(SINGLE.map((single) => [single, value(single)]));
  view = {
    .../** @type {any} */ (singles),
    // Also written if it is the newest: a link must keep its meaning after a newer report.
    reports: picked("reports"),
    libraries: name === "reports" ? null : picked("libraries"),
    scenarios: name === "table" ? null : picked("scenarios"),
  };
  history.pushState(null, "", address());
  show([], true);
}

/** The address of the present selection. */
const address = () => `${location.pathname}${write(view)}`;

function follow() {
  const asked = read(location.search);
  view = asked.view;
  show(asked.unknown, false);
}

form.addEventListener("change", (/** @type {any} */ event) => change(event.target.name));
form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
function save() {
  const address = URL.createObjectURL(new Blob([file], { type: "text/csv" }));
  make("a", { href: address, download: "explore.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** @param {HTMLElement} button */
async function copy(button) {
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed: copy it from the address bar";
  }
  setTimeout(() => {
    button.textContent = "Copy the address";
  }, 3000);
}

page.addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("button[data-all]");
  if (!button) {
    if (event.target.closest("button[data-save]")) save();
    if (event.target.closest("button[data-copy]")) copy(event.target);
    return;
  }
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
