// Compares figures with the baseline that the reader chose. Verdicts come from reports only: a ratio
// that no report tested is marked. Pure functions.

/** @typedef {import("./view.js").Figure} Figure */
/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Comparison} Comparison */

/**
 * @typedef {object} Baseline
 * @property {string} report
 * @property {string} library id of the implementation
 * @property {boolean} own whether it is the baseline of its report too
 * @property {any} comparisons comparisons.json of its report; not needed if it is the report's own baseline
 */

/** A ratio without a verdict, as in reports: 1.22x. @param {number} value */
export function factor(value) {
  return `${value.toFixed(2)}x`;
}

/** The id of a baseline in an address. @param {Figure} figure */
export const baselineId = (figure) => `${figure.report}~${figure.library}`;

/**
 * The ratio of a figure to the baseline's in the same scenario; above 1 is better. Undefined for the
 * baseline itself, without a figure of the baseline, and if one of the two does not count.
 *
 * @param {Figure} figure
 * @param {Figure[]} all of the table
 * @param {Baseline} baseline
 * @param {string} better higher or lower
 * @returns {Comparison | undefined}
 */
export function against(figure, all, baseline, better) {
  if (figure.report === baseline.report) {
    if (figure.library === baseline.library) return undefined;
    if (baseline.own) return figure.ratio;
    const row = baseline.comparisons?.rows[`${figure.table} ${figure.scenario}`];
    return row?.[baseline.library]?.[figure.library];
  }
  const other = all.find(
    (one) =>
      one.report === baseline.report &&
      one.library === baseline.library &&
      one.scenario === figure.scenario,
  );
  if (other?.machine !== figure.machine) return undefined;
  if (!other.valid || !figure.valid || !other.value || !figure.value) return undefined;
  const ratio = figure.value / other.value;
  const value = better === "higher" ? ratio : 1 / ratio;
  return [value, "not tested", `${factor(value)}, not tested`];
}

/** How far a ratio is from 1, on either side. @param {Comparison | undefined} ratio */
const distance = (ratio) => (ratio ? Math.abs(Math.log(ratio[0])) : 0);

/**
 * Scenarios with the largest difference first.
 *
 * @param {Group[]} groups
 * @param {(figure: Figure) => Comparison | undefined} ratio
 */
export function byDifference(groups, ratio) {
  /** @param {Group} group */
  const largest = (group) => Math.max(0, ...group.figures.map((one) => distance(ratio(one))));
  return [...groups].sort((a, b) => largest(b) - largest(a));
}

/**
 * Scenarios in which a report has a verdict faster or slower than the baseline.
 *
 * @param {Group[]} groups
 * @param {(figure: Figure) => Comparison | undefined} ratio
 */
export function differing(groups, ratio) {
  return groups.filter((group) =>
    group.figures.some((one) => ["faster", "slower"].includes(ratio(one)?.[1] ?? "")),
  );
}

/**
 * The geometric mean of each library's ratios over the scenarios shown.
 *
 * @param {Figure[]} shown
 * @param {(figure: Figure) => Comparison | undefined} ratio
 */
export function means(shown, ratio) {
  /** @type {Map<string, { figure: Figure, logs: number[] }>} */
  const found = new Map();
  for (const figure of shown) {
    const compared = ratio(figure);
    if (!compared) continue;
    const id = baselineId(figure);
    const known = found.get(id) ?? { figure, logs: [] };
    known.logs.push(Math.log(compared[0]));
    found.set(id, known);
  }
  return [...found.values()].map(({ figure, logs }) => ({
    figure,
    rows: logs.length,
    value: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length),
  }));
}

/**
 * The figures as CSV.
 *
 * @param {Figure[]} shown
 * @param {string} unit
 * @param {(figure: Figure) => Comparison | undefined} ratio
 * @param {string} baseline the baseline of the ratios; empty without ratios
 */
export function csv(shown, unit, ratio, baseline) {
  const head = [
    ...["report", "date", "host", "scenario", "implementation", "library", "version"],
    ...["value", "unit", "low", "high", "valid", "baseline", "ratio", "verdict"],
  ];
  const lines = shown.map((one) => {
    const compared = ratio(one);
    return [
      ...[one.report, one.date, one.host, one.name, one.library, one.family, one.version],
      ...[one.value, unit, one.low, one.high, one.valid],
      ...[compared && baseline, compared?.[0], compared?.[1]],
    ];
  });
  return [head, ...lines].map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

/** A cell; a text that a spreadsheet would run begins with an apostrophe. @param {unknown} value */
function quoted(value) {
  const given = value === undefined ? "" : String(value);
  const text = typeof value === "string" && /^[=+\-@\t\r\n]/.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
