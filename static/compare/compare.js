// Compare: two implementations in every row that one host measured of both. The address has what a
// reader picked, and the row that is open.

import {
  byDifference,
  GROUPS,
  hostsOf,
  measurements,
  newest,
  partnersOf,
  placeOf,
  summary,
} from "./data.js";
import { details, head, labelOf, line, make } from "./table.js";

/** @typedef {import("./data.js").Data} Data */
/** @typedef {import("./data.js").Measurement} Measurement */
/** @typedef {import("./table.js").Context} Context */

/** Rows that are shown before a reader asks for all. */
const FIRST = 40;
const NAMES = ["a", "b", "host", "also", "what", "q", "row"];

/** @param {string} selector @returns {any} */
const one = (selector) => document.querySelector(selector);
const page = one("#compare");
const form = one("#compare form");
const status = one("#compare [role=status]");
const table = one("#compare table");
const more = one("#compare [data-more]");
const field = form.elements;
const { home, title, author, site } = page.dataset;

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();

/** The data of a part. @param {string} folder */
function load(folder) {
  const file = loaded.get(folder) ?? fetchFile(`${home}${folder}/compare.json`);
  loaded.set(folder, file);
  file.catch(() => loaded.delete(folder));
  return file;
}

/** @param {string} address */
async function fetchFile(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}

/** @type {Data} */
let data;
/** What the address has. @type {Record<string, string>} */
let state = {};
let all = false;

/** Fills a list, with groups if the options name them. @param {HTMLSelectElement} select @param {{ value: string, text: string, group?: string }[]} options @param {string} picked */
function fill(select, options, picked) {
  const groups = [...new Set(options.map((of) => of.group))];
  const made = groups.map((group) => {
    const own = options
      .filter((of) => of.group === group)
      .map(({ value, text }) => make("option", { value }, text));
    return group ? [make("optgroup", { label: group }, ...own)] : own;
  });
  select.replaceChildren(...made.flat());
  select.value = picked;
}

/** @param {number[]} places */
const implementations = (places) =>
  places.map((at) => {
    const [value = "", text = "", library = ""] = data.implementations[at] ?? [];
    const group = labelOf(data, data.defaults[library] ?? at).split(" ")[0];
    return { value, text, group };
  });

/** @param {number[]} places */
const hostOptions = (places) =>
  places.map((at) => ({ value: data.hosts[at]?.[0] ?? "", text: data.hosts[at]?.[1] ?? "" }));

/** Reads what the address has, and fills the lists; what it does not have is picked. */
function picked() {
  const places = data.implementations.map((_, at) => at);
  const first = Object.values(data.defaults);
  const a = placeOf(data, state.a) ?? first[0] ?? 0;
  const partners = partnersOf(data, a);
  const given = placeOf(data, state.b) ?? a;
  const usual = [...first, ...partners].find((at) => partners.has(at)) ?? a;
  const b = given === a ? usual : given;
  const hosts = hostsOf(data, a, b);
  /** @param {string | undefined} id */
  const hostAt = (id) => hosts.find((at) => data.hosts[at]?.[0] === id);
  const host = hostAt(state.host) ?? hosts[0] ?? 0;
  const others = hosts.filter((at) => at !== host);
  const also = others.find((at) => at === hostAt(state.also));
  const id = (/** @type {number} */ at) => data.implementations[at]?.[0] ?? "";
  fill(field.a, implementations(places), id(a));
  fill(field.b, implementations(places.filter((at) => partners.has(at) || at === b)), id(b));
  fill(field.host, hostOptions(hosts), data.hosts[host]?.[0] ?? "");
  const none = { value: "", text: "none" };
  fill(field.also, [none, ...hostOptions(others)], data.hosts[also ?? -1]?.[0] ?? "");
  return { a, b, hosts: also === undefined ? [host] : [host, also] };
}

/** What the address names and the data do not have. */
function unknown() {
  const implementations = [state.a, state.b].filter((name) => placeOf(data, name) === undefined);
  const hosts = [state.host, state.also].filter((name) => !data.hosts.some(([id]) => id === name));
  const found = [...implementations, ...hosts].filter(Boolean);
  return found.length ? ` Not measured here: ${found.join(", ")}.` : "";
}

/** The rows of all hosts together, in the order of the first. @param {{ a: number, b: number, hosts: number[] }} of */
function rowsOf({ a, b, hosts }) {
  const [first, ...others] = hosts.map((host) => newest(data, a, b, host));
  const rows = [...(first?.values() ?? [])].sort(byDifference);
  return rows
    .map((row) => [row, ...others.map((of) => of.get(row.row))])
    .filter((of) => of.every((measurement) => measurement !== undefined));
}

/** @param {Measurement} of @param {string} what @param {string[]} words */
function isShown({ row }, what, words) {
  const [, name = "", kind = 0, unit = 0, group = 0] = data.rows[row] ?? [];
  const text = `${name} ${data.kinds[kind]} ${data.units[unit]}`.toLowerCase();
  return (
    (what === "all" || GROUPS[group]?.[0] === what) && words.every((word) => text.includes(word))
  );
}

