// The page of a difference, as a flame graph of both captures' stacks and as a table: red for more,
// blue for less.

import {buildDiffTree, changeOf, colorOfChange, parseDifference, verify} from './model/diff_model.js';
import {createDiffState} from './diff_state.js';
import {showTable, signClass, signed} from './diff_table.js';
import {byId, element} from './element.js';
import {createFlameChart} from './flame_chart.js';
import {bytes, exact, measure as inUnits, measureExact, share, shortened} from './model/format.js';
import {makeMatcher} from './model/frame_matcher.js';
import {createTheme, effectiveTheme} from './theme.js';
import {createTooltip} from './tooltip.js';

const LABELS = {peak: 'Peak', leaked: 'Leaked', total: 'Total allocated',
  temporary: 'Temporary'};
const SWITCHES = ['measure', 'width', 'layout', 'by'];

function relative(before, after) {
  if (before === after) return 'unchanged';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  return signed(Math.round((after - before) / before * 1000) / 10, (value) => `${value.toFixed(1)}%`);
}

function showHeader(difference, state) {
  const {before, after, estimates} = difference;
  byId('program').textContent = after.program || 'unknown program';
  for (const [id, side] of [['before', before], ['after', after]]) {
    byId(id).textContent = `${side.capture} · ${side.program}, ${side.run}`;
  }
  byId('made').textContent = `Made by memprof ${difference.memprof}.`;
  document.title = `${after.program || 'memprof'} · ${before.capture} → ${after.capture}`;
  const about = estimates ? '≈ ' : '';
  byId('figures').replaceChildren(...difference.figures.map((figure) => {
    const counts = difference.totals[figure];
    const [old, , now] = counts;
    const change = changeOf(counts, 'bytes'), blocks = changeOf(counts, 'allocations');
    const card = element('button', {className: 'card', type: 'button', 'data-figure': figure,
      title: `${measureExact(old, 'bytes')} → ${measureExact(now, 'bytes')}`},
    element('span', {className: 'label'}, LABELS[figure]),
    element('span', {className: `figure ${signClass(change)}`}, about + signed(change, bytes)),
    element('span', {className: 'below'},
        `${bytes(old)} → ${bytes(now)} (${relative(old, now)}) · ${signed(blocks, exact)} blocks`));
    card.addEventListener('click', () => state.set({figure}));
    return card;
  }));
  const list = (className, summary, lines, open) => {
    if (lines.length === 0) return null;
    const details = element('details', {className}, element('summary', {}, summary),
        element('ul', {}, ...lines.map((text) => element('li', {}, text))));
    details.open = open;
    return details;
  };
  const of = (what) => [...before[what].map((text) => `before: ${text}`),
    ...after[what].map((text) => `after: ${text}`)];
  byId('trust').replaceChildren(...[
    list('warnings', 'To know about these figures', [...verify(difference), ...of('warnings')], true),
    difference.pruned_nodes > 0 ? element('p', {className: 'aside'},
        `The ${exact(difference.pruned_nodes)} smallest frames are folded into rows [pruned]; ` +
        'no figure is lost.') : null,
    list('symbols', 'Symbols', of('notes'), false)].filter(Boolean));
}

// A frame's figures before and after, and the change.
function figuresOf(node, measure) {
  const change = node.after - node.before;
  const row = (label, text, title, className = '') => element('tr', {},
      element('th', {scope: 'row'}, label),
      element('td', {className: `number ${className}`.trim()}, text),
      element('td', {className: 'exact'}, title));
  return element('table', {className: 'frame-figures'}, element('tbody', {},
      row('before', inUnits(node.before, measure), measureExact(node.before, measure)),
      row('after', inUnits(node.after, measure), measureExact(node.after, measure)),
      row('change', signed(change, (value) => inUnits(value, measure)),
          relative(node.before, node.after), signClass(change))));
}

const describe = (node, measure) => [
  element('p', {className: 'name'}, shortened(node.name, 700)),
  element('p', {className: 'module'}, shortened(node.module, 700)),
  figuresOf(node, measure),
];

function showFocus(focus, root, measure, zoomTo) {
  const strip = byId('focus');
  strip.hidden = focus === root;
  const out = element('button', {type: 'button', className: 'quiet'}, 'Zoom out');
  out.addEventListener('click', () => zoomTo(0));
  const callers = [];
  for (let node = focus.parent; node; node = node.parent) {
    const {key} = node;
    const button = element('button', {type: 'button', className: 'link'}, shortened(node.name, 60));
    button.addEventListener('click', () => zoomTo(key));
    callers.unshift(button, element('span', {className: 'arrow'}, '›'));
  }
  strip.replaceChildren(element('div', {className: 'focus-text'},
      element('nav', {className: 'callers', 'aria-label': 'Callers'}, ...callers),
      element('p', {className: 'name'}, shortened(focus.name, 20000)),
      element('p', {className: 'place'}, focus.module)), figuresOf(focus, measure), out);
}

