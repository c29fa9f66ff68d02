// The selection of a reader: read from the address, written to it, applied to figures. Pure
// functions.

/**
 * A list has the selected entries; null selects everything (for reports: the newest).
 *
 * @typedef {object} View
 * @property {string[] | null} reports ids
 * @property {string | null} table its anchor
 * @property {string[] | null} libraries ids of implementations
 * @property {string[] | null} scenarios anchors of rows
 * @property {string | null} protocol "1.2" or "1.3"
 * @property {string | null} side client, server, sender or receiver
 * @property {string | null} baseline a report and an implementation of it, joined by ~
 * @property {string | null} sort difference, or in the order of the reports
 * @property {string | null} only differing: scenarios with a verdict faster or slower
 * @property {string | null} scale log, or from zero
 * @property {string | null} chart lines of versions or multiples, or bars
 *
 * @typedef {object} Option
 * @property {string} id
 * @property {string} text
 * @property {string} [colour]
 */

/**
 * A value of a table of a report, as its page shows it.
 *
 * @typedef {object} Figure
 * @property {string} report
 * @property {string} title of the report
 * @property {string} date 2026-11-21
 * @property {string} host
 * @property {string} table anchor
 * @property {string} scenario anchor of the row
 * @property {boolean} linked whether the report's page has this row
 * @property {string} name of the scenario
 * @property {string} [protocol]
 * @property {string} [side]
 * @property {string} library id of the implementation
 * @property {string} family its library
 * @property {string} version
 * @property {string} label
 * @property {string} colour
 * @property {number} value
 * @property {string} text
 * @property {number} [low]
 * @property {number} [high]
 * @property {string} [interval]
 * @property {boolean} valid
 * @property {string} [note]
 * @property {Comparison} [ratio] to the baseline of its report
 */

/**
 * A ratio, its verdict, and the text of both.
 *
 * @typedef {[number, string, string]} Comparison
 */

/**
 * Tables of one anchor in several reports; they have one unit.
 *
 * @typedef {object} Table
 * @property {string} anchor
 * @property {string} title
 * @property {string} unit
 * @property {string} better higher or lower
 * @property {Figure[]} figures
 */

const LISTS = /** @type {const} */ (["reports", "libraries", "scenarios"]);
/** Parameters with one value, in the address only if they are selected. */
export const SINGLE = /** @type {const} */ ([
  ...["table", "protocol", "side", "baseline", "sort", "only", "scale", "chart"],
]);

/** The view without a selection. @returns {View} */
export function nothing() {
  const names = [...LISTS, ...SINGLE];
  return /** @type {any} */ (Object.fromEntries(names.map((name) => [name, null])));
}

/**
 * The view of an address, and the names of its unknown parameters.
 *
 * @param {string} search the address from its question mark
 * @returns {{ view: View, unknown: string[] }}
 */
export function read(search) {
  const parameters = new URLSearchParams(search);
  /** @param {string} name */
  const list = (name) => parameters.get(name)?.split(",").filter(Boolean) ?? null;
  const view = /** @type {any} */ (nothing());
  for (const name of LISTS) view[name] = list(name);
  for (const name of SINGLE) view[name] = parameters.get(name) || null;
  const known = new Set(Object.keys(view));
  return { view, unknown: [...new Set(parameters.keys())].filter((name) => !known.has(name)) };
}

/**
 * The address of a view, from its question mark. Ids need no escapes; other texts are escaped.
 *
 * @param {View} view
 */
export function write(view) {
  const order = /** @type {const} */ (["reports", "table", "libraries", "scenarios"]);
  const names = new Set([...order, ...SINGLE]);
  const said = [...names].flatMap((name) => {
    const picked = view[name];
    return picked === null ? [] : [`${name}=${[picked].flat().map(encodeURIComponent).join(",")}`];
  });
  return said.length ? `?${said.join("&")}` : "";
}

/**
 * The tables of reports (each a results.json), in their order.
 *
 * @param {any[]} reports
 * @returns {Table[]}
 */
