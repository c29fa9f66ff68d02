// The table of Compare, and what an opened row shows.

import { ratioTexts } from "./data.js";

/** @typedef {import("./data.js").Data} Data */
/** @typedef {import("./data.js").Measurement} Measurement */
/** @typedef {import("./data.js").Row} Row */

/**
 * What the table is of.
 *
 * @typedef {object} Context
 * @property {Data} data
 * @property {number} a
 * @property {number} b
 * @property {string} home address of the site
 * @property {string} site its title
 * @property {string} author
 * @property {string} base the address of the site
 */

/** An element with attributes and children. @param {string} name @param {Record<string, string>} attributes @param {...(Node | string)} children */
export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** @param {Data} data @param {number} at */
export const labelOf = (data, at) => data.implementations[at]?.[1] ?? "";

/** What tells two implementations apart: their libraries, or their versions. @param {Data} data @param {number} a @param {number} b @returns {[string, string]} */
function shortLabels(data, a, b) {
  const [one, other] = [labelOf(data, a), labelOf(data, b)];
  /** @param {string} label */
  const name = (label) => label.split(" ")[0] ?? "";
  const skip = name(one) === name(other) ? name(one).length + 1 : 0;
  return skip ? [one.slice(skip), other.slice(skip)] : [name(one), name(other)];
}

/** "27 November 2026" @param {string} iso */
export const day = (iso) =>
  new Date(iso).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** The columns' heads: those of one host, and of another one if there is one. @param {Context} context @param {string[]} hosts */
export function head({ data, a, b }, hosts) {
  const columns = hosts.flatMap((host) => {
    const place = hosts.length > 1 ? ` on ${host}` : "";
    const figures = [a, b].map((at) => `${labelOf(data, at)}${place}`);
    return [`${shortLabels(data, a, b).join(" over ")}${place}`, ...figures];
  });
  // A head does not break within a name.
  const cells = columns.map((text) => make("th", { scope: "col" }, text.replaceAll("-", "\u2011")));
  return make("tr", {}, make("th", { scope: "col" }, "Row"), ...cells);
}

/**
 * A row, closed.
 *
 * @param {Measurement[]} of its measurements, a host each
 * @param {Context} context
 * @param {string[]} hosts
 */
export function line(of, { data, a, b }, hosts) {
  const [first] = of;
  const row = rowOf(data, first);
  const [anchor, name, kind, unit, group] = row;
  const [one, other] = shortLabels(data, a, b);
  const open = make("button", { type: "button", "aria-expanded": "false" }, name);
  const about = [...(group ? [data.kinds[kind]] : []), data.units[unit]].join(", ");
  const named = make("th", { scope: "row" }, open, make("small", {}, about));
  const cells = of.flatMap((measured, n) => [
    make(
      "td",
      { class: "ratio", "data-of": hosts.length > 1 ? (hosts[n] ?? "") : "" },
      ...ratioParts(measured),
    ),
    make("td", { "data-of": one }, measured.a),
    make("td", { "data-of": other }, measured.b),
  ]);
  const key = `${anchor} ${data.units[unit] ?? ""}`;
  return make("tr", { "data-row": key }, named, ...cells);
}

/** @param {Data} data @param {Measurement | undefined} of @returns {Row} */
const rowOf = (data, of) => data.rows[of?.row ?? 0] ?? ["", "", 0, 0, 0, "higher", ""];

/** A ratio, the mark of what it means, and its interval. @param {Measurement} of */
function ratioParts(of) {
  const { ratio } = of;
  const better = (ratio?.value ?? 1) > 1;
  const mark = make(
    "span",
    { role: "img", class: better ? "better" : "worse", "aria-label": better ? "better" : "worse" },
    better ? "▲" : "▼",
  );
  const [text, interval] = ratioTexts(of);
  const small = interval || (ratio?.verdict === "untested" ? "not tested" : "");
  return [
    ...(ratio?.verdict === "difference" ? [mark, " "] : []),
    text,
    ...(small ? [make("small", {}, small)] : []),
  ];
}

/**
 * What an opened row shows: every measurement, the command that repeats it, and how to cite it.
 *
 * @param {Measurement[]} all newest first
 * @param {Context} context
 */
export function details(all, context) {
  const { data, a, b, home } = context;
  const row = rowOf(data, all[0]);
  const [anchor, , , , , , path] = row;
  const ids = [a, b].map((at) => data.implementations[at]?.[0] ?? "");
  const libraries = [...new Set([a, b].map((at) => data.implementations[at]?.[2] ?? ""))];
  const heads = ["Date", "Host", "Ratio", ...shortLabels(data, a, b), "From"];
  const lines = all.map((one) => {
    const report = `${home}perf/${one.part.page}/#${anchor}`;
    const raw = one.runs.flatMap(([run, , files]) => {
      const own = files.filter(([, alone]) => !alone || ids.includes(alone));
      return own.map(([file]) => {
        const name = file.split("/").at(-1) ?? file;
        return make("li", {}, make("a", { href: `${home}data/runs/${run}/${file}` }, name));
      });
    });
    const cells = [
      day(one.part.date),
      data.hosts[one.part.host]?.[1] ?? "",
      ratioTexts(one).filter(Boolean).join(", "),
      one.a,
      one.b,
    ].map((text, n) => make("td", { "data-of": heads[n] ?? "" }, text));
    const link = make("li", {}, make("a", { href: report }, "report"));
    const from = make("td", {}, make("ul", {}, link, ...raw));
    return make("tr", {}, ...cells, from);
  });
  const table = make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...lines),
  );
  const of = libraries.map((library) => ` --library ${library}`).join("");
  const commands = (all[0]?.runs ?? [])
    .filter(([, command]) => command)
    .map(([, command]) => make("pre", {}, make("code", {}, `${command} --only '${path}'${of}`)));
  const again = commands.length ? [make("p", {}, "To measure it again:"), ...commands] : [];
  return [table, ...again, make("p", {}, ...(all[0] ? cite(all[0], anchor, context) : []))];
}

/** @param {Measurement} one @param {string} anchor @param {Context} context */
function cite({ part }, anchor, { base, site, author }) {
  const address = `${base}perf/${part.page}/#${anchor}`;
  const said = `${author === site ? "" : `${author}: `}“${part.title}”. ${site}, ${day(part.date)}. `;
  return ["To cite it: ", said, make("span", { class: "address" }, address)];
}
