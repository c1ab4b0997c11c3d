// What the functions that hold most had live at each moment, and all others together: the timeline's
// stack. Functions are named as in the table of functions while system frames are hidden.

import {functionKey} from './functions.js';

export const MOST_BANDS = 8;

// null if the capture has no moments. {times, bands: [{name, frame, fn, bytes, allocations}], others,
// sourcesWithout}: `fn` is undefined for a function that the page doesn't tell apart.
export function parseBands({bands, strings}, functions) {
  if (!bands || bands.time_ms.length === 0) return null;
  const columns = columnsOf(bands.functions);
  return {
    times: bands.time_ms,
    others: bands.others,
    sourcesWithout: bands.sources_without,  // captures of a merge that aren't in here
    bands: bands.functions.map((band, i) => ({
      name: strings[band.function],
      frame: {function: strings[band.function], file: strings[band.file],
        module: strings[band.module], kind: band.kind},
      fn: functions.index.get(functionKey(columns, i)),
      bytes: band.bytes,
      allocations: band.allocations,
    })),
  };
}

const columnsOf = (list) => Object.fromEntries(['function', 'file', 'module', 'kind']
    .map((key) => [key, list.map((one) => one[key])]));

// The stack by one measure, the largest band at the bottom: {times, bands: [{name, fn, live}], others,
// total}. The bands and the others sum to the total at each moment.
export function stackOf({times, bands, others}, by, most = MOST_BANDS) {
  const highest = (band) => band[by].reduce((a, b) => Math.max(a, b), 0);
  const ranked = bands.map((band) => ({band, top: highest(band)})).filter(({top}) => top > 0)
      .sort((a, b) => b.top - a.top).map(({band}) => band);
  const rest = [...others[by]];
  for (const band of ranked.slice(most)) {
    band[by].forEach((value, i) => { rest[i] += value; });
  }
  const shown = ranked.slice(0, most).map(({name, frame, fn, [by]: live}) => ({name, frame, fn, live}));
  return {times, bands: shown, others: rest,
    total: rest.map((value, i) => shown.reduce((sum, {live}) => sum + live[i], value))};
}

// The moment nearest to a time.
export function nearestMoment(times, ms) {
  let best = 0;
  for (let i = 1; i < times.length; ++i) {
    if (Math.abs(times[i] - ms) < Math.abs(times[best] - ms)) best = i;
  }
  return best;
}

// The place in the stack, from the bottom, that is drawn at a time and a value: the index of a band,
// their number for the others, or -1 for a point above the stack. Between moments the stack is drawn
// straight from one to the next.
export function bandAt({times, bands, others}, ms, value) {
  if (ms < times[0] || ms > times.at(-1) || value < 0) return -1;
  let next = times.findIndex((time) => time >= ms);
  if (next < 1) next = Math.min(1, times.length - 1);
  const before = Math.max(0, next - 1), span = times[next] - times[before];
  const part = span > 0 ? (ms - times[before]) / span : 0;
  let top = 0;
  const columns = [...bands.map(({live}) => live), others];
  for (let i = 0; i < columns.length; ++i) {
    top += columns[i][before] + (columns[i][next] - columns[i][before]) * part;
    if (value <= top && columns[i][before] + columns[i][next] > 0) return i;
  }
  return -1;
}
