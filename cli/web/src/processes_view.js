// The table of a merge's processes. A click on one that is kept apart shows its figures alone.

import {byId, element} from './element.js';
import {bytes, duration, measure, measureExact, moment, plural, shortened} from './model/format.js';
import {isApart, processRows} from './model/processes.js';
import {modeLabel} from './model/view.js';
import {endText, quotedCommand} from './run_text.js';

export function createProcessesView(capture, state) {
  const container = byId('processes');
  const {processes} = capture;
  if (!processes) return {update() {}};
  let view = null;

  const figure = (counts, mode) => {
    if (!counts) {
      return element('td', {className: 'number', title: 'Known only for these processes together'}, '–');
    }
    const value = counts[view.by === 'bytes' ? 0 : 1];
    return element('td', {className: `number${mode === view.mode ? ' current' : ''}`,
      title: measureExact(value, view.by)}, measure(value, view.by));
  };

  function row({index, process, figures}) {
    const {program, pid, command, start_ms: start, duration_ms: length, end} = process;
    const chosen = view.process === index, apart = isApart(process);
    const name = `${program || 'unknown program'} (${pid})`;
    const label = apart ? element('button', {type: 'button', className: 'site link',
      'aria-pressed': String(chosen)}, name) : name;
    if (apart) {
      label.addEventListener('click', () => state.set({process: chosen ? '' : String(index), zoom: ''}));
    }
    return element('tr', {className: chosen ? 'chosen' : apart ? '' : 'member'},
        element('td', {}, label, element('div', {className: 'callers-line',
          title: shortened(quotedCommand(command), 2000)}, shortened(quotedCommand(command), 300))),
        element('td', {className: 'place when'}, moment(start).replace(' UTC', '')),
        element('td', {className: 'place'}, `${length > 0 ? `${duration(length)}, ` : ''}${endText(end)}`),
        ...capture.modes.map((mode) => figure(figures[mode], mode)),
        element('td', {className: 'number'}, process.rss_peak_bytes > 0 ? bytes(process.rss_peak_bytes) : '–'));
  }

  function show() {
    const {rows, together, unlisted} = processRows(processes, view);
    const apart = rows.filter(({process}) => isApart(process));
    const others = rows.filter(({process}) => !isApart(process));
    const head = ['Process', 'Started (UTC)', 'Ended', ...capture.modes.map((mode) => modeLabel(capture, mode)),
      'Peak RSS'].map((name, i) => element('th', {scope: 'col', className: i > 2 ? 'number' : ''}, name));
    const sums = (className, label, totals) => element('tr', {className},
        element('td', {colspan: '3'}, label),
        ...capture.modes.map((mode) => figure(totals[mode], mode)), element('td'));
    const all = view.process === null ? null : element('button',
        {type: 'button', className: 'quiet', id: 'all-processes'}, 'Show all processes together');
    all?.addEventListener('click', () => state.set({process: '', zoom: ''}));
    container.replaceChildren(...[
      element('p', {className: 'whole-note'}, `${plural(processes.count, 'process', 'processes')}; each ` +
          'peak is at the process\'s own time. ', apart.length > 0 ? 'Choose one to see its figures alone. '
          : 'This merge keeps no process apart: its other figures are known only together. ', all),
      element('table', {className: 'sites processes'}, element('thead', {}, element('tr', {}, ...head)),
          element('tbody', {}, ...apart.map(row),
              ...(together ? [sums('others together', plural(together.count,
                  apart.length > 0 ? 'other process, which this merge does not keep apart' : 'process',
                  `${apart.length > 0 ? 'other ' : ''}processes, which this merge keeps only together`),
              together.totals)] : []),
              ...others.map(row),
              ...(unlisted > 0 ? [element('tr', {className: 'others'}, element('td',
                  {colspan: String(4 + capture.modes.length)},
                  `${plural(unlisted, 'smaller process', 'smaller processes')}, not listed here`))] : [])),
          element('tfoot', {}, sums('total', 'total', capture.totals)))].filter(Boolean));
  }

  return {
    update(now, changed) {
      view = now;
      container.hidden = now.view !== 'processes';
      if (container.hidden) container.replaceChildren();
      else if (container.childElementCount === 0 || !(changed.size === 1 && changed.has('theme'))) show();
    },
  };
}
