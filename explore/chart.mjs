// What of Vega the chart of Explore needs, and no more; `make bundle` makes static/explore/chart.js
// of it. The specification comes as Vega-Lite compiled it and Vega parsed it when it was bundled,
// with its expressions as syntax trees: the interpreter walks them, so that no eval is needed.

import specification from "specification:bars.mjs";
import { transforms } from "vega-dataflow";
import { axisticks, datajoin, encode, scale } from "vega-encode";
import { expressionInterpreter } from "vega-interpreter";
import { collect, extent, filter, multiextent, proxy, relay, sieve } from "vega-transforms";
import { View } from "vega-view";
import { bound, mark, overlap, render, viewlayout } from "vega-view-transforms";

Object.assign(transforms, {
  axisticks,
  bound,
  collect,
  datajoin,
  encode,
  extent,
  filter,
  mark,
  multiextent,
  overlap,
  proxy,
  relay,
  render,
  scale,
  sieve,
  viewlayout,
});

/**
 * An empty chart in an element, to be given data and signals (see bars.mjs), and drawn as SVG.
 *
 * @param {HTMLElement} container
 * @returns {import("vega-view").View}
 */
export function chart(container) {
  return new View(specification, { expr: expressionInterpreter, renderer: "svg", container });
}
