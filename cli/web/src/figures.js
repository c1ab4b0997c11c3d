// The figures of every node in a view: {mode, by, thread, range}. `thread` is an index or null for
// all; `range` a pair of moments for the modes grew and shrank. A node's own figure is of what was
// allocated exactly there, the inclusive one of all below it as well.
//
// In a range each place either grew or shrank; the two are told apart where they are counted, so
// that both graphs have sums that agree: grew minus shrank is live at its end minus live at its
// start.

const KEPT_VIEWS = 24;

export function createFigures(capture) {
  const {parent} = capture.nodes, {node, thread, columns, variances} = capture.rows;
  const nodes = parent.length;
  const views = new Map();  // the last ones, since a graph asks again and again

  function ownOf({mode, by, thread: only, range}) {
    if (mode === 'grew' || mode === 'shrank') {
      const change = capture.history.change(by, range, nodes, only ?? null);
      const sign = mode === 'grew' ? 1 : -1;
      return change.map((value) => Math.max(0, sign * value));
    }
    return spread(columns[`${mode}_${by}`], only);
  }

  function spread(column, only) {
    const own = new Float64Array(nodes);
    const all = only === null || only === undefined || thread === null;
    for (let row = 0; row < node.length; ++row) {
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

  function of(view) {
    const {mode, by, thread: only, range} = view;
    const key = [mode, by, only ?? '', mode === 'grew' || mode === 'shrank' ? range : ''].join('/');
    let found = views.get(key);
    if (found) {
      views.delete(key);
    } else {
      const own = ownOf(view), variance = variances[`${mode}_${by}`];
      const ownVariance = variance ? spread(variance, only) : null;
      found = {own, inclusive: sumUp(own), ownVariance,
        inclusiveVariance: ownVariance && sumUp(ownVariance)};
      if (views.size >= KEPT_VIEWS) views.delete(views.keys().next().value);
    }
    views.set(key, found);
    return found;
  }

  return {
    own: (view) => of(view).own,
    inclusive: (view) => of(view).inclusive,
    total: (view) => of(view).inclusive[0],
    // The standard error of nodes together; 0 of an exact capture.
    error(view, ids, ownOnly = false) {
      const column = of(view)[ownOnly ? 'ownVariance' : 'inclusiveVariance'];
      return column ? Math.sqrt(ids.reduce((sum, id) => sum + column[id], 0)) : 0;
    },
    // Of a drawn node (call_tree.js): the sum over the capture's nodes that it stands for.
    ofDrawn(view, drawn) {
      const column = of(view)[drawn.ownOnly ? 'own' : 'inclusive'];
      return drawn.ids.reduce((sum, id) => sum + column[id], 0);
    },
    errorOfDrawn(view, drawn) { return this.error(view, drawn.ids, drawn.ownOnly); },
  };
}