// Marks the matches, and returns their share of the width; a match below another one counts once.
function markMatches(root, search) {
  const matches = makeMatcher(search);
  let frames = 0, value = 0;
  const stack = [[root, false]];
  while (stack.length > 0) {
    const [node, below] = stack.pop();
    node.match = Boolean(matches) && node !== root && (matches(node.name) || matches(node.module));
    if (node.match) {
      ++frames;
      if (!below) value += node.value;
    }
    for (const child of node.children) stack.push([child, below || node.match]);
  }
  return !matches ? '' : frames === 0 ? 'no match'
      : `${share(value, root.value)} in ${frames} frame${frames === 1 ? '' : 's'}`;
}

function showLegend(theme) {
  const sample = (before, after, text) => {
    const box = element('i', {});
    box.style.background = colorOfChange({before, after}, theme);
    return element('span', {}, box, text);
  };
  byId('legend').replaceChildren(sample(0, 1, 'new'), sample(2, 3, 'more'),
      sample(1, 1, 'the same'), sample(3, 2, 'less'), sample(1, 0, 'gone'));
}

function start() {
  const difference = parseDifference(byId('difference').textContent);
  const state = createDiffState(
      {figure: difference.figure, by: difference.by}, {figure: difference.figures});
  const container = byId('chart'), search = byId('search');
  const zoomTo = (zoom) => state.set({zoom});
  const tooltip = createTooltip(byId('tooltip'), (node) => describe(node, state.get().measure));
  const theme = createTheme(state, update);
  const chart = createFlameChart(container, {
    color: (node) => colorOfChange(node, effectiveTheme(state.get().theme)),
    tooltip,
    onZoom: (node) => zoomTo(node.key),
  });
  showHeader(difference, state);

  for (const id of SWITCHES) {
    for (const button of byId(id).querySelectorAll('button')) {
      button.addEventListener('click', () => state.set({[id]: button.dataset.value}));
    }
  }
  search.addEventListener('input', () => state.set({search: search.value}, {replace: true}));
  byId('licences-open').addEventListener('click', () => byId('licences').showModal());
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('licences').open) return;
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === 'Escape') {
      const {search: term} = state.get();
      state.set(term !== '' ? {search: ''} : {zoom: 0});
      search.blur();
    }
  });
  let tree = null, built = '';
  let shown = null, look = '';  // the root and the look of the graph that is shown
  const inverted = ({layout}) => ({inverted: layout === 'icicle'});
  const lookOf = ({layout, search: term, theme: chosen}) =>
      `${layout} ${effectiveTheme(chosen)} ${term}`;

  function drawGraph() {
    const now = state.get();
    chart.draw(tree.root, tree.at(now.zoom), inverted(now));
  }

  function update() {
    const now = state.get();
    theme.update(now);
    for (const id of SWITCHES) {
      for (const button of byId(id).querySelectorAll('button')) {
        button.setAttribute('aria-pressed', String(button.dataset.value === now[id]));
      }
    }
    for (const card of byId('figures').children) {
      card.setAttribute('aria-pressed', String(card.dataset.figure === now.figure));
    }
    if (search.value !== now.search) search.value = now.search;
    const wanted = `${now.figure} ${now.measure} ${now.width}`;
    if (wanted !== built) tree = buildDiffTree(difference, now);
    built = wanted;
    byId('matches').textContent = markMatches(tree.root, now.search);
    tooltip.hide();
    showLegend(effectiveTheme(now.theme));
    showTable(byId('table'), difference, now, (sort) => state.set({sort}));
    if (tree.root.value === 0) {
      chart.clear();
      shown = null;
      byId('focus').hidden = true;
      container.replaceChildren(element('p', {className: 'empty'},
          now.width === 'change' ? 'Nothing changed.' : 'Nothing was allocated.'));
      return;
    }
    container.querySelector('.empty')?.remove();
    const focus = tree.at(now.zoom);
    showFocus(focus, tree.root, now.measure, zoomTo);
    // A click has zoomed there already, with an animation.
    if (tree.root !== shown || !chart.shows(focus)) drawGraph();
    else if (look !== lookOf(now)) chart.draw(tree.root, focus, inverted(now));
    shown = tree.root;
    look = lookOf(now);
  }

  state.onChange(update);
  update();
  let width = container.clientWidth;  // as drawn
  new ResizeObserver(() => {
    if (shown && container.clientWidth !== width) drawGraph();
    width = container.clientWidth;
  }).observe(container);
}

try {
  start();
} catch (error) {
  byId('chart').replaceChildren(
      element('p', {className: 'empty'}, `This page's data can't be shown: ${error.message}`));
  throw error;
}
