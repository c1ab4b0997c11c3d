// The timeline without its drawing.

import {stackOf} from './bands.js';

// The peak came at some moment within the resolution before `at`; on the curve that is where it is
// highest then. Without a point in that time: `at`.
export function peakOnCurve({time_ms: time, heap_bytes: heap}, at, resolution) {
  let best = -1;
  for (let i = 0; i < time.length; ++i) {
    if (Math.abs(time[i] - at) <= resolution && (best < 0 || heap[i] > heap[best])) best = i;
  }
  return best < 0 ? at : time[best];
}

// The chart's columns: {time, curve, rss, stack, tops}. `time` has the timeline's points and the
// moments; columns have no value where they have no point (undefined). The curve has the stack's total
// at the moments, unless some captures of a merge have no moments: then it is higher than the stack. `tops` are the upper edges of the stack's parts, from the bottom; the last one is the
// total. By allocations only the moments are known. Without moments: no stack.
export function chartColumns({timeline, bands}, by) {
  const stack = bands && stackOf(bands, by);
  if (!stack) {
    return {time: timeline.time_ms, curve: timeline.heap_bytes, rss: timeline.rss_bytes, stack: null,
      tops: []};
  }
  const points = timeline && by === 'bytes' ? timeline : {time_ms: [], heap_bytes: [], rss_bytes: []};
  const time = [...new Set([...points.time_ms, ...stack.times])].sort((a, b) => a - b);
  const at = new Map(time.map((ms, i) => [ms, i]));
  const column = (times, values) => {
    const made = new Array(time.length).fill(undefined);
    times.forEach((ms, i) => { made[at.get(ms)] = values[i]; });
    return made;
  };
  const curve = column(points.time_ms, points.heap_bytes);
  if (!bands.sourcesWithout || by !== 'bytes') {
    stack.times.forEach((ms, i) => { curve[at.get(ms)] = stack.total[i]; });
  }
  let sums = new Array(stack.times.length).fill(0);
  const tops = [...stack.bands.map(({live}) => live), stack.others].map((live) => {
    sums = sums.map((sum, i) => sum + live[i]);
    return column(stack.times, sums);
  });
  return {time, curve, rss: by === 'bytes' ? column(points.time_ms, points.rss_bytes) : null, stack, tops};
}

// Whether the RSS is drawn unless the reader chooses: beside a much higher RSS, the stack of the heap
// would be too low to read.
export function drawsRss({timeline, bands}, wanted) {
  if (wanted !== 'auto' || !bands) return wanted !== 'hide';
  const highest = (column) => column.reduce((most, value) => Math.max(most, value ?? 0), 0);
  return highest(timeline.rss_bytes) <= 2 * highest(timeline.heap_bytes);
}
