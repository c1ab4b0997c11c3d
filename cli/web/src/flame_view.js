// The flame graph and its surroundings: legend, zoom strip, search marks, the keyboard's frame.

import {buildTree} from './model/call_tree.js';
import {buildCallerTree} from './model/caller_tree.js';
import {colorOf, originOf, sampleOf} from './colors.js';
import {copyText} from './copy.js';
import {byId, element} from './element.js';
import {createFlameChart} from './flame_chart.js';
import {showFocus} from './focus.js';
import {measureWithError, plural, share} from './model/format.js';
import {drawnStackText} from './model/frame_text.js';
import {createRestriction} from './model/restriction.js';
import {showRestriction} from './restriction_view.js';
import {markMatches, shareOfMatches} from './model/search.js';
import {effectiveTheme} from './theme.js';
import {createTooltip, describeFrame} from './tooltip.js';

const ORIGINS = {python: 'Python', program: 'the program', library: 'libraries',
  interpreter: 'the interpreter', system: 'system and allocator', row: 'no code', match: 'search'};
const EMPTY = {peak: 'Nothing was allocated.', leaked: 'Nothing was left: no leak.',
  total: 'Nothing was allocated.', temporary: 'No allocation was temporary.',
  grew: 'Nothing grew in this range.', shrank: 'Nothing shrank in this range.'};
const REBUILT_BY = ['mode', 'by', 'system', 'interpreter', 'recursion', 'direction', 'thread', 'process', 'range', 'only',
  'without', 'merge'];

export function createFlameView(capture, wholeFigures, state, toolbar) {
  const restriction = createRestriction(capture, wholeFigures);
  let figures = wholeFigures;  // of what is drawn
  const container = byId('chart');
  let tree = null, shown = false, view = null;
  let cursor = null;  // where the keyboard is

  const tooltip = createTooltip(byId('tooltip'),
      (node) => describeFrame(capture, figures, node, view));
  const zoomTo = (zoom) => state.set({zoom});
  const chart = createFlameChart(container, {
    color: (node) => colorOf(node, effectiveTheme(view.theme)),
    tooltip,
    onZoom: (node) => zoomTo(node.zoom),
    onDrawn: showLegend,
  });

  let width = container.clientWidth;  // as drawn
  new ResizeObserver(() => {
    if (shown && container.clientWidth > 0 && container.clientWidth !== width) {
      chart.draw(tree.root, tree.at(view.zoom), look());
      width = container.clientWidth;
    }
  }).observe(container);

  const look = () => ({inverted: view.layout === 'icicle'});

  function showLegend() {
    const present = new Set(), {nodes, left} = chart.given();
    for (const node of nodes) {
      if (node !== tree.root) present.add(originOf(node.frame));
      if (node.match) present.add('match');
    }
    byId('legend').replaceChildren(...Object.keys(ORIGINS).filter((origin) => present.has(origin))
        .map((origin) => {
          const sample = element('i', {});
          sample.style.background = sampleOf(origin, effectiveTheme(view.theme));
          const native = origin === 'library' && present.has('python');
          return element('span', {}, sample, native ? 'native code of extensions' : ORIGINS[origin]);
        }), ...(left > 0 ? [element('span', {id: 'left-out'}, `${plural(left, 'narrow frame is',
            'narrow frames are')} drawn when you zoom in`)] : []));
  }

  function drawTree(focus, rebuilt, changed) {
    if (tree.root.value === 0) {
      chart.clear();
      shown = false;
      container.replaceChildren(element('p', {className: 'empty'},
          view.only?.trim() ? `No stack has ${view.only}.`
            : view.without?.trim() ? `Every stack has ${view.without}.` : EMPTY[view.mode]));
    } else if (rebuilt || !shown) {
      container.querySelector('.empty')?.remove();
      shown = true;
      chart.draw(tree.root, focus, look());
      width = container.clientWidth;
    } else if (!(changed.size === 1 && changed.has('zoom') && chart.shows(focus))) {
      chart.draw(tree.root, focus, look());
    }
  }

  function moveTo(node) {
    cursor = node;
    const frame = chart.mark(node);
    if (!frame) return tooltip.hide();
    frame.scrollIntoView({block: 'nearest'});
    tooltip.showAt(node, frame.getBoundingClientRect());
    byId('announcement').textContent = `${node.name}, ` +
        `${measureWithError(node.value, figures.errorOfDrawn(view, node), view.by)}, ` +
        share(node.value, tree.root.value);
  }

  // The neighbour of a frame that is drawn, or the frame itself.
  function neighbour(node, step) {
    const drawn = chart.drawn();
    if (step === 'in') return node.children.find((child) => drawn.has(child)) ?? node;
    if (step === 'out') return node.parent ?? node;
    const row = node.parent?.children.filter((child) => drawn.has(child)) ?? [node];
    return row[row.indexOf(node) + (step === 'next' ? 1 : -1)] ?? node;
  }

  const hiddenNow = () => view.view !== 'graph' || !shown;
  return {
    update(now, changed) {
      const rebuilt = view === null || REBUILT_BY.some((key) => changed.has(key));
      view = now;
      figures = restriction.figures(now);
      const visible = now.view === 'graph';
      for (const id of ['chart', 'legend']) byId(id).hidden = !visible;
      if (rebuilt) {
        tree = (now.direction === 'callers' ? buildCallerTree : buildTree)(capture, figures, now);
        cursor = null;
      }
      const marks = rebuilt || changed.has('search') || changed.has('view');
      if (marks && visible) {
        const count = markMatches(tree.root, now.search);
        toolbar.showMatches(count === null ? null
            : {...shareOfMatches(capture, figures, now, now.search), count},
        tree.root.value, 'frame', 'drawn');
      }
      tooltip.hide();
      showRestriction(wholeFigures, figures, now, state);
      const focus = tree.at(now.zoom);
      showFocus(byId('focus'), capture, figures, tree, visible ? focus : tree.root, now, zoomTo);
      if (!visible) {
        shown = shown && !rebuilt;  // drawn again when it becomes visible
        return;
      }
      drawTree(focus, rebuilt, changed);
      // The root of a tall flame is at its bottom, out of sight.
      if (changed.has('layout') && changed.size === 1 && now.layout === 'flame') {
        container.scrollIntoView({block: 'end'});
      }
    },

    // step: in (towards what is called, or in the other direction the callers), out, next, previous
    move(step) {
      if (hiddenNow()) return;
      const start = cursor ?? tree.at(view.zoom);
      moveTo(cursor === null ? start : neighbour(start, step));
    },
    zoomToCursor() {
      if (!hiddenNow() && cursor) zoomTo(cursor.zoom);
    },
    zoomOut() {
      const focus = tree.at(view.zoom);
      zoomTo(focus.parent?.zoom ?? '');
    },
    async copyStack() {
      if (hiddenNow()) return;
      const node = cursor ?? tree.at(view.zoom);
      const copied = await copyText(drawnStackText(capture, node, view.direction));
      byId('announcement').textContent = copied ? 'Stack copied' : 'The stack was not copied';
    },
  };
}