export function tables(reports) {
  /** @type {Map<string, Table>} */
  const found = new Map();
  const named = hostNames(reports);
  for (const report of reports) {
    for (const table of report.tables) {
      const { anchor, title, unit, better } = table;
      if (!found.has(anchor)) found.set(anchor, { anchor, title, unit, better, figures: [] });
      const known = /** @type {Table} */ (found.get(anchor));
      if (known.unit !== unit) throw new Error(`${report.id}: ${anchor} is in ${unit}`);
      known.figures.push(...figures(report, table, named));
    }
  }
  return [...found.values()];
}

/**
 * @param {any} report
 * @param {any} table
 * @param {(host: any) => string} named
 * @returns {Figure[]}
 */
function figures(report, table, named) {
  return table.rows.flatMap((/** @type {any} */ row) =>
    row.cells
      .filter((/** @type {any} */ cell) => cell.value !== undefined)
      .map((/** @type {any} */ cell) => {
        const shown = report.implementations.find(
          (/** @type {any} */ one) => one.id === cell.implementation,
        );
        const places = report.hosts.filter(
          (/** @type {any} */ one) => !shown.host || one.id === shown.host,
        );
        return {
          report: report.id,
          title: report.title,
          date: report.date,
          host: places.map(named).join(", "),
          table: table.anchor,
          scenario: row.anchor,
          linked: !table.by_phase,
          name: row.name,
          protocol: row.scenario.protocol,
          side: row.scenario.side,
          library: shown.id,
          family: shown.library,
          version: shown.version,
          label: shown.label,
          colour: shown.colour,
          value: cell.value,
          text: cell.text,
          low: cell.low,
          high: cell.high,
          interval: cell.interval,
          valid: cell.valid,
          note: cell.note,
          ratio: cell.ratio && [cell.ratio.value, cell.ratio.verdict, cell.ratio.text],
        };
      }),
  );
}

/**
 * The name of each host of reports. Processors of two models may have one name, so each of them has
 * its model behind it.
 *
 * @param {any[]} reports
 * @returns {(host: any) => string}
 */
function hostNames(reports) {
  /** @type {Map<string, Set<string>>} */
  const models = new Map();
  /** @param {any} host */
  const model = (host) => host.cpu_model ?? host.id;
  /** @param {any} host */
  const identity = (host) => `${host.id} ${model(host)}`;
  for (const host of reports.flatMap((report) => report.hosts)) {
    const label = hostLabel(host);
    models.set(label, new Set([...(models.get(label) ?? []), identity(host)]));
  }
  return (host) => {
    const label = hostLabel(host);
    return (models.get(label)?.size ?? 0) > 1 ? `${label}, ${model(host)}` : label;
  };
}

/** What people call a host, as `host_label` in tools. @param {any} host */
function hostLabel(host) {
  const name = host.name ?? host.cpu;
  const isSaid = !host.virtual || name.split(" ").includes("VM");
  return isSaid ? name : `${name} (virtual machine)`;
}

/**
 * The options that figures offer: each library or each scenario once.
 *
 * @param {Figure[]} all
 * @param {"library" | "scenario"} key
 * @returns {Option[]}
 */
export function options(all, key) {
  /** @type {Map<string, Option>} */
  const found = new Map();
  for (const figure of all) {
    const { label, colour, name } = figure;
    const option = key === "library" ? { text: label, colour } : { text: name };
    if (!found.has(figure[key])) found.set(figure[key], { id: figure[key], ...option });
  }
  return [...found.values()];
}

/**
 * A scenario's figures, grouped by host: figures of a group can be compared.
 *
 * @typedef {{ name: string, figures: Figure[] }} Group
 * @param {Figure[]} picked
 * @returns {Group[]}
 */
export function groups(picked) {
  /** @type {Map<string, Figure[]>} */
  const found = new Map();
  for (const figure of picked) found.set(figure.name, [...(found.get(figure.name) ?? []), figure]);
  const order = hosts(picked);
  return [...found].map(([name, of]) => ({
    name,
    figures: of.sort((a, b) => order.indexOf(a.host) - order.indexOf(b.host)),
  }));
}

/** @param {Figure[]} picked */
export function hosts(picked) {
  return [...new Set(picked.map((figure) => figure.host))];
}

/** A date in the form of the pages: 21 November 2026. @param {string} date */
export function day(date) {
  const parts = /** @type {const} */ ({ day: "numeric", month: "long", year: "numeric" });
  return new Date(date).toLocaleDateString("en-GB", { ...parts, timeZone: "UTC" });
}
