// The capture's data as the executable embedded it: columns, made into typed arrays.
//
// Invariant: for each mode and measure the root's inclusive figure equals the capture's total.
// verify() says where it doesn't; the page then shows that instead of hiding it.

export const MODES = ['peak', 'leaked', 'total'];
export const MEASURES = ['bytes', 'allocations'];
export const KIND_PROGRAM = 0, KIND_SYSTEM = 1, KIND_ROW = 2;

export function parseCapture(text) {
  const data = JSON.parse(text);
  const parent = Uint32Array.from(data.nodes.parent);
  const frame = Uint32Array.from(data.nodes.frame);
  const own = {}, inclusive = {}, ownVariance = {}, inclusiveVariance = {};
  for (const mode of MODES) {
    for (const by of MEASURES) {
      const name = `${mode}_${by}`;
      const column = new Float64Array(parent.length);
      data.own.node.forEach((node, row) => { column[node] = data.own[name][row]; });
      own[name] = column;
      inclusive[name] = sumUp(column, parent);
      if (!data.sampled) continue;
      const variance = new Float64Array(parent.length);
      data.own.node.forEach((node, row) => { variance[node] = data.sampled.variances[name][row]; });
      ownVariance[name] = variance;
      inclusiveVariance[name] = sumUp(variance, parent);
    }
  }
  return {
    ...data,
    nodes: {parent, frame},
    own: (mode, by) => own[`${mode}_${by}`],
    inclusive: (mode, by) => inclusive[`${mode}_${by}`],
    // The standard error of nodes together; 0 of an exact capture.
    error: (mode, by, nodes, ownOnly = false) => {
      const column = (ownOnly ? ownVariance : inclusiveVariance)[`${mode}_${by}`];
      return column ? Math.sqrt(nodes.reduce((sum, node) => sum + column[node], 0)) : 0;
    },
    total: (mode, by) => data.totals[mode][by === 'bytes' ? 0 : 1],
    frame: (index) => frameAt(data, index),
  };
}

export function verify(capture) {
  const wrong = [];
  for (const mode of MODES) {
    for (const by of MEASURES) {
      const rows = capture.inclusive(mode, by)[0], total = capture.total(mode, by);
      // Above 2^53 neither figure is exact any more.
      const same = Number.isSafeInteger(total) ? rows === total
                                               : Math.abs(rows - total) <= total * 1e-9;
      if (!same) wrong.push(`The rows of ${mode} ${by} sum to ${rows}, the capture says ${total}.`);
    }
  }
  return wrong;
}

// Parents have smaller indexes than their children.
function sumUp(column, parent) {
  const sums = column.slice();
  for (let node = sums.length - 1; node > 0; --node) sums[parent[node]] += sums[node];
  return sums;
}

function frameAt({strings, frames}, index) {
  return {
    function: strings[frames.function[index]],
    file: strings[frames.file[index]],
    module: strings[frames.module[index]],
    lines: strings[frames.lines[index]],
    kind: frames.kind[index],
    inlined: frames.inlined[index] === 1,
  };
}
