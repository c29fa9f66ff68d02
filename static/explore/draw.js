// Draws the charts of Explore as SVG, by attributes alone: the page's policy allows no style.

import { byVersion, domain, marks, scale, ticks, versionLines, wrapped } from "./marks.js";

/** @typedef {import("./view.js").Group} Group */

const INK = "var(--ink)";

/** @param {string} name @param {Record<string, string | number>} attributes @param {...(Node | string)} children */
function make(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** A number on an axis. @param {number} value */
const shown = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

/**
 * A drawing with its title and description.
 *
 * @param {number} id of the page's drawings
 * @param {string} title
 * @param {string} text
 * @param {number} width
 * @param {number} height
 */
function drawing(id, title, text, width, height) {
  const names = [`explore-title-${id}`, `explore-desc-${id}`];
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return make(
    "svg",
    { ...size, role: "img", "aria-labelledby": names.join(" ") },
    make("title", { id: names[0] ?? "" }, title),
    make("desc", { id: names[1] ?? "" }, text),
  );
}

/** What a drawing says in words. @param {Group[]} groups */
function described(groups) {
  return groups
    .map((group) => `${group.name}: ${group.figures.map((f) => `${f.label} ${f.text}`).join(", ")}`)
    .join("; ");
}

/**
 * Bars of one scenario or several, over one axis.
 *
 * @param {Group[]} groups
 * @param {{ title: string, unit: string, width: number, size: number, log: boolean, id: number, domain?: [number, number] }} look
 */
export function bars(groups, look) {
  const { title, unit, width, size, log, id } = look;
  const made = marks(groups, unit, width, size);
  const { left, bottom } = made.padding;
  const all = groups.flatMap((group) => group.figures);
  const within = look.domain ?? extent(all, log);
  const at = scale(within, made.width, log);
  const svg = drawing(id, title, described(groups), width, made.height + bottom);
  const area = make("g", { transform: `translate(${left} 0)`, "font-size": size });
  const axis = make("g", { class: "explore-axis" });
  area.append(axis);
  for (const tick of ticks(within, Math.max(2, Math.floor(made.width / (7 * size))), log)) {
    const x = at(tick);
    // Without room beside the axis, its first and last label stay within the chart.
    const first = x < size && left < 2 * size ? "start" : undefined;
    const anchor = first ?? (x > made.width - 2 * size ? "end" : "middle");
    const text = { x, y: made.height + 1.4 * size, fill: INK, "text-anchor": anchor };
    axis.append(
      make("line", { x1: x, x2: x, y1: 0, y2: made.height, stroke: "var(--rule)" }),
      make("text", text, shown(tick)),
    );
  }
  for (const { value, y, colour, opacity } of made.bars)
    area.append(
      make("line", {
        ...{ x1: 0, x2: Math.max(0, at(value)), y1: y, y2: y, stroke: colour },
        ...{ "stroke-width": 0.9 * size, "stroke-opacity": opacity },
      }),
    );
  for (const { low, high, y } of made.intervals)
    area.append(
      make("line", { x1: at(low), x2: at(high), y1: y, y2: y, stroke: INK, "stroke-width": 2 }),
    );
  for (const { text, end, y } of made.values)
    area.append(
      make("text", { x: at(end) + 6, y, fill: INK, "dominant-baseline": "middle" }, text),
    );
  for (const { text, x, y, weight, colour, align } of made.texts)
    area.append(
      make(
        "text",
        {
          ...{ x, y, fill: colour, "font-weight": weight, "dominant-baseline": "middle" },
          "text-anchor": align === "right" ? "end" : "start",
        },
        text,
      ),
    );
  svg.append(area);
  return svg;
}

/** What an axis must span. @param {import("./view.js").Figure[]} figures @param {boolean} log */
export function extent(figures, log) {
  const values = figures.flatMap((one) => [one.value, one.low ?? one.value, one.high ?? one.value]);
  return domain(values, log);
}

/**
 * The versions of each library of a scenario as lines.
 *
 * @param {Group} group
 * @param {{ title: string, unit: string, width: number, size: number, log: boolean, id: number }} look
 */
export function lines(group, look) {
  const { title, unit, width, size, log, id } = look;
  const versions = versionLines(group.figures);
  const order = [...new Set(versions.flat().map((one) => one.version))].sort(byVersion);
  const place = { left: 5.5 * size, right: size, top: 2.6 * size, height: 13 * size };
  const across = width - place.left - place.right;
  const within = extent(group.figures, log);
  const up = scale(within, place.height, log);
  const step = across / Math.max(1, order.length - 1);
  /** @param {import("./view.js").Figure} one */
  const x = (one) => (order.length > 1 ? order.indexOf(one.version) * step : across / 2);
  /** @param {number} value */
  const y = (value) => place.height - up(value);
  const most = (across - 2 * size) / (0.56 * size);
  const names = versions.map((of) => {
    const [first, last] = [of[0], of.at(-1)];
    const span = of.length > 1 ? `${first?.label} to ${last?.version}` : `${first?.label}`;
    return wrapped(span, most);
  });
  const height = place.top + place.height + (1.6 + names.flat().length * 1.6) * size;
  const svg = drawing(id, title, described([group]), width, height);
  const name = { x: 0, y: size, fill: INK, "font-weight": 600, "font-size": size };
  svg.append(make("text", name, `${group.name.charAt(0).toUpperCase()}${group.name.slice(1)}`));
  const area = make("g", {
    transform: `translate(${place.left} ${place.top})`,
    "font-size": 0.9 * size,
  });
  for (const tick of ticks(within, 4, log))
    area.append(
      make("line", { x1: 0, x2: across, y1: y(tick), y2: y(tick), stroke: "var(--rule)" }),
      make(
        "text",
        {
          ...{ x: -0.6 * size, y: y(tick), fill: INK },
          ...{ "text-anchor": "end", "dominant-baseline": "middle" },
        },
        shown(tick),
      ),
    );
  let below = place.height + 1.8 * size;
  versions.forEach((of, index) => {
    const stroke = `var(--${of[0]?.colour})`;
    area.append(
      make("polyline", {
        ...{ points: of.map((one) => `${x(one)},${y(one.value)}`).join(" ") },
        ...{ fill: "none", stroke, "stroke-width": 2 },
      }),
      ...of.map((one) => {
        const dot = make("circle", { cx: x(one), cy: y(one.value), r: 3.5, fill: stroke });
        dot.append(make("title", {}, `${one.label}: ${one.text} ${unit}`));
        return dot;
      }),
    );
    area.append(
      make("line", {
        ...{ x1: 0, x2: 1.4 * size, y1: below, y2: below, stroke, "stroke-width": 2 },
      }),
    );
    for (const text of names[index] ?? []) {
      const at = { x: 2 * size, y: below, fill: INK, "dominant-baseline": "middle" };
      area.append(make("text", at, text));
      below += 1.6 * size;
    }
  });
  svg.append(area);
  return svg;
}
