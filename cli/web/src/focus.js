// The strip above the graph. It has the full name of the frame that the graph is zoomed to, its
// figures, and the frames to go back to.

import {copyButton} from './copy.js';
import {element} from './element.js';
import {measureExact, measureWithError, share, shortened} from './model/format.js';
import {drawnStackText, whereOf} from './model/frame_text.js';

const NAME_LIMIT = 20000;
const SHOWN_ABOVE = 6;

export function showFocus(strip, capture, figures, tree, focus, view, zoomTo) {
  strip.hidden = focus === tree.root;
  if (strip.hidden) return;
  const above = [];
  for (let node = focus.parent; node; node = node.parent) above.unshift(node);
  const crumb = (node) => {
    const button = element('button', {type: 'button', className: 'link',
      title: shortened(node.name, 700)}, shortened(node.name, 60));
    button.addEventListener('click', () => zoomTo(node.zoom));
    return button;
  };
  const near = above.length > SHOWN_ABOVE
      ? [crumb(above[0]), '…', ...above.slice(1 - SHOWN_ABOVE).map(crumb)] : above.map(crumb);
  const path = element('nav', {className: 'callers',
    'aria-label': view.direction === 'callers' ? 'Called functions' : 'Callers'},
      ...near.flatMap((part) => [part, element('span', {className: 'arrow'}, '›')]));
  const {place, module, inlined} = whereOf(capture, focus);
  const out = element('button', {type: 'button', className: 'quiet', id: 'zoom-out'}, 'Zoom out');
  out.addEventListener('click', () => zoomTo(''));
  strip.replaceChildren(
      element('div', {className: 'focus-text'}, path,
          element('p', {className: 'name'}, shortened(focus.name, NAME_LIMIT)),
          element('p', {className: 'place'},
              [place, module, inlined ? 'inlined' : ''].filter(Boolean).join(' · '))),
      element('p', {className: 'focus-figure', title: measureExact(focus.value, view.by)},
          element('strong', {},
              measureWithError(focus.value, figures.errorOfDrawn(view, focus), view.by)),
          element('span', {}, share(focus.value, tree.root.value))),
      element('div', {className: 'focus-actions'},
          copyButton(() => drawnStackText(capture, focus, view.direction)), out));
}
