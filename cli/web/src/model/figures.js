// The figures of every node in a view: {mode, by, thread, process, range}. `thread` and `process` are
// an index or null for all; `range` is a pair of moments for the modes grew and shrank. A node's own figure has the
// allocations made exactly there; the inclusive one also has those below it.
//
// `keeps` tells for each node whether its figure counts; null: all do. With `byNode` nothing is known of
// functions.
//
// In a range each place either grew or shrank. The two are separated when they are counted, so that
// the sums of both graphs agree: grew minus shrank is live at its end minus live at its start.

import {RANGE_MODES} from './capture.js';
import {sumByFunction} from './functions.js';

const KEPT_VIEWS = 24;

// Those of the capture, or of one of its processes.
export const rowsOf = (capture, process) =>
    (process ?? null) === null ? capture.rows : capture.processes.listed[process].rows;
const tablesOf = (capture, process) =>
    (process ?? null) === null ? capture.functions : capture.processes.listed[process].tables;

// The sum of a column of rows by thread.
export function threadSums({thread, columns}, name, threads) {
  const sums = new Array(threads).fill(0), column = columns[name];
  for (let row = 0; row < column.length; ++row) sums[thread[row]] += column[row];
  return sums;
}

export function createFigures(capture, {keeps = null, byNode = false} = {}) {
  const {parent} = capture.nodes;
  const nodes = parent.length;
  // The most recent views, since a graph asks again and again.
  const views = new Map(), functionViews = new Map();

  function ownOf({mode, by, thread: only, process, range}) {
    if (mode === 'grew' || mode === 'shrank') {
      const change = capture.history.change(by, range, nodes, only ?? null);
      const sign = mode === 'grew' ? 1 : -1;
      return change.map((value, i) => keeps === null || keeps[i] ? Math.max(0, sign * value) : 0);
    }
    const rows = rowsOf(capture, process);
    return spread(rows, rows.columns[`${mode}_${by}`], only);
  }

  function spread({node, thread}, column, only) {
    const own = new Float64Array(nodes);
    const all = only === null || only === undefined || thread === null;
    for (let row = 0; row < node.length; ++row) {
      if (keeps !== null && !keeps[node[row]]) continue;
      if (all || thread[row] === only) own[node[row]] += column[row];
    }
    return own;
  }

  // Parents have smaller indexes than their children.
  function sumUp(own) {
    const sums = own.slice();
    for (let i = sums.length - 1; i > 0; --i) sums[parent[i]] += sums[i];
    return sums;
  }

  function remembered(kept, key, make) {
    let found = kept.get(key);
    if (found) {
      kept.delete(key);
    } else {
      found = make();
      if (kept.size >= KEPT_VIEWS) kept.delete(kept.keys().next().value);
    }
    kept.set(key, found);
    return found;
  }

  function of(view) {
    const {mode, by, thread: only, process, range} = view;
    const key = [mode, by, only ?? '', process ?? '', mode === 'grew' || mode === 'shrank' ? range : ''].join('/');
    return remembered(views, key, () => {
      const own = ownOf(view), rows = rowsOf(capture, process);
      const variance = rows.variances[`${mode}_${by}`];
      const ownVariance = variance ? spread(rows, variance, only) : null;
      return {own, inclusive: sumUp(own), ownVariance,
        inclusiveVariance: ownVariance && sumUp(ownVariance)};
    });
  }

  // By function, over the whole profile. A range, and a restriction, is known only by node: null.
  function functions(view) {
    const {mode, by, thread: only, process, system} = view;
    if (byNode || RANGE_MODES.includes(mode)) return null;
    const key = [mode, by, only ?? '', process ?? '', system].join('/');
    return remembered(functionViews, key, () => {
      const {count} = capture.functions;
      const {self, located, inclusive} = tablesOf(capture, process);
      const name = `${mode}_${by}`;
      const sums = (table, kind) =>
        table[kind][name] && sumByFunction(table, table[kind][name], count, only);
      const own = system === 'hide' ? located : self;
      return {self: sums(own, 'columns'), inclusive: sums(inclusive, 'columns'),
        selfVariance: sums(own, 'variances'), inclusiveVariance: sums(inclusive, 'variances')};
    });
  }

  // A drawn node with a function has the function's own figure, less that of the nodes `minus`.
  function ofFunction(view, {fn, minus = []}, whole, nodes) {
    const sums = functions(view);
    if (sums === null) return null;
    const column = of(view)[nodes];
    return minus.reduce((sum, id) => sum - column[id], sums[whole][fn]);
  }

  return {
    own: (view) => of(view).own,
    inclusive: (view) => of(view).inclusive,
    total: (view) => of(view).inclusive[0],
    // The standard error of the sum of nodes; 0 for an exact capture.
    error(view, ids, ownOnly = false) {
      const column = of(view)[ownOnly ? 'ownVariance' : 'inclusiveVariance'];
      return column ? Math.sqrt(ids.reduce((sum, id) => sum + column[id], 0)) : 0;
    },
    // For a drawn node (call_tree.js): the sum over the capture's nodes that it represents.
    ofDrawn(view, drawn) {
      const exact = drawn.fn === undefined ? null : ofFunction(view, drawn, 'self', 'own');
      if (exact !== null) return exact;
      const column = of(view)[drawn.ownOnly ? 'own' : 'inclusive'];
      return drawn.ids.reduce((sum, id) => sum + column[id], 0);
    },
    errorOfDrawn(view, drawn) {
      if (drawn.fn === undefined || !functions(view)?.selfVariance) {
        return this.error(view, drawn.ids, drawn.ownOnly);
      }
      return Math.sqrt(Math.max(0, ofFunction(view, drawn, 'selfVariance', 'ownVariance')));
    },
    functions,
  };
}
