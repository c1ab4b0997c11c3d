// The rows of a capture, or of a process of it: one for each (node, thread) that has a figure.

export const MEASURES = ['bytes', 'allocations'];

// {node, thread: null if there is only one, columns, variances}
export function parseRows(own, modes, sampled = null) {
  const columns = {}, variances = {};
  for (const mode of modes) {
    for (const by of MEASURES) {
      const name = `${mode}_${by}`;
      columns[name] = Float64Array.from(own[name]);
      const variance = sampled?.variances[name];
      if (variance) variances[name] = Float64Array.from(variance);
    }
  }
  return {node: Uint32Array.from(own.node), thread: own.thread ? Uint32Array.from(own.thread) : null,
    columns, variances};
}
