// The capture's data that the executable embedded: columns, made into typed arrays. Parts that a
// capture lacks (temporaries, timeline, moments) are absent here, too.
//
// Invariant: for each mode and measure the rows' sum equals the capture's total, and so does the
// functions'; at each moment the history's sum equals the live figure, and so does the bands'. verify()
// lists the violations; the page shows them, never hides them.

import {parseBands, stackOf} from './bands.js';
import {parseFunctions} from './functions.js';
import {parseHistory} from './history.js';
import {parseProcesses} from './processes.js';
import {MEASURES, parseRows} from './rows.js';

export const MODES = ['peak', 'leaked', 'total', 'temporary'];
export const RANGE_MODES = ['grew', 'shrank'];  // within a range of time that the reader chose
export const KIND_PROGRAM = 0, KIND_SYSTEM = 1, KIND_ROW = 2;
// Code of a Python interpreter in a stack with Python functions, which stand for it. Without them it
// is KIND_PROGRAM.
export const KIND_INTERPRETER = 3;

// Whether the view gives the figures of such frames to their callers.
export const hidesKind = (view, kind) => view.system === 'hide' &&
    (kind === KIND_SYSTEM || (kind === KIND_INTERPRETER && view.interpreter !== 'show'));
export {KEPT_BY_DESIGN} from './functions.js';

export function parseCapture(text) {
  const data = JSON.parse(text);
  const modes = MODES.filter((mode) => data.totals[mode] && data.own[`${mode}_bytes`] &&
      (mode !== 'temporary' || data.temporary_threshold !== 0));  // 0: not counted
  const rows = parseRows(data.own, modes, data.sampled), functions = parseFunctions(data, modes);
  return {
    ...data,
    modes,
    threads: data.threads ?? [],
    nodes: {parent: Uint32Array.from(data.nodes.parent), frame: Uint32Array.from(data.nodes.frame)},
    rows,
    leaves: Uint32Array.from(new Set(rows.node)),  // the nodes that have figures of their own
    functions,
    history: parseHistory(data),
    bands: parseBands(data, functions),
    processes: parseProcesses(data, modes),
    running: new Map((data.running?.node ?? []).map((node, i) => [node,
      {bytes: data.running.bytes[i], allocations: data.running.allocations[i]}])),
    total: (mode, by) => data.totals[mode][by === 'bytes' ? 0 : 1],
    frame: (index) => frameAt(data, index),
  };
}

export function verify(capture) {
  const wrong = [];
  const compare = ({rows, self, located}, total, whose) => {
    const parts = {rows, functions: self, 'functions with hidden system frames': located};
    for (const mode of capture.modes) {
      for (const by of MEASURES) {
        for (const [what, {columns}] of Object.entries(parts)) {
          const sum = sumOf(columns[`${mode}_${by}`]);
          if (!same(sum, total(mode, by))) {
            wrong.push(`The ${what} of ${mode} ${by}${whose} sum to ${sum}, the capture says ` +
                `${total(mode, by)}.`);
          }
        }
      }
    }
  };
  compare({rows: capture.rows, ...capture.functions}, capture.total, '');
  for (const process of capture.processes?.listed ?? []) {
    if (!process.totals) continue;
    compare({rows: process.rows, ...process.tables},
        (mode, by) => process.totals[mode][by === 'bytes' ? 0 : 1], ` in process ${process.pid}`);
  }
  capture.history?.sums().forEach((sum, moment) => {
    const live = capture.moments.heap_bytes[moment];
    if (!same(sum, live)) {
      wrong.push(`The rows at ${capture.moments.time_ms[moment]} ms sum to ${sum}, the capture ` +
          `says ${live}.`);
    }
  });
  if (capture.bands && capture.moments) wrong.push(...verifyBands(capture));
  return wrong;
}

function sumOf(column) {
  let sum = 0;
  for (let i = 0; i < column.length; ++i) sum += column[i];
  return sum;
}

// The bands are known at all moments, the history perhaps at some of them.
function verifyBands({bands, moments}) {
  const wrong = [], at = new Map(bands.times.map((ms, i) => [ms, i]));
  for (const [by, live] of [['bytes', moments.heap_bytes], ['allocations', moments.allocations]]) {
    const {total} = stackOf(bands, by);
    moments.time_ms.forEach((ms, i) => {
      if (at.has(ms) && live && !same(total[at.get(ms)], live[i])) {
        wrong.push(`The bands of ${by} at ${ms} ms sum to ${total[at.get(ms)]}, the capture says ` +
            `${live[i]}.`);
      }
    });
  }
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
