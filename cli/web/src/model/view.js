// Converts the reader's choices (view_state.js), or those of a link, to what this capture can show:
// the view that figures.js and the trees take.

import {RANGE_MODES} from './capture.js';
import {isApart} from './processes.js';

// `wanted` is a state. The result has its keys; `mode` is an available one, `thread` an index or
// null, and `range` a pair of moments or null.
export function viewOf(capture, wanted) {
  const range = rangeOf(capture, wanted.range);
  let {mode} = wanted;
  const possible = RANGE_MODES.includes(mode) ? range !== null : capture.modes.includes(mode);
  if (!possible) mode = 'peak';
  const thread = wanted.thread === '' ? null : Number(wanted.thread);
  const known = thread !== null && capture.rows.thread !== null && thread < capture.threads.length;
  const process = processOf(capture, wanted.process ?? '', mode);
  // A range is of all processes, so it isn't shown beside the figures of one.
  return {...wanted, mode, process, range: process === null ? range : null,
    thread: known && knowsThreads(capture, mode) ? thread : null, view: viewName(capture, wanted.view)};
}

// Whether this part of the page has anything to show.
function viewName(capture, wanted) {
  if (wanted === 'statistics' && !capture.statistics) return 'graph';
  if (wanted === 'held' && !capture.inspection) return 'graph';
  if (wanted === 'processes' && !capture.processes) return 'graph';
  return wanted;
}

function processOf({processes}, wanted, mode) {
  const known = wanted !== '' && isApart(processes?.listed[Number(wanted)]);
  return known && knowsProcesses(mode) ? Number(wanted) : null;
}

// The moments are kept for all processes together.
export const knowsProcesses = (mode) => !RANGE_MODES.includes(mode);

// A capture's moments may be kept by place alone; then a range is of all threads.
export const knowsThreads = (capture, mode) =>
    !RANGE_MODES.includes(mode) || capture.history.hasThreads;

function rangeOf({history}, text) {
  const times = /^(\d+)-(\d+)$/.exec(text);
  if (!history || !times) return null;
  const from = history.nearest(Number(times[1])), to = history.nearest(Number(times[2]));
  return from < to ? [from, to] : null;
}

export const rangeText = ({history}, [from, to]) =>
    `${history.timeOf(from)}-${history.timeOf(to)}`;

// The name of the mode in cards, tables and the tooltip.
export function modeLabel(capture, mode) {
  switch (mode) {
    case 'peak': return capture.selected ? capitalized(capture.selected.text) : 'Peak';
    case 'leaked': return ['running', 'cut'].includes(capture.program.end?.kind) ? 'Live when read' : 'Leaked';
    case 'total': return 'Total allocated';
    case 'temporary': return 'Temporary';
    case 'grew': return 'Grew in the range';
    case 'shrank': return 'Shrank in the range';
    default: return mode;
  }
}

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);
