// A drawn node's figures in every mode, as a table.

import {element} from './element.js';
import {RANGE_MODES} from './model/capture.js';
import {measureExact, measureWithError, share} from './model/format.js';
import {modeLabel} from './model/view.js';

export function figuresTable(capture, figures, node, view) {
  const modes = view.range ? [...capture.modes, ...RANGE_MODES] : capture.modes;
  const rows = modes.map((mode) => {
    const cells = ['bytes', 'allocations'].flatMap((by) => {
      const of = {...view, mode, by};
      const value = figures.ofDrawn(of, node);
      return [
        element('td', {className: 'number', title: measureExact(value, by)},
            measureWithError(value, figures.errorOfDrawn(of, node), by)),
        element('td', {className: 'exact'},
            by === 'bytes' && !capture.sampled ? measureExact(value, by) : ''),
        element('td', {className: 'number share'}, share(value, figures.total(of))),
      ].filter((cell) => by === 'bytes' || cell.className !== 'exact');
    });
    return element('tr', {className: mode === view.mode ? 'current' : ''},
        element('th', {scope: 'row'}, modeLabel(capture, mode)), ...cells);
  });
  const approximately = capture.sampled ? '≈ ' : '';
  const head = element('tr', {}, element('th'),
      element('th', {colspan: '3'}, `${approximately}bytes`),
      element('th', {colspan: '2'}, `${approximately}allocations`));
  return element('table', {className: 'frame-figures'}, element('thead', {}, head),
      element('tbody', {}, ...rows));
}
