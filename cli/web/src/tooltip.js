// The box beside the pointer: what a frame is and all of its figures. It has the shape that
// d3-flame-graph asks of a tooltip: a function with show, hide and destroy.

import {MODES} from './capture.js';
import {errorOf, figureOf} from './call_tree.js';
import {element} from './element.js';
import {measureExact, measureWithError, share, shortened} from './format.js';

const NAME_LIMIT = 700;
const LABELS = {peak: 'At peak', leaked: 'Leaked', total: 'Total'};

// Where a drawn node's code is. Folding may have brought nodes of several lines together.
export function whereOf(capture, node) {
  const frames = node.ids.map((id) => id === 0 ? node.frame
      : capture.frame(capture.nodes.frame[id]));
  const lines = [...new Set(frames.flatMap((frame) => frame.lines ? [frame.lines] : []))].join(', ');
  const {file, module} = node.frame;
  return {
    place: file ? file + (lines ? `:${lines}` : '') : '',
    module,
    inlined: frames.every((frame) => frame.inlined),
  };
}

export function figuresTable(capture, node, mode) {
  const rows = MODES.map((m) => {
    const cells = ['bytes', 'allocations'].flatMap((by) => {
      const value = figureOf(capture, node, m, by);
      return [
        element('td', {className: 'number', title: measureExact(value, by)},
            measureWithError(value, errorOf(capture, node, m, by), by)),
        element('td', {className: 'exact'},
            by === 'bytes' && !capture.sampled ? measureExact(value, by) : ''),
        element('td', {className: 'number share'}, share(value, capture.total(m, by))),
      ].filter((cell) => by === 'bytes' || cell.className !== 'exact');
    });
    return element('tr', {className: m === mode ? 'current' : ''},
        element('th', {scope: 'row'}, LABELS[m]), ...cells);
  });
  const head = element('tr', {}, element('th'), element('th', {colspan: '3'}, capture.sampled ? '≈ bytes' : 'bytes'),
      element('th', {colspan: '2'}, capture.sampled ? '≈ allocations' : 'allocations'));
  return element('table', {className: 'frame-figures'}, element('thead', {}, head),
      element('tbody', {}, ...rows));
}

export function createTooltip(box, describe) {
  let pointer = {x: 0, y: 0};

  function place() {
    const gap = 14, {offsetWidth: w, offsetHeight: h} = box;
    const left = pointer.x + gap + w < innerWidth ? pointer.x + gap : pointer.x - gap - w;
    const top = pointer.y + gap + h < innerHeight ? pointer.y + gap : pointer.y - gap - h;
    box.style.left = `${Math.max(4, Math.min(left, innerWidth - w - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(top, innerHeight - h - 4))}px`;
  }

  const tip = () => tip;
  tip.show = (event, drawn) => {
    pointer = {x: event.clientX, y: event.clientY};
    box.replaceChildren(...describe(drawn.data));
    box.hidden = false;
    place();
  };
  tip.hide = () => { box.hidden = true; };
  tip.destroy = tip.hide;

  addEventListener('mousemove', (event) => {
    if (box.hidden) return;
    pointer = {x: event.clientX, y: event.clientY};
    place();
  });
  addEventListener('scroll', tip.hide, {passive: true});
  return tip;
}

export function describeFrame(capture, node, mode) {
  const {place, module, inlined} = whereOf(capture, node);
  const row = (className, text) => text ? element('p', {className}, text) : null;
  return [
    element('p', {className: 'name'}, shortened(node.name, NAME_LIMIT)),
    row('place', shortened(place, NAME_LIMIT)),
    row('module', shortened(module, NAME_LIMIT) + (inlined ? ' · inlined' : '')),
    figuresTable(capture, node, mode),
  ].filter(Boolean);
}
