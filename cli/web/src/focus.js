// The strip above the graph that tells which frame it is zoomed to, with its whole name, its
// callers to climb back to, and its figures.

import {errorOf} from './call_tree.js';
import {element} from './element.js';
import {measureExact, measureWithError, share, shortened} from './format.js';
import {whereOf} from './tooltip.js';

const NAME_LIMIT = 20000;
const CALLERS = 6;

export function showFocus(strip, capture, tree, focus, {mode, by}, zoomTo) {
  strip.hidden = focus === tree.root;
  if (strip.hidden) return;
  const callers = [];
  for (let node = focus.parent; node; node = node.parent) callers.unshift(node);
  const crumb = (node) => {
    const button = element('button', {type: 'button', className: 'link',
      title: shortened(node.name, 700)}, shortened(node.name, 60));
    button.addEventListener('click', () => zoomTo(node.key));
    return button;
  };
  const near = callers.length > CALLERS
      ? [crumb(callers[0]), '…', ...callers.slice(1 - CALLERS).map(crumb)] : callers.map(crumb);
  const path = element('nav', {className: 'callers', 'aria-label': 'Callers'},
      ...near.flatMap((part) => [part, element('span', {className: 'arrow'}, '›')]));
  const {place, module, inlined} = whereOf(capture, focus);
  const out = element('button', {type: 'button', className: 'quiet', id: 'zoom-out'}, 'Zoom out');
  out.addEventListener('click', () => zoomTo(0));
  strip.replaceChildren(
      element('div', {className: 'focus-text'}, path,
          element('p', {className: 'name'}, shortened(focus.name, NAME_LIMIT)),
          element('p', {className: 'place'},
              [place, module, inlined ? 'inlined' : ''].filter(Boolean).join(' · '))),
      element('p', {className: 'focus-figure', title: measureExact(focus.value, by)},
          element('strong', {},
              measureWithError(focus.value, errorOf(capture, focus, mode, by), by)),
          element('span', {}, share(focus.value, tree.root.value))),
      out);
}
