// The data of a difference that the executable embedded, and the tree that is drawn of it.
//
// A figure is [bytes before, allocations before, bytes after, allocations after].
//
// Invariant: for each figure the nodes, and the rows of each table, sum to the totals. verify()
// lists the violations; the page shows them instead of hiding them.

import {forEachNode} from './call_tree.js';

export const MEASURES = ['bytes', 'allocations'];

export const sideOf = (figure, measure, side) =>
    figure[(side === 'after' ? 2 : 0) + (measure === 'bytes' ? 0 : 1)];
export const changeOf = (figure, measure) =>
    sideOf(figure, measure, 'after') - sideOf(figure, measure, 'before');

export function parseDifference(text) {
  const data = JSON.parse(text);
  const parent = Uint32Array.from(data.nodes.parent);
  const columns = new Map();

  // Inclusive: parents have smaller indexes than their children.
  function column(figure, measure, what) {
    const name = `${figure} ${measure} ${what}`;
    if (columns.has(name)) return columns.get(name);
    const sums = new Float64Array(parent.length);
    data.own.node.forEach((node, row) => {
      const own = data.own[figure][row];
      sums[node] = what === 'change' ? Math.abs(changeOf(own, measure)) : sideOf(own, measure, what);
    });
    for (let node = sums.length - 1; node > 0; --node) sums[parent[node]] += sums[node];
    columns.set(name, sums);
    return sums;
  }

  return {...data, parent, column};
}

export function verify(difference) {
  const wrong = [];
  for (const figure of difference.figures) {
    for (const measure of MEASURES) {
      for (const side of ['before', 'after']) {
        const total = sideOf(difference.totals[figure], measure, side);
        if (!Number.isSafeInteger(total)) continue;  // no longer exact
        const say = (what, sum) => {
          if (sum !== total) wrong.push(`${what} of ${figure} ${measure} ${side} sum to ${sum}, ` +
              `the capture says ${total}.`);
        };
        say('The frames', difference.column(figure, measure, side)[0]);
        for (const [by, rows] of Object.entries(difference.tables)) {
          say(`The rows by ${by}`,
              rows.reduce((sum, row) => sum + sideOf(row[figure], measure, side), 0));
        }
      }
    }
  }
  return wrong;
}

// `width` is the figure for the frames' widths: "change", the sum of all changes without their
// signs; "after"; "before". Nodes without width aren't drawn.
export function buildDiffTree(difference, {figure, measure, width}) {
  const {parent, frames, nodes} = difference;
  const before = difference.column(figure, measure, 'before');
  const after = difference.column(figure, measure, 'after');
  const value = difference.column(figure, measure, width);
  const at = new Array(parent.length);
  for (let key = 0; key < parent.length; ++key) {
    const above = key === 0 ? null : at[parent[key]];
    if (key !== 0 && (value[key] === 0 || !above)) continue;
    const frame = nodes.frame[key];
    const drawn = {key, value: value[key], parent: above, children: [], before: before[key],
      after: after[key], name: key === 0 ? difference.after.program || 'all' : frames.function[frame],
      module: key === 0 ? '' : frames.module[frame], hide: false, fade: false, match: false};
    above?.children.push(drawn);
    at[key] = drawn;
  }
  forEachNode(at[0], ({children}) => children.sort((a, b) => b.value - a.value || a.key - b.key));
  // A node that isn't drawn is represented by its nearest drawn caller.
  const nearest = (key) => {
    if (!(key >= 0 && key < parent.length)) return at[0];
    while (!at[key]) key = parent[key];
    return at[key];
  };
  return {root: at[0], at: nearest};
}

// Red for more, blue for less; the paler, the smaller the change is compared with the frame itself.
export function colorOfChange({before, after, match}, theme) {
  if (match) return theme === 'dark' ? 'hsl(300 60% 44%)' : 'hsl(300 72% 74%)';
  const larger = Math.max(before, after);
  const change = larger > 0 ? (after - before) / larger : 0;
  const strength = change === 0 ? 0 : 0.18 + 0.82 * Math.abs(change);
  const hue = change < 0 ? 213 : 6;
  const [saturation, lightness] = theme === 'dark' ? [58 * strength, 24 + 18 * strength]
      : [80 * strength, 90 - 24 * strength];
  return `hsl(${hue} ${saturation.toFixed(0)}% ${lightness.toFixed(0)}%)`;
}
