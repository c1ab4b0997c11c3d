// The live figures at each moment, place by place, kept as changes: {node, changes, moment, bytes,
// allocations} as cli/web/page.h's "history". A range of time is a pair of moments [from, to]; -1
// is the start of the program, when nothing was live.

export function parseHistory({moments, history}) {
  if (!moments || !history || moments.time_ms.length === 0) return null;
  const count = history.moment.length;
  const node = new Uint32Array(count), thread = history.thread ? new Uint32Array(count) : null;
  let at = 0;
  history.node.forEach((owner, row) => {
    for (let i = 0; i < history.changes[row]; ++i, ++at) {
      node[at] = owner;
      if (thread) thread[at] = history.thread[row];
    }
  });
  const times = moments.time_ms;
  return {
    hasThreads: thread !== null,
    moments: times.length,
    timeOf: (moment) => moment < 0 ? 0 : times[moment],
    inexact: (moment) => moment >= 0 && moments.inexact?.[moment] === 1,
    // The moment nearest to a time; the program's start counts as one.
    nearest(ms) {
      let best = -1;
      for (let i = 0; i < times.length; ++i) {
        if (Math.abs(times[i] - ms) < Math.abs((best < 0 ? 0 : times[best]) - ms)) best = i;
      }
      return best;
    },
    // Live at `to` minus live at `from`, for each node itself: signed. `only` selects one thread.
    change(by, [from, to], nodes, only = null) {
      const column = new Float64Array(nodes), changes = history[by];
      for (let i = 0; i < count; ++i) {
        const moment = history.moment[i];
        if (moment > from && moment <= to && (only === null || thread[i] === only)) {
          column[node[i]] += changes[i];
        }
      }
      return column;
    },
    // Live bytes at each moment, by the rows.
    sums() {
      const sums = new Array(times.length).fill(0);
      for (let i = 0; i < count; ++i) sums[history.moment[i]] += history.bytes[i];
      for (let moment = 1; moment < sums.length; ++moment) sums[moment] += sums[moment - 1];
      return sums;
    },
  };
}