function show() {
  const of = picked();
  const rows = /** @type {Measurement[][]} */ (rowsOf(of));
  const options = [...GROUPS, ["all", "All"]].flatMap(([value = "", name]) => {
    const count = rows.filter(([one]) => one && isShown(one, value, [])).length;
    return count ? [{ value, text: `${name} (${count})` }] : [];
  });
  const opens = data.rows.find(
    ([anchor, , , unit]) => state.row === `${anchor} ${data.units[unit]}`,
  );
  const wanted = state.what ?? GROUPS[opens?.[4] ?? 0]?.[0];
  const what = (options.find(({ value }) => value === wanted) ?? options[0])?.value ?? "all";
  fill(field.what, options, what);
  if (field.q !== document.activeElement) field.q.value = state.q ?? "";
  const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(([one]) => one && isShown(one, what, words));
  const hosts = of.hosts.map((at) => data.hosts[at]?.[1] ?? "");
  const [a, b] = [labelOf(data, of.a), labelOf(data, of.b)];
  const context = { data, a: of.a, b: of.b, home, base: `${site}/`, site: title, author };
  const found = shown.map(([one]) => /** @type {Measurement} */ (one));
  const count = `${shown.length} ${shown.length === 1 ? "row" : "rows"} on ${hosts.join(" and ")}`;
  status.textContent = rows.length
    ? `${count}. ${shown.length ? `${summary(found, a, b)}` : "Shorten the filter."}`
    : `No run has a row of both ${a} and ${b}.`;
  if (hosts.length > 1) status.textContent += ` The counts are those of ${hosts[0]}.`;
  status.textContent += unknown();
  one("#compare-hosts").hidden = hosts.length < 2;
  table.hidden = !shown.length;
  table.setAttribute("aria-label", `${a} over ${b}`);
  table.tHead.replaceChildren(head(context, hosts));
  const lines = shown.map((measured) => line(measured, context, hosts));
  const open = lines.findIndex((line) => line.dataset.row === state.row);
  const upTo = all ? lines.length : Math.max(FIRST, open + 1);
  table.tBodies[0].replaceChildren(...lines.slice(0, upTo));
  more.hidden = lines.length <= upTo;
  more.textContent = `Show all ${lines.length} rows`;
  const opened = shown[open]?.[0];
  const openLine = lines[open];
  return opened && openLine ? unfold(openLine, opened, context) : null;
}

/** Shows what is in a row. @param {HTMLElement} line @param {Measurement} of @param {Context} context */
async function unfold(line, of, context) {
  line.querySelector("button")?.setAttribute("aria-expanded", "true");
  const cell = make("td", { colspan: `${line.children.length}` }, "Loading …");
  line.after(make("tr", { class: "compare-open" }, cell));
  try {
    const found = await measurements(data, of.row, context.a, context.b, load);
    cell.replaceChildren(...details(found, context));
  } catch (error) {
    cell.textContent = `Older measurements are missing: ${error}`;
  }
  return line;
}

/** Changes what is picked, in the address as well. @param {Record<string, string>} change @param {boolean} [replace] */
function pick(change, replace = false) {
  const all = Object.entries({ ...state, ...change });
  state = Object.fromEntries(all.filter(([, value]) => value));
  const kept = NAMES.flatMap((name) => (state[name] ? [[name, state[name]]] : []));
  const address = `?${new URLSearchParams(kept)}`;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

function restore() {
  const found = new URLSearchParams(location.search);
  state = Object.fromEntries([...found].filter(([name]) => NAMES.includes(name)));
  return show();
}

/** What is picked now, so that an address stays the same when there is more to pick. */
const now = () => ({ a: field.a.value, b: field.b.value, host: field.host.value });

form.addEventListener("change", (/** @type {any} */ { target }) => {
  if (target.name === "q") return;
  all = false;
  const { name, value } = target;
  /** @type {Record<string, string>} */
  const change = { ...now(), [name]: value };
  if (name === "a" || name === "b") change.row = "";
  const partners = partnersOf(data, placeOf(data, change.a) ?? 0);
  if (!partners.has(placeOf(data, change.b) ?? 0)) change.b = "";
  pick(change);
});
form.addEventListener("input", (/** @type {any} */ { target }) => {
  if (target.name === "q") pick({ ...now(), q: target.value }, true);
});
form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
more.addEventListener("click", () => {
  all = true;
  const at = table.tBodies[0].querySelectorAll("[data-row]").length;
  show();
  table.tBodies[0].querySelectorAll("[data-row] button")[at]?.focus();
});
table.addEventListener("click", (/** @type {any} */ { target }) => {
  const button = target.closest("button[aria-expanded]");
  if (!button) return;
  const key = button.closest("tr").dataset.row;
  pick({ ...now(), row: button.getAttribute("aria-expanded") === "true" ? "" : key });
  table.querySelector(`[data-row="${CSS.escape(key)}"] button`)?.focus();
});
addEventListener("popstate", restore);

fetchFile(`${home}compare/newest.json`).then(
  async (found) => {
    data = found;
    form.hidden = false;
    const opened = await restore();
    page.classList.add("ready");
    opened?.scrollIntoView();
  },
  (error) => {
    page.classList.add("ready");
    status.textContent = `The data are missing: ${error}`;
  },
);
