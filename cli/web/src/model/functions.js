// The figures by function, which the executable summed over the whole profile. The capture's nodes
// lack what was pruned from the drawing, so no figure of a function is ever summed over them.
//
// "self" counts a block by the function that called the allocator, "located" by the innermost one
// that is no system code: the self figure while system frames are hidden.

import {KIND_INTERPRETER, KIND_ROW} from './capture.js';
import {MEASURES} from './rows.js';

export const KEPT_BY_DESIGN = '[runtime, kept by design]';  // cli/web/page_tree.h's kRuntimeRow
export const NO_PROGRAM = '[system frames]';       // cli/web/page_functions.h's kNoProgramRow
export const OTHER_FUNCTIONS = '[other functions]';  // its kOtherFunctions

// {count, others, frame: of each function, as capture.frame's, index: of a key (functionKey), and the
// tables self, located, inclusive: {of, thread, columns, variances}}
export function parseFunctions({functions, strings}, modes) {
  const index = new Map();
  const frame = functions.function.map((name, i) => {
    index.set(functionKey(functions, i), i);
    return {function: strings[name], file: strings[functions.file[i]],
      module: strings[functions.module[i]], lines: '', source: '', kind: functions.kind[i],
      inlined: false};
  });
  const rows = frame.flatMap(({kind}, fn) => kind === KIND_ROW ? [fn] : []);
  const row = (name) => rows.find((fn) => frame[fn].function === name) ?? -1;
  return {count: frame.length, others: functions.others, frame, index,
    noProgram: row(NO_PROGRAM), otherFunctions: row(OTHER_FUNCTIONS), kept: row(KEPT_BY_DESIGN),
    ...parseTables(functions, modes)};
}

// {self, located, inclusive}: the tables of the capture, or of one of its processes.
export function parseTables(functions, modes) {
  const table = (rows) => {
    const columns = {}, variances = {};
    for (const mode of modes) {
      for (const by of MEASURES) {
        const name = `${mode}_${by}`;
        columns[name] = Float64Array.from(rows[name]);
        if (rows.variances) variances[name] = Float64Array.from(rows.variances[name]);
      }
    }
    return {of: Uint32Array.from(rows.of), thread: rows.thread ? Uint32Array.from(rows.thread) : null,
      columns, variances};
  };
  return {self: table(functions.self), located: table(functions.located),
    inclusive: table(functions.inclusive)};
}

// Equal for the frames of one function: `columns` are the capture's "frames" or "functions". Code of an
// interpreter is another function where Python functions stand for it.
export const functionKey = ({function: names, file, module, kind}, i) =>
    `${names[i]}/${file[i]}/${module[i]}/${kind[i] === KIND_INTERPRETER}`;

// The functions by `key`, "file" or "module": {name, path, members}. Functions without one are in a
// group with an empty name, and rows of no code have each their own.
export function groupFunctions({frame}, key) {
  const groups = new Map();
  frame.forEach((info, fn) => {
    const path = info.kind === KIND_ROW ? info.function : info[key];
    const group = groups.get(path) ?? {name: path, path, members: []};
    group.members.push(fn);
    groups.set(path, group);
  });
  return [...groups.values()];
}

// The sums of a table's column over threads, by function.
export function sumByFunction({of, thread}, column, count, only) {
  const sums = new Float64Array(count);
  const all = only === null || only === undefined || thread === null;
  for (let row = 0; row < of.length; ++row) {
    if (all || thread[row] === only) sums[of[row]] += column[row];
  }
  return sums;
}
