// The flame graph and what belongs to it: legend, zoom strip, search marks.

import {colorOf, originOf, sampleOf} from './colors.js';
import {buildTree, forEachNode} from './call_tree.js';
import {byId, element} from './element.js';
import {createFlameChart} from './flame_chart.js';
import {showFocus} from './focus.js';
import {markMatches} from './search.js';
import {effectiveTheme} from './theme.js';
import {createTooltip, describeFrame} from './tooltip.js';

const ORIGINS = {program: 'the program', library: 'libraries', system: 'system and allocator',
  row: 'no code', match: 'search'};
const EMPTY = {peak: 'Nothing was allocated.', leaked: 'Nothing was left: no leak.',
  total: 'Nothing was allocated.'};

export function createFlameView(capture, state, toolbar) {
  const container = byId('chart');
  let tree = null, shown = false;

  const tooltip = createTooltip(byId('tooltip'),
      (node) => describeFrame(capture, node, state.get().mode));
  const zoomTo = (key) => state.set({zoom: key});
  const chart = createFlameChart(container, {
    color: (node) => colorOf(node, effectiveTheme(state.get().theme)),
    tooltip,
    onZoom: (node) => zoomTo(node.key),
  });

  let width = container.clientWidth;  // as drawn
  new ResizeObserver(() => {
    if (shown && container.clientWidth !== width) {
      chart.redraw(tree.root, tree.at(state.get().zoom), look());
    }
    width = container.clientWidth;
  }).observe(container);

  const look = () => ({inverted: state.get().layout === 'icicle'});

  function showLegend(theme) {
    const present = new Set();
    forEachNode(tree.root, (node) => {
      if (node !== tree.root) present.add(originOf(node.frame));
      if (node.match) present.add('match');
    });
    byId('legend').replaceChildren(...Object.keys(ORIGINS).filter((origin) => present.has(origin))
        .map((origin) => {
          const sample = element('i', {});
          sample.style.background = sampleOf(origin, effectiveTheme(theme));
          return element('span', {}, sample, ORIGINS[origin]);
        }));
  }

  function update(now, changed) {
    const rebuild = ['mode', 'by', 'system'].some((key) => changed.has(key));
    if (rebuild) tree = buildTree(capture, now);
    if (rebuild || changed.has('search')) {
      toolbar.showMatches(markMatches(tree.root, now.search), tree.root.value);
    }
    const focus = tree.at(now.zoom);
    tooltip.hide();
    showFocus(byId('focus'), capture, tree, focus, now, zoomTo);
    if (rebuild || changed.has('search') || changed.has('theme')) showLegend(now.theme);

    if (tree.root.value === 0) {
      chart.clear();
      shown = false;
      container.replaceChildren(element('p', {className: 'empty'}, EMPTY[now.mode]));
    } else if (rebuild) {
      if (!shown) container.replaceChildren();
      shown = true;
      chart.draw(tree.root, focus, look());
    } else if (!(changed.size === 1 && changed.has('zoom') && chart.shows(focus))) {
      chart.redraw(tree.root, focus, look());
    }
    // The root of a tall flame is at its bottom, out of sight.
    if (changed.has('layout') && now.layout === 'flame') {
      container.scrollIntoView({block: 'end'});
    }
  }

  return {update};
}
