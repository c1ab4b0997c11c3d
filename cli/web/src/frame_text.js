// What a drawn node is, in words: its place, its stack, its figures in every mode.

import {KIND_ROW, RANGE_MODES} from './capture.js';
import {stackOf} from './call_tree.js';
import {element} from './element.js';
import {bytes, exact, measureExact, measureWithError, share} from './format.js';
import {modeLabel} from './view.js';

// Where its code is. Merging may have brought nodes of several lines together.
export function whereOf(capture, node) {
  const frames = node.parent === null || node.frame.kind === KIND_ROW ? [node.frame]
      : node.places.map((place) => capture.frame(capture.nodes.frame[place]));
  const lines = [...new Set(frames.flatMap((frame) => frame.lines ? [frame.lines] : []))];
  const {file, module} = node.frame;
  return {
    place: placeText(file, lines.length > 4 ? [...lines.slice(0, 4), '…'].join(', ')
        : lines.join(', ')),
    module,
    // What stands at the lines, of at most two of them.
    source: [...new Set(frames.flatMap((frame) => frame.source ? [frame.source] : []))].slice(0, 2),
    inlined: frames.every((frame) => frame.inlined),
  };
}

export const placeText = (file, lines) => file ? file + (lines ? `:${lines}` : '') : '';

// As a debugger prints it, innermost first.
export const stackText = (frames) => frames.map(({name, place, module}, i) =>
    `#${i} ${name}` + (place ? ` at ${place}` : module ? ` in ${module}` : '')).join('\n');

export const drawnStackText = (capture, node, direction) => stackText(
    stackOf(node, direction).map((frame) => ({name: frame.name, ...whereOf(capture, frame)})));

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

// "+1.5 MiB", "−12 B", "±0 B".
export const signed = (value, by) => (value > 0 ? '+' : value < 0 ? '−' : '±') +
    (by === 'bytes' ? bytes(Math.abs(value)) : exact(Math.abs(value)));
