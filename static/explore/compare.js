// Compares figures with the baseline that the reader chose. Every ratio is that of a report: rates of
// two reports have none. Pure functions.

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

/** The id of a baseline in an address. @param {Figure} figure */
export const baselineId = (figure) => `${figure.report}~${figure.library}`;

/**
 * The ratio of a figure to the baseline's in the same scenario; above 1 is better. Undefined for the
 * baseline itself, for a figure of another report, and where the report has none.
 *
 * @param {Figure} figure
 * @param {Baseline} baseline
 * @returns {Comparison | undefined}
 */
export function against(figure, baseline) {
  if (figure.report !== baseline.report || figure.library === baseline.library) return undefined;
  if (baseline.own) return figure.ratio;
  const row = baseline.comparisons?.rows[`${figure.table} ${figure.scenario}`];
  return row?.[baseline.library]?.[figure.library];
}

/**
 * How far a ratio is from 1, on either side; 0 if no difference is shown.
 *
 * @param {Comparison | undefined} ratio
 */
const distance = (ratio) =>
  ratio && ratio[1] !== "no difference shown" ? Math.abs(Math.log(ratio[0])) : 0;

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
 * From what size a difference would have been seen, of figures without one: ": 5 to 9% would show".
 *
 * @param {Figure[]} figures
 * @param {(figure: Figure) => Comparison | undefined} ratio
 */
export function shownFrom(figures, ratio) {
  const sizes = figures
    .map(ratio)
    .filter((of) => of?.[1] === "no difference shown")
    .flatMap((of) => [...(of?.[2] ?? "").matchAll(/(\d+)%/g)].map((found) => Number(found[1])));
  if (!sizes.length) return "";
  const ends = new Set([Math.min(...sizes), Math.max(...sizes)]);
  return `: ${[...ends].join(" to ")}% would show`;
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
