// The capture's data that the executable embedded: columns, made into typed arrays. Parts that a
// capture lacks (temporaries, timeline, moments) are absent here, too.
//
// Invariant: for each mode and measure the rows' sum equals the capture's total, and so does the
// functions'; at each moment the history's sum equals the live figure. verify() lists the violations; the page shows them,
// never hides them.

import {parseFunctions} from './functions.js';
import {parseHistory} from './history.js';

export const MODES = ['peak', 'leaked', 'total', 'temporary'];
export const RANGE_MODES = ['grew', 'shrank'];  // within a range of time that the reader chose
export const MEASURES = ['bytes', 'allocations'];
export const KIND_PROGRAM = 0, KIND_SYSTEM = 1, KIND_ROW = 2;
export const KEPT_BY_DESIGN = '[runtime, kept by design]';  // cli/web/page_tree.h's kRuntimeRow

export function parseCapture(text) {
  const data = JSON.parse(text);
  const modes = MODES.filter((mode) => data.totals[mode] && data.own[`${mode}_bytes`] &&
      (mode !== 'temporary' || data.temporary_threshold !== 0));  // 0: not counted
  const columns = {}, variances = {};
  for (const mode of modes) {
    for (const by of MEASURES) {
      const name = `${mode}_${by}`;
      columns[name] = Float64Array.from(data.own[name]);
      const variance = data.sampled?.variances[name];
      if (variance) variances[name] = Float64Array.from(variance);
    }
  }
  return {
    ...data,
    modes,
    threads: data.threads ?? [],
    nodes: {parent: Uint32Array.from(data.nodes.parent), frame: Uint32Array.from(data.nodes.frame)},
    // One for each (node, thread) that has a figure.
    rows: {
      node: Uint32Array.from(data.own.node),
      thread: data.own.thread ? Uint32Array.from(data.own.thread) : null,
      columns,
      variances,
    },
    functions: parseFunctions(data, modes),
    history: parseHistory(data),
    total: (mode, by) => data.totals[mode][by === 'bytes' ? 0 : 1],
    frame: (index) => frameAt(data, index),
  };
}

export function verify(capture) {
  const wrong = [];
  for (const mode of capture.modes) {
    for (const by of MEASURES) {
      const total = capture.total(mode, by);
      const {self, located} = capture.functions;
      const parts = {rows: capture.rows, functions: self, 'functions with hidden system frames': located};
      for (const [what, {columns}] of Object.entries(parts)) {
        const sum = columns[`${mode}_${by}`].reduce((all, value) => all + value, 0);
        if (!same(sum, total)) {
          wrong.push(`The ${what} of ${mode} ${by} sum to ${sum}, the capture says ${total}.`);
        }
      }
    }
  }
  capture.history?.sums().forEach((sum, moment) => {
    const live = capture.moments.heap_bytes[moment];
    if (!same(sum, live)) {
      wrong.push(`The rows at ${capture.moments.time_ms[moment]} ms sum to ${sum}, the capture ` +
          `says ${live}.`);
    }
  });
  return wrong;
}

// Above 2^53 neither figure is exact any more.
const same = (rows, total) => Number.isSafeInteger(total) ? rows === total
    : Math.abs(rows - total) <= total * 1e-9;

function frameAt({strings, frames}, index) {
  return {
    function: strings[frames.function[index]],
    file: strings[frames.file[index]],
    module: strings[frames.module[index]],
    lines: strings[frames.lines[index]],
    source: strings[frames.source?.[index] ?? 0],
    kind: frames.kind[index],
    inlined: frames.inlined[index] === 1,
  };
}
