// The processes of a merge. Only some are kept apart: those have rows and functions of their own, and
// one of them can be chosen. The others have what ran and their own peak, and a sum together.

import {parseTables} from './functions.js';
import {parseRows} from './rows.js';

// null if the capture is no merge. {count, listed, together: {count, totals}}
export function parseProcesses({processes}, modes) {
  if (!processes) return null;
  return {
    ...processes,
    listed: processes.listed.map((process) => process.totals
        ? {...process, rows: parseRows(process.own, modes), tables: parseTables(process.functions, modes)}
        : process),
  };
}

export const isApart = (process) => process?.totals !== undefined;

// The rows of the table, those kept apart by the figure, then the others by their own peak: {index,
// process, figures: {mode: [bytes, allocations]}}. `figures` has no more than the merge knows. What
// the others have together is `together`; it is null if each is kept apart.
export function processRows({count, listed, together}, {mode, by}) {
  const at = by === 'bytes' ? 0 : 1;
  const rows = listed.map((process, index) => ({index, process,
    figures: process.totals ?? {peak: process.own_peak}}));
  const value = ({figures}) => (figures[mode] ?? figures.peak)[at];
  const sorted = [...rows].sort((a, b) => isApart(b.process) - isApart(a.process) || value(b) - value(a));
  return {rows: sorted, together: together.count > 0 ? together : null, unlisted: count - listed.length};
}
