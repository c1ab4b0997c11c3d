// The box beside the pointer, or beside the frame that the keyboard is at. It has the form of
// d3-flame-graph's tooltips: a function with show, hide and destroy.

import {element} from './element.js';
import {listen} from './lifetime.js';
import {shortened} from './model/format.js';
import {figuresTable} from './figures_table.js';
import {whereOf} from './model/frame_text.js';

const NAME_LIMIT = 700;

export function createTooltip(box, describe) {
  let pointer = {x: 0, y: 0}, follows = true;

  function place() {
    const gap = 14, {offsetWidth: w, offsetHeight: h} = box;
    const left = pointer.x + gap + w < innerWidth ? pointer.x + gap : pointer.x - gap - w;
    const top = pointer.y + gap + h < innerHeight ? pointer.y + gap : pointer.y - gap - h;
    box.style.left = `${Math.max(4, Math.min(left, innerWidth - w - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(top, innerHeight - h - 4))}px`;
  }

  function show(node, at, follow) {
    pointer = at;
    follows = follow;
    box.replaceChildren(...describe(node));
    box.hidden = false;
    place();
  }

  const tip = () => tip;
  tip.show = (event, drawn) => show(drawn.data, {x: event.clientX, y: event.clientY}, true);
  tip.showAt = (node, rectangle) => show(node, {x: rectangle.left, y: rectangle.bottom}, false);
  tip.hide = () => { box.hidden = true; };
  tip.destroy = tip.hide;

  listen('mousemove', (event) => {
    if (box.hidden || !follows) return;
    pointer = {x: event.clientX, y: event.clientY};
    place();
  });
  listen('scroll', () => { if (follows) tip.hide(); }, {passive: true});
  return tip;
}

export function describeFrame(capture, figures, node, view) {
  const {place, module, source, inlined} = whereOf(capture, node);
  const row = (className, text) => text ? element('p', {className}, text) : null;
  return [
    element('p', {className: 'name'}, shortened(node.name, NAME_LIMIT)),
    row('place', shortened(place, NAME_LIMIT)),
    ...source.map((text) => row('source', text)),
    row('module', shortened(module, NAME_LIMIT) + (inlined ? ' · inlined' : '')),
    figuresTable(capture, figures, node, view),
  ].filter(Boolean);
}
