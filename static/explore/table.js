// The table of Explore: a part for each scenario, with links to the pages of its figures.

import { baselineId } from "./compare.js";
import { day, hosts } from "./view.js";

/** @typedef {import("./view.js").Figure} Figure */
/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Table} Table */
/** @typedef {(figure: Figure) => import("./view.js").Comparison | undefined} Compare */

/**
 * The data of a table besides its figures.
 *
 * @typedef {object} Context
 * @property {string | null} baseline id of the selected baseline
 * @property {Compare | undefined} compare compares a figure with it
 * @property {string} reports address of the reports' folder
 * @property {string} scenarios address of the scenarios' folder
 * @property {Set<string>} shared anchor and unit of each row that has a page there
 */

/** An element with attributes and children. @param {string} name @param {Record<string, string>} attributes @param {...(Node | string)} children */
export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/**
 * Fills the table.
 *
 * @param {HTMLTableElement} element
 * @param {Table} table
 * @param {Group[]} ordered
 * @param {Context} context
 */
export function fillTable(element, table, ordered, context) {
  /** @param {string} selector @returns {any} */
  const one = (selector) => element.querySelector(selector);
  const shown = ordered.flatMap((group) => group.figures);
  const places = hosts(shown);
  const host = places.length === 1 ? ` Measured on ${places[0]}.` : "";
  const several = new Set(shown.map((one) => one.report)).size > 1;
  const of = several ? "" : ` From “${shown[0]?.title}”.`;
  const to = context.compare ? ` Ratios are to ${baselineLabel(table, context.baseline)}.` : "";
  one("caption").textContent =
    `${table.title} in ${table.unit}, ${table.better} is better.${of}${host}${to}`;
  one(".explore-host").hidden = places.length === 1;
  one(".explore-ratio").hidden = !context.compare;
  one(".explore-unit").textContent = table.unit;
  one(".explore-report").hidden = !several;
  const ranged = shown.some((one) => one.interval);
  one(".explore-interval").hidden = !ranged;
  const optional = [several, !host, ranged, context.compare];
  const columns = 2 + optional.filter(Boolean).length;
  for (const body of element.querySelectorAll("tbody")) body.remove();
  element.append(
    ...ordered.map((group) => {
      const span = { colspan: `${columns}`, scope: "rowgroup" };
      const head = make("th", span, group.name, ...scenarioLink(group, table, context));
      const rows = group.figures.map((one) => row(one, several, !host, ranged, context));
      return make("tbody", {}, make("tr", {}, head), ...rows);
    }),
  );
}

/** The page of a scenario, if it has one. @param {Group} group @param {Table} table @param {Context} context */
function scenarioLink({ name, figures }, table, { scenarios, shared }) {
  const [first] = figures;
  if (!first?.linked || !shared.has(`${first.scenario} ${table.unit}`)) return [];
  const href = `${scenarios}${first.scenario}/`;
  const link = { class: "elsewhere", href, "aria-label": `${name} in all reports` };
  return [" ", make("a", link, "all reports")];
}

/** @param {Table} table @param {string | null} baseline */
function baselineLabel(table, baseline) {
  const of = table.figures.find((one) => baselineId(one) === baseline);
  const alone = new Set(table.figures.map((one) => one.report)).size === 1;
  return of ? `${of.label}${alone ? "" : ` in “${of.title}”`}` : "";
}

/** A figure as a row. @param {Figure} one @param {boolean} named @param {boolean} placed @param {boolean} ranged @param {Context} context */
function row(one, named, placed, ranged, { baseline, compare, reports }) {
  const anchor = one.linked ? `#${one.scenario}` : "";
  const address = `${reports}${one.report}/${anchor}`;
  /** @param {string} text */
  const link = (text) => make("a", { href: address }, text);
  const report = [link(one.title), " ", make("small", {}, day(one.date))];
  const reason = `${one.valid ? "" : "not counted: "}${one.note ?? ""}`;
  const note = reason ? [make("br", {}), make("small", { class: "note" }, reason)] : [];
  const is = baselineId(one) === baseline ? "baseline" : "–";
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row", class: `library-${one.colour}` },
      named ? one.label : link(one.label),
    ),
    ...(named ? [make("td", {}, ...report)] : []),
    ...(placed ? [make("td", {}, one.host)] : []),
    make("td", { class: one.valid ? "right value" : "right value invalid" }, one.text, ...note),
    ...(ranged ? [make("td", { class: "right interval" }, one.interval ?? "–")] : []),
    ...(compare ? [make("td", { class: "ratio" }, compare(one)?.[2] ?? is)] : []),
  );
}
